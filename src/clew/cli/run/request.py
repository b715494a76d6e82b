"""The command line as a request to the host, and nothing more."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew.cli.own_process import say_level
from clew.cli.run.agent_checks import split_rules
from clew.config.load import ALL_SOURCES
from clew.host.request import SessionRequest
from clew.host.workspace import remember_trust
from clew.llm.request import Thinking
from clew.system.git.layout import find_project_root
from clew.system.home import clew_home

if TYPE_CHECKING:
    from clew.catalog.found_session import FoundSession


def request_of(args: argparse.Namespace, *, headless: bool) -> SessionRequest:
    """What the flags ask for. `--trust` is a decision of the user and is kept here, before anything is read."""
    cwd = Path(os.getcwd())
    if args.trust:
        remember_trust(clew_home(os.environ), find_project_root(cwd))
    return SessionRequest(
        cwd=cwd,
        env=os.environ,
        settings=args.settings,
        flags=flags_of(args),
        headless=headless,
        entrypoint=("stream" if args.input_format == "stream-json" else "print") if headless else "terminal",
        labelled=args.output_format == "stream-json",
        newest=args.continue_,
        resume=args.resume,
        resume_at=args.resume_session_at or "",
        drops_turn=args.resume_drops_turn,
        fork=args.fork_session,
        session_id=args.session_id or "",
        worktree=args.worktree,
        persist=not args.no_session_persistence,
        take_over=args.take_over,
        wait=args.wait,
        system_prompt=args.system_prompt,
        append_system_prompt=args.append_system_prompt,
        agent="coordinator" if args.coordinator else args.agent or "",
        teammate=args.teammate or "",
        agents=args.agents or {},
        answered=args.permission_prompt_tool == "stdio",
        sources=ALL_SOURCES if args.setting_sources is None else frozenset(args.setting_sources),
        tools=tools_of(args.tools),
        mcp_config=tuple(args.mcp_config),
        strict_mcp=args.strict_mcp_config,
        bare=args.bare,
        mcp_wait_s=args.mcp_wait,
        permission_tool=args.permission_prompt_tool if args.permission_prompt_tool not in (None, "stdio") else "",
        json_schema=args.json_schema,
        thinking=Thinking(
            mode=args.thinking or "",
            budget_tokens=args.max_thinking_tokens or None,
            shown=args.thinking_display != "omitted",
        ),
        tell=say_level,
    )


def picked(request: SessionRequest) -> SessionRequest:
    """Where the person must choose: a list for `--resume` without a name, and among several that fit a name."""
    if request.resume is None:
        return request
    if request.resume.strip():
        return replace(request, choose=ask if sys.stdin.isatty() and sys.stderr.isatty() else None)
    from clew.cli.run.picker import OWN, pick_recent  # the board is loaded only where somebody chooses from it

    found = pick_recent()
    if found.agent == OWN:
        return replace(request, resume=found.session_id)
    return replace(request, resume=found.path, source_agent=found.agent, source_session=found.session_id)


def ask(query: str, candidates: Sequence["FoundSession"]) -> "FoundSession | None":
    """Several sessions fit a name."""
    from clew.cli.run.choose_session import choose_session

    return choose_session(query, candidates)


def flags_of(args: argparse.Namespace) -> dict[str, Any]:
    """The flags that are settings, under their dotted keys."""
    named = {
        "model": "model",
        "fallbackModel": "fallback_model",
        "fastModel": "fast_model",
        "effort": "effort",
        "permissionMode": "permission_mode",
        "limits.maxTurns": "max_turns",
        "limits.maxBudgetUsd": "max_budget_usd",
    }
    flags = {key: getattr(args, name, None) for key, name in named.items()}
    for key, name in (("permissions.allow", "allowed_tools"), ("permissions.deny", "disallowed_tools")):
        flags[key] = [rule for text in getattr(args, name, []) for rule in split_rules(text)] or None
    flags["permissions.additionalDirectories"] = getattr(args, "add_dir", []) or None
    flags["providers.anthropic.headers.anthropic-beta"] = ",".join(getattr(args, "betas", [])) or None
    return flags


def tools_of(given: list[str] | None) -> tuple[str, ...] | None:
    """The tools that `--tools` leaves; None: all of them, which is also what `default` says."""
    if given is None or given == ["default"]:
        return None
    return tuple(dict.fromkeys(name for text in given for name in split_rules(text)))
