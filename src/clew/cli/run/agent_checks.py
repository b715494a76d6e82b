"""What the arguments of the agent mean together: combinations that cannot mean anything are refused before any work."""

import argparse
import os
import sys
from collections.abc import Callable

from clew.cli.parser import OneLineParser
from clew.cli.run.agent_flags import MODES
from clew.text.lazy_pattern import LazyPattern

SESSION_ID = LazyPattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
BETA = LazyPattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
MCP_TOOL = LazyPattern(r"mcp__[A-Za-z0-9_-]+?__[A-Za-z0-9_-]+")
SOURCES = ("user", "project", "local")
OTHER_TOOLS = frozenset(
    {"Agent", "AskUserQuestion", "ExitPlanMode", "KillBash", "LS", "MultiEdit", "NotebookRead", "Skill", "SlashCommand"}
    | {"Task", "TodoRead", "WebSearch"}
)
"""Tools of other agents: rules may name them, whoever brings their rules along."""


def is_headless(args: argparse.Namespace) -> bool:
    """Whether this run has no conversation at a terminal: it was asked for so, or stdin is no terminal. A pipe is read
    line by line only where somebody says `--plain`."""
    asked = args.print_prompt is not None or args.stdin or args.input_format == "stream-json"
    return asked or not (args.plain or (sys.stdin is not None and sys.stdin.isatty()))


def check(parser: OneLineParser, args: argparse.Namespace) -> None:
    """Refuse what cannot be, and put what is left in the form that `cli/run/request.py` reads."""
    check_session(parser, args)
    check_lists(parser, args)
    check_words(parser, args)
    check_mode(parser, args)
    check_thinking(parser, args)
    check_given(parser, args)
    check_formats(parser, args)


def check_session(parser: OneLineParser, args: argparse.Namespace) -> None:
    """Which conversation."""
    resuming = args.continue_ or args.resume is not None
    if args.continue_ and args.resume is not None:
        parser.error("give --continue or --resume, not both")
    if args.fork_session and not resuming:
        parser.error("--fork-session needs --continue or --resume")
    if args.resume_session_at and args.resume is None:
        parser.error("--resume-session-at needs --resume")
    if args.resume_drops_turn is not None and not args.resume_session_at:
        parser.error("--resume-drops-turn needs --resume-session-at")
    if (args.take_over or args.wait) and (not resuming or args.fork_session):
        parser.error("--take-over and --wait go with --continue or --resume, without --fork-session")
    if args.session_id and resuming and not args.fork_session:
        parser.error("--session-id with --resume or --continue needs --fork-session")
    if args.session_id and not SESSION_ID.fullmatch(args.session_id):
        parser.error(f"--session-id {args.session_id!r}: letters, digits, - and _ only, at most 128")


def check_lists(parser: OneLineParser, args: argparse.Namespace) -> None:
    """Options that take several values: what follows them and is none of theirs is the prompt."""
    left: list[str] = []
    belongs: dict[str, Callable[[str], bool]] = {
        "tools": are_tools,
        "allowed_tools": are_tools,
        "disallowed_tools": are_tools,
        "add_dir": lambda value: os.path.isdir(os.path.expanduser(value)),
        "mcp_config": lambda value: value.lstrip().startswith("{") or os.path.isfile(value),
    }
    for name, is_one in belongs.items():
        taken: list[str] = []
        for first, *more in getattr(args, name):
            own = next((at for at, value in enumerate(more) if not is_one(value)), len(more))
            taken += [first, *more[:own]]
            left += more[own:]
        setattr(args, name, taken if taken or name != "tools" else None)
    prompts = [text for text in (args.print_prompt, args.prompt, *left) if text]
    if len(prompts) > 1:
        parser.error(f"two prompts given: {prompts[0]!r} and {prompts[1]!r}")
    args.prompt = prompts[0] if prompts else args.prompt
    for directory in args.add_dir:
        if not os.path.isdir(os.path.expanduser(directory)):
            problem = "not a directory" if os.path.exists(os.path.expanduser(directory)) else "no such directory"
            parser.error(f"--add-dir {directory}: {problem}")


def are_tools(value: str) -> bool:
    """Whether a value after `--tools Read` names more tools, and is no prompt."""
    from clew.tools.registry import builtin_names  # only where an option is followed by several words

    names = [rule.partition("(")[0] for rule in split_rules(value)]
    known = OTHER_TOOLS.union(builtin_names())
    return bool(names) and all(name in known or name.startswith("mcp__") for name in names)


def split_rules(text: str) -> list[str]:
    """`Read, Bash(echo a, b) Edit` is three rules: commas and blanks inside parentheses belong to the rule."""
    rules = [""]
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if (letter == "," or letter.isspace()) and depth <= 0:
            rules.append("")
        else:
            rules[-1] += letter
    return [rule for rule in rules if rule]


def check_words(parser: OneLineParser, args: argparse.Namespace) -> None:
    """Texts must be UTF-8, whatever the locale says; some may come from files."""
    for name in ("prompt", "print_prompt", "system_prompt", "append_system_prompt"):
        text: str | None = getattr(args, name)
        try:
            setattr(args, name, text and os.fsencode(text).decode("utf-8"))
        except UnicodeError:
            parser.error(f"the {name.replace('_', ' ')} is not UTF-8 text")
    for name in ("system_prompt", "append_system_prompt"):
        path: str | None = getattr(args, f"{name}_file")
        option = "--" + name.replace("_", "-")
        if path is None:
            continue
        if getattr(args, name) is not None:
            parser.error(f"give {option} or {option}-file, not both")
        from clew.cli.run.given_files import GivenError, given_text  # most values are given as they are

        try:
            setattr(args, name, given_text(path))
        except GivenError as error:
            parser.error(f"{option}-file {path}: {error}")


