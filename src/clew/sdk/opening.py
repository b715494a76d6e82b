"""Options of a program as a session of the host. It brings the machine room with it, so it is loaded by the first
session."""

import os
from pathlib import Path
from typing import Any

import msgspec

from clew.assembly.opening import open_session
from clew.config.errors import SettingsError
from clew.config.load import ALL_SOURCES
from clew.host.model_choice import NoModel
from clew.host.request import SessionRequest
from clew.host.workspace import remember_trust
from clew.llm.errors import LLMError
from clew.llm.request import Thinking
from clew.protocol.client import Client
from clew.sdk.errors import NotOpened
from clew.sdk.options import Options
from clew.system.git.layout import find_project_root
from clew.system.home import clew_home
from clew.transcript.errors import TranscriptError


def open_client(options: Options) -> Client:
    """A client for the session that is asked for. Takes files and time, so it is called beside the loop. Raises
    NotOpened."""
    try:
        return open_session(request_of(options))
    except (SettingsError, NoModel, LLMError, TranscriptError, OSError) as error:
        raise NotOpened(str(error)) from error


def request_of(options: Options) -> SessionRequest:
    """The same in the words of the host."""
    env = {**os.environ, **options.env}
    cwd = Path(options.cwd).expanduser().resolve()
    if not cwd.is_dir():
        raise NotOpened(f"{cwd} is not a directory")
    if options.trust:
        remember_trust(clew_home(env), find_project_root(cwd))
    if options.resume and options.continue_newest:
        raise NotOpened("give resume or continue_newest, not both")
    if (options.fork or options.resume_at) and not (options.resume or options.continue_newest):
        raise NotOpened("fork and resume_at need resume or continue_newest")
    return SessionRequest(
        cwd=cwd,
        env=env,
        settings=settings_of(options),
        flags=flags_of(options),
        headless=True,
        entrypoint="sdk",
        labelled=options.labels,
        newest=options.continue_newest,
        resume=options.resume or None,
        resume_at=options.resume_at,
        fork=options.fork,
        session_id=options.session_id,
        persist=options.persist,
        system_prompt=options.system_prompt,
        append_system_prompt=options.append_system_prompt,
        agent=options.agent,
        agents=dict(options.agents),
        answered=options.can_use_tool is not None,
        sources=ALL_SOURCES if options.setting_sources is None else frozenset(options.setting_sources),
        tools=None if options.tools is None else tuple(options.tools),
        thinking=Thinking(
            mode="disabled" if options.max_thinking_tokens == 0 else options.thinking,
            budget_tokens=options.max_thinking_tokens or None,
        ),
        json_schema=options.json_schema,
    )


def settings_of(options: Options) -> str | None:
    """A file, or JSON."""
    if isinstance(options.settings, dict):
        return msgspec.json.encode(options.settings).decode()
    return None if options.settings is None else str(options.settings)


def flags_of(options: Options) -> dict[str, Any]:
    """Options that are settings, under their dotted keys."""
    return {
        "model": options.model or None,
        "fallbackModel": options.fallback_model or None,
        "effort": options.effort,
        "permissionMode": options.permission_mode,
        "limits.maxTurns": options.max_turns,
        "limits.maxBudgetUsd": options.max_budget_usd,
        "permissions.allow": list(options.allowed_tools) or None,
        "permissions.deny": list(options.disallowed_tools) or None,
        "permissions.additionalDirectories": [str(folder) for folder in options.add_dirs] or None,
    }
