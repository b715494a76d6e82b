"""The options of the agent, in the groups that `--help` shows. Other spellings are those of programs that drive it."""

import argparse
from collections.abc import Sequence
from typing import Any

from clew.cli.parser import OneLineParser

MODES = ("default", "plan", "acceptEdits", "bypassPermissions")
LATER = {
    "--plugin-dir": "plugins come with a later version",
    "--task-budget": "the model is told of no budget here; the setting limits.maxTokens bounds the tokens of a session",
    "--session-mirror": "sessions are kept in $CLEW_HOME only and are not mirrored",
}
"""What programs may send and cannot be done here. Silence would be a promise."""


class UnsupportedOption(argparse.Action):
    """An option that is known and not there."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """One line with the reason."""
        parser.error(f"{self.option_strings[0]}: {LATER[self.option_strings[0]]}")


def add_all(parser: OneLineParser) -> None:
    """Every option."""
    add_output_arguments(parser)
    add_model_arguments(parser)
    add_permission_arguments(parser)
    add_session_arguments(parser)
    add_program_arguments(parser)
    for option in LATER:
        parser.add_argument(option, action=UnsupportedOption, nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--plain", action="store_true", help="line by line, for screen readers and dumb terminals")
    parser.add_argument("--verbose", "--debug", action="store_true", help="tell on stderr what happens")
    parser.add_argument("--debug-to-stderr", action="store_true", dest="verbose", help=argparse.SUPPRESS)
    parser.add_argument("--version", "-V", "-v", action="store_true", help="print the version")


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """What `-p` reads and prints."""
    group = parser.add_argument_group("with -p, or when stdin is a pipe")
    group.add_argument("--output-format", choices=["text", "json", "stream-json"], default="text")
    group.add_argument("--json-schema", metavar="FILE|JSON", help="answer with JSON of this shape")
    group.add_argument("--stdin", action="store_true", help="wait for a pipe on stdin, however long it is silent")
    group.add_argument("--include-partial-messages", action="store_true", help="with stream-json: words as they come")
    group.add_argument("--max-turns", type=positive, metavar="N", help="at most N model requests")
    group.add_argument("--max-budget-usd", type=money, metavar="X", help="stop when this much is spent")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which model, and what it is told."""
    group = parser.add_argument_group("model")
    group.add_argument("--model", metavar="PROVIDER/MODEL")
    group.add_argument("--fallback-model", metavar="M", help="used when the model is overloaded")
    group.add_argument("--fast-model", metavar="M|none", help="for recaps, labels and titles")
    group.add_argument("--effort", choices=["low", "medium", "high", "xhigh", "max"])
    group.add_argument("--thinking", choices=["adaptive", "enabled", "disabled"], help="before it answers")
    group.add_argument("--max-thinking-tokens", type=count, metavar="N", help="think with at most N; 0: not at all")
    group.add_argument(
        "--thinking-display", choices=["summarized", "omitted"], help="whether the provider tells what it thinks"
    )
    group.add_argument("--betas", action="append", default=[], metavar="NAMES", help="of Anthropic's API")
    group.add_argument("--system-prompt", metavar="TEXT", help="instead of clew's own; empty: none")
    group.add_argument("--system-prompt-file", metavar="FILE")
    group.add_argument("--append-system-prompt", metavar="TEXT")
    group.add_argument("--append-system-prompt-file", metavar="FILE")
    group.add_argument(
        "--agent", metavar="NAME", help="run the conversation as this kind of agent; main: as clew itself"
    )
    group.add_argument(
        "--coordinator", action="store_true", help="the conversation only delegates: workers do all work"
    )
    group.add_argument(
        "--teammate", metavar="TEAM/NAME", help="be this member of a team; its lead starts it so, in a pane"
    )
    group.add_argument("--agents", metavar="FILE|JSON", help="kinds of agents for this session only, by name")
    group.add_argument("--settings", metavar="FILE|JSON", help="one more layer of settings")
    group.add_argument(
        "--bare", action="store_true", help="no memory files, skills, hooks, servers or side queries in this session"
    )
    group.add_argument(
        "--setting-sources", metavar="LIST", help="whose files are read: user, project, local; empty: nobody's"
    )


