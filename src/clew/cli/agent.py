"""`clew` and `clew -p`: the arguments of the agent, and which front end gets the session."""

import argparse
import gc
import os
import re
import select
import sys

from clew.cli.main import COMMANDS
from clew.cli.parser import OneLineParser

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
STDIN_WAIT_S = 3.0
"""With a prompt given, how long a pipe may stay silent before it is taken for none."""


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line of the agent."""
    epilog = "commands:\n" + "\n".join(f"  clew {name:<12} {text}" for name, text in COMMANDS.items())
    parser = OneLineParser("clew", description="A coding agent that never loses the thread.", epilog=epilog)
    parser.usage = "clew [options] [PROMPT]\n       clew -p PROMPT [options]\n       clew COMMAND [arguments]"
    parser.add_argument("prompt", nargs="?", help="what to do first")
    parser.add_argument(
        "-p",
        "--print",
        nargs="?",
        const="",
        metavar="PROMPT",
        dest="print_prompt",
        help="answer once and exit; reads a pipe too",
    )
    add_output_arguments(parser)
    add_model_arguments(parser)
    add_permission_arguments(parser)
    add_session_arguments(parser)
    parser.add_argument("--plain", action="store_true", help="line by line, for screen readers and dumb terminals")
    parser.add_argument("--verbose", action="store_true", help="tell on stderr what happens")
    parser.add_argument("--version", "-V", action="store_true", help="print the version")
    args = parser.parse_args(argv)
    check(parser, args)
    return args


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """What `-p` prints."""
    group = parser.add_argument_group("with -p")
    group.add_argument("--output-format", choices=["text", "json", "stream-json"], default="text")
    group.add_argument("--include-partial-messages", action="store_true", help="with stream-json: words as they come")
    group.add_argument("--input-format", choices=["text", "stream-json"], default="text", help="what comes on stdin")
    group.add_argument("--replay-user-messages", action="store_true", help="say again what came on stdin")
    group.add_argument("--permission-prompt-tool", metavar="stdio", help="ask the program what would ask a person")
    group.add_argument("--max-turns", type=positive, metavar="N", help="at most N model requests")
    group.add_argument("--max-budget-usd", type=money, metavar="X", help="stop when this much is spent")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which model, and what it is told."""
    group = parser.add_argument_group("model")
    group.add_argument("--model", metavar="PROVIDER/MODEL")
    group.add_argument("--fallback-model", metavar="M", help="used when the model is overloaded")
    group.add_argument("--fast-model", metavar="M|none", help="for recaps, labels and titles")
    group.add_argument("--effort", choices=["low", "medium", "high", "xhigh", "max"])
    group.add_argument("--system-prompt", metavar="TEXT", help="instead of clew's own")
    group.add_argument("--append-system-prompt", metavar="TEXT")
    group.add_argument("--settings", metavar="FILE|JSON", help="one more layer of settings")


def add_permission_arguments(parser: argparse.ArgumentParser) -> None:
    """What the agent may do."""
    group = parser.add_argument_group("permissions")
    modes = ["default", "plan", "acceptEdits", "bypassPermissions"]
    group.add_argument("--permission-mode", choices=modes)
    group.add_argument(
        "--allowed-tools",
        "--allowedTools",
        action="append",
        default=[],
        metavar="RULES",
        help="allow by rules, e.g. 'Read, Bash(git diff *)'",
    )
    group.add_argument(
        "--disallowed-tools", "--disallowedTools", action="append", default=[], metavar="RULES", help="deny by rules"
    )
    group.add_argument("--setting-sources")
    group.add_argument("--add-dir", action="append", default=[], metavar="DIR", help="one more directory to work in")
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
    group.add_argument("--session-id", metavar="UUID", help="use this id for the new session")
    group.add_argument("--take-over", action="store_true", help="with resume: ask the process that has it to let go")
    group.add_argument("--wait", action="store_true", help="with resume: wait until no other process has it")
    group.add_argument("--no-session-persistence", action="store_true", help="write nothing to disk")


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
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