def check_mode(parser: OneLineParser, args: argparse.Namespace) -> None:
    """The permission mode, in our words for it."""
    if args.dangerously_skip_permissions:
        if args.permission_mode not in (None, "bypassPermissions"):
            parser.error(f"--dangerously-skip-permissions and --permission-mode {args.permission_mode} disagree")
        args.permission_mode = "bypassPermissions"
    if args.permission_mode == "dontAsk":  # nobody is asked: what would ask is denied, as without anybody there
        if not is_headless(args):
            parser.error("--permission-mode dontAsk goes with -p; a person at a terminal is asked")
        args.permission_mode, args.permission_prompt_tool = "default", None
    if args.permission_mode is not None and args.permission_mode not in MODES:
        parser.error(f"--permission-mode {args.permission_mode}: there are {', '.join(MODES)}, and with -p dontAsk")


def check_thinking(parser: OneLineParser, args: argparse.Namespace) -> None:
    """A mode and a number must not contradict each other."""
    tokens: int | None = args.max_thinking_tokens
    if tokens == 0 and args.thinking in ("adaptive", "enabled"):
        parser.error(f"--max-thinking-tokens 0 and --thinking {args.thinking} disagree")
    if tokens and args.thinking == "disabled":
        parser.error(f"--max-thinking-tokens {tokens} and --thinking disabled disagree")
    if tokens is not None and args.thinking is None:
        args.thinking = "enabled" if tokens else "disabled"
    args.betas = [name.strip() for text in args.betas for name in text.split(",") if name.strip()]
    for name in args.betas:
        if not BETA.fullmatch(name):
            parser.error(f"--betas {name!r}: letters, digits, dots, - and _ only")


def check_given(parser: OneLineParser, args: argparse.Namespace) -> None:
    """Lists of sources, and JSON that is given inline or in files."""
    if args.agent is not None and not args.agent.strip():
        parser.error("--agent needs a name; `clew agents list` shows them")
    if args.coordinator and args.agent not in (None, "coordinator"):
        parser.error(f"--coordinator: a conversation that runs as the agent {args.agent} cannot coordinate; give one")
    if args.setting_sources is not None:
        args.setting_sources = [name.strip() for name in args.setting_sources.split(",") if name.strip()]
        if unknown := [name for name in args.setting_sources if name not in SOURCES]:
            parser.error(f"--setting-sources {unknown[0]}: there are {', '.join(SOURCES)}")
    if not args.mcp_config and args.agents is None and args.json_schema is None:
        return
    from clew.cli.run.given_files import GivenError, given_object, in_process_servers

    try:
        inside = [name for text in args.mcp_config for name in in_process_servers(text)]
        if inside and args.input_format != "stream-json":
            parser.error(
                f"--mcp-config {', '.join(inside)}: no program here holds it; that needs --input-format stream-json"
            )
        if args.json_schema is not None:
            args.json_schema = given_object(args.json_schema, "--json-schema ")
        if args.agents is not None:
            args.agents = given_object(args.agents, "--agents ")
    except GivenError as error:
        parser.error(str(error))


def check_formats(parser: OneLineParser, args: argparse.Namespace) -> None:
    """What comes in and goes out."""
    streams_in, streams_out = args.input_format == "stream-json", args.output_format == "stream-json"
    if streams_in and not streams_out:
        parser.error("--input-format stream-json needs --output-format stream-json")
    if streams_in and (args.prompt or args.print_prompt):
        parser.error("with --input-format stream-json the prompt comes on stdin, not as an argument")
    for name in ("include_partial_messages", "include_hook_events"):
        if getattr(args, name) and not streams_out:
            parser.error(f"--{name.replace('_', '-')} needs --output-format stream-json")
    if args.replay_user_messages and not streams_in:
        parser.error("--replay-user-messages needs --input-format stream-json")
    tool = args.permission_prompt_tool
    if tool not in (None, "stdio") and not MCP_TOOL.fullmatch(tool):
        parser.error(f"--permission-prompt-tool {tool}: it is stdio, or mcp__SERVER__TOOL")
    if tool not in (None, "stdio") and not is_headless(args):
        parser.error("--permission-prompt-tool with an MCP tool goes with -p or --input-format stream-json")
    if tool == "stdio" and not streams_in:
        parser.error("--permission-prompt-tool stdio needs --input-format stream-json")
    if not is_headless(args) and (lacks := lacks_print(args)):
        parser.error(lacks)


def lacks_print(args: argparse.Namespace) -> str:
    """What means nothing in a conversation; empty: nothing such is there."""
    for name in ("output_format", "json_schema"):
        if getattr(args, name) not in (None, "text"):
            return f"--{name.replace('_', '-')} needs -p"
    if args.max_turns is not None:
        return "--max-turns needs -p; a conversation is bounded by --max-budget-usd or the setting limits.maxSteps"
    return ""