def add_permission_arguments(parser: argparse.ArgumentParser) -> None:
    """What the agent may do."""
    group = parser.add_argument_group("permissions")
    group.add_argument("--permission-mode", metavar="MODE", help=", ".join(MODES))
    group.add_argument(
        "--dangerously-skip-permissions", action="store_true", help="as --permission-mode bypassPermissions"
    )
    group.add_argument("--allow-dangerously-skip-permissions", action="store_true", help=argparse.SUPPRESS)
    group.add_argument(
        "--tools", action="append", nargs="+", default=[], metavar="NAMES", help="the only tools there are; '': none"
    )
    group.add_argument(
        "--allowed-tools",
        "--allowedTools",
        action="append",
        nargs="+",
        default=[],
        metavar="RULES",
        help="allow by rules, e.g. 'Read, Bash(git diff *)'",
    )
    group.add_argument(
        "--disallowed-tools",
        "--disallowedTools",
        action="append",
        nargs="+",
        default=[],
        metavar="RULES",
        help="deny by rules",
    )
    group.add_argument(
        "--add-dir", action="append", nargs="+", default=[], metavar="DIR", help="more directories to work in"
    )
    group.add_argument("--trust", action="store_true", help="trust this directory from now on")


def add_session_arguments(parser: argparse.ArgumentParser) -> None:
    """Which conversation."""
    group = parser.add_argument_group("session")
    group.add_argument(
        "-c", "--continue", action="store_true", dest="continue_", help="go on with the newest session here"
    )
    group.add_argument("-r", "--resume", nargs="?", const="", metavar="ID|TITLE|TEXT|FILE", help="go on with a session")
    group.add_argument("--fork-session", action="store_true", help="with resume: go on in a copy")
    group.add_argument("--resume-session-at", metavar="UUID", help="with resume: cut after this entry")
    group.add_argument(
        "--resume-drops-turn", metavar="UUID", help="with --resume-session-at: only the turn of this prompt may go"
    )
    group.add_argument(
        "--worktree",
        nargs="?",
        const="",
        metavar="NAME",
        help="work in a git checkout of its own; none: in the project's again",
    )
    group.add_argument("--session-id", metavar="UUID", help="use this id for the new session")
    group.add_argument("--take-over", action="store_true", help="with resume: ask the process that has it to let go")
    group.add_argument("--wait", action="store_true", help="with resume: wait until no other process has it")
    group.add_argument("--no-session-persistence", action="store_true", help="write nothing to disk")


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """For programs that drive the agent (docs/stream-json.md, docs/sdk-compatibility.md)."""
    group = parser.add_argument_group("for programs that drive it")
    group.add_argument("--input-format", choices=["text", "stream-json"], default="text", help="what comes on stdin")
    group.add_argument("--replay-user-messages", action="store_true", help="say again what came on stdin")
    group.add_argument("--include-hook-events", action="store_true", help="with stream-json: hooks that ran")
    group.add_argument(
        "--permission-prompt-tool",
        metavar="stdio|TOOL",
        help="ask the program, or an MCP tool, what would ask a person",
    )
    group.add_argument(
        "--mcp-config", action="append", nargs="+", default=[], metavar="FILE|JSON", help="MCP servers for this session"
    )
    group.add_argument("--strict-mcp-config", action="store_true", help="no other MCP servers than those")
    group.add_argument(
        "--mcp-wait", type=seconds, metavar="S", help="the first request waits so long for MCP servers; 0: not at all"
    )
    group.add_argument("--mcp-debug", action="store_true", help=argparse.SUPPRESS)


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number


def count(text: str) -> int:
    """A whole number from 0."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def seconds(text: str) -> float:
    """A time of at most an hour."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 3600")
    return number


def money(text: str) -> float:
    """An amount above zero."""
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount above 0")
    return amount