def check(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse combinations that cannot mean anything, before any work."""
    resuming = args.continue_ or args.resume is not None
    if args.continue_ and args.resume is not None:
        parser.error("give --continue or --resume, not both")
    if args.fork_session and not resuming:
        parser.error("--fork-session needs --continue or --resume")
    if args.resume_session_at and args.resume is None:
        parser.error("--resume-session-at needs --resume")
    if (args.take_over or args.wait) and (not resuming or args.fork_session):
        parser.error("--take-over and --wait go with --continue or --resume, without --fork-session")
    if args.session_id and resuming and not args.fork_session:
        parser.error("--session-id with --resume or --continue needs --fork-session")
    if args.session_id and not SESSION_ID.fullmatch(args.session_id):
        parser.error(f"--session-id {args.session_id!r}: letters, digits, - and _ only, at most 128")
    if args.include_partial_messages and args.output_format != "stream-json":
        parser.error("--include-partial-messages needs --output-format stream-json")
    if args.print_prompt and args.prompt:
        parser.error(f"two prompts given: {args.print_prompt!r} and {args.prompt!r}")
    if args.input_format == "stream-json":
        check_words(parser, args)
        return
    if args.print_prompt is None and args.output_format != "text":
        parser.error("--output-format needs -p")
    if args.print_prompt is None and args.max_turns is not None:
        parser.error(
            "--max-turns needs -p; a conversation is bounded by --max-budget-usd or the setting limits.maxSteps"
        )
    check_words(parser, args)


def check_words(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Texts must be UTF-8, whatever the locale says, and directories must be there."""
    for name in ("prompt", "print_prompt", "system_prompt", "append_system_prompt"):
        text: str | None = getattr(args, name)
        try:
            setattr(args, name, text and os.fsencode(text).decode("utf-8"))
        except UnicodeError:
            parser.error(f"the {name.replace('_', ' ')} is not UTF-8 text")
    for directory in args.add_dir:
        if not os.path.isdir(os.path.expanduser(directory)):
            problem = "not a directory" if os.path.exists(os.path.expanduser(directory)) else "no such directory"
            parser.error(f"--add-dir {directory}: {problem}")


def run(args: argparse.Namespace) -> int:
    """Start the session with the front end that fits."""
    if args.version:
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return 0
    gc.disable()  # nothing made while starting is garbage; `settled` turns it on again
    if args.input_format == "stream-json":
        from clew.cli.stream_mode import run_stream

        return run_stream(args)
    if args.print_prompt is None:
        from clew.cli.interactive import run_interactive

        return run_interactive(args)
    try:
        prompt = full_prompt(args.print_prompt or args.prompt or "", sys.stdin.fileno() if sys.stdin else -1)
    except UnicodeDecodeError as error:
        return usage(f"stdin is not UTF-8 text (byte {error.object[error.start]:#04x} at offset {error.start})")
    if not prompt.strip() and not args.continue_ and args.resume is None:
        return usage("the prompt is empty; give it after -p or through a pipe")
    from clew.cli.print_mode import run_print

    return run_print(args, prompt)


def full_prompt(argument: str, stdin: int) -> str:
    """The argument and what comes through a pipe, in that order."""
    piped = read_pipe(stdin, wait_s=STDIN_WAIT_S if argument else None)
    return "\n\n".join(text for text in (argument, piped) if text.strip())


def read_pipe(stdin: int, *, wait_s: float | None) -> str:
    """All of a pipe or file on stdin; nothing of a terminal, or of a pipe that stays silent for `wait_s`."""
    if stdin < 0 or os.isatty(stdin):
        return ""
    chunks: list[bytes] = []
    try:
        if wait_s is not None and not select.select([stdin], [], [], wait_s)[0]:
            return ""
        while chunk := os.read(stdin, 1 << 16):
            chunks.append(chunk)
    except OSError:
        return ""  # closed or unreadable: there is no piped input
    return b"".join(chunks).decode("utf-8")


def settled() -> None:
    """Start-up is over: collect from now on, but never walk what was loaded by then."""
    gc.freeze()
    gc.enable()


def usage(message: str) -> int:
    """One line, exit code 2."""
    sys.stderr.write(f"clew: {message}\n")
    return 2
