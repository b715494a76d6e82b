"""`clew` and `clew -p`: the arguments of the agent, and which front end gets the session."""

import argparse
import os
import select
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TextIO

from clew.cli.command_names import COMMANDS, RESERVED
from clew.cli.own_process import hold_collection, say
from clew.cli.parser import OneLineParser
from clew.cli.run.agent_checks import check, is_headless, lacks_print
from clew.cli.run.agent_flags import add_all

FIRST_BYTE_S = 3.0
"""With a prompt given, how long a pipe may stay silent before it is taken for none."""
MAX_BYTES = 32 * 1024 * 1024
"""More than any model reads: whoever sends more sends it by mistake, or without end."""


class PipeProblem(ValueError):
    """What is on stdin cannot be a prompt; the words say why."""


def piped_text(stdin: TextIO | None, *, argument_given: bool, wait: bool) -> str:
    """Everything on stdin. Of a terminal nothing, and nothing of a pipe that stays silent while a prompt is there
    already, unless it is to be waited for. Raises PipeProblem."""
    descriptor = stdin.fileno() if stdin is not None else -1
    if descriptor < 0 or (os.isatty(descriptor) and not wait):
        return ""
    if argument_given and not wait and not speaks(descriptor):
        say(f"stdin was silent for {FIRST_BYTE_S:g} s: going on without it (--stdin waits for it)")
        return ""
    data = read_all(descriptor)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte {data[error.start]:#04x} at offset {error.start}"
        raise PipeProblem(f"stdin is not UTF-8 text ({where})") from None


def speaks(descriptor: int) -> bool:
    """Whether something comes, or the end, within the time for a first byte."""
    try:
        return bool(select.select([descriptor], [], [], FIRST_BYTE_S)[0])
    except OSError:
        return True  # what cannot be waited for is read, and tells its own story


def read_all(descriptor: int) -> bytes:
    """To the end, however slowly it comes."""
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise PipeProblem(f"stdin holds more than {MAX_BYTES >> 20} MB; give a file to read instead")
    except OSError:
        return b"".join(chunks)  # closed or unreadable: there is no more input
    return b"".join(chunks)


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
    add_all(parser)
    args = parser.parse_args(list(bound(parser.one_value_options(), argv)))
    if args.print_prompt is None and args.prompt in {*COMMANDS, *RESERVED} and "--" not in argv:
        parser.error(f"put the command first: clew {args.prompt} ... (as a prompt: clew -p {args.prompt})")
    check(parser, args)
    return args


def bound(options: dict[str, bool], argv: list[str]) -> Iterator[str]:
    """The same arguments, with values that begin with a dash tied to their option: a system prompt may be `-1 means
    failure`. What is an option itself stays one. `options`: every option, and whether it takes exactly one value."""
    words = iter(argv)
    for word in words:
        if word == "--":
            yield word
            yield from words
        elif word.startswith("--debug="):
            yield "--debug"  # what it is about is not chosen here
        elif options.get(word) and (value := next(words, None)) is not None:
            ours = value.partition("=")[0] in options or not value.startswith("-")
            yield from (word, value) if ours else (f"{word}={value}",)
        else:
            yield word


def run(args: argparse.Namespace) -> int:
    """Start the session with the front end that fits."""
    if args.version:
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return 0
    hold_collection()
    if not is_headless(args):
        return run_conversation(args)
    ended_in_order()
    try:
        if args.input_format == "stream-json":
            with signals_held():
                from clew.cli.run.stream_mode import run_stream

            return run_stream(args)
        return run_once(args)
    except KeyboardInterrupt:  # before there was a run that could tell it
        from clew.headless.run import print_unstarted

        print_unstarted(args.output_format, "interrupted", out=sys.stdout)
        raise


def ended_in_order() -> None:
    """Until a run listens itself, SIGTERM and a terminal that closes end it as Ctrl-C does: programs get a result."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup it is meant to go on
            signal.signal(number, signal.default_int_handler)


@contextmanager
def signals_held() -> Generator[None]:
    """Modules are loaded whole: half of one would keep the result from being told. A signal counts after it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_conversation(args: argparse.Namespace) -> int:
    """Turn by turn, until whoever talks has nothing more to say."""
    from clew.cli.run.interactive import run_interactive

    return run_interactive(args)


def run_once(args: argparse.Namespace) -> int:
    """One prompt: the argument and what comes through a pipe, in that order."""
    argument = args.print_prompt or args.prompt or ""
    try:
        piped = piped_text(sys.stdin, argument_given=bool(argument.strip()), wait=args.stdin)
    except PipeProblem as problem:
        return unusable(args, str(problem))
    prompt = "\n\n".join(text for text in (argument, piped) if text.strip())
    if not prompt and not args.continue_ and args.resume is None:
        if args.print_prompt is not None or args.stdin:
            return unusable(args, "the prompt is empty; give it after -p or through a pipe")
        return usage(lacks) if (lacks := lacks_print(args)) else run_conversation(args)
    with signals_held():
        from clew.cli.run.print_mode import run_print

    return run_print(args, prompt)


def unusable(args: argparse.Namespace, message: str) -> int:
    """What came on stdin is no prompt: one line, and for a program, which could not know, a result."""
    if args.output_format != "text":
        with signals_held():
            from clew.headless.run import print_unstarted

            print_unstarted(args.output_format, message, out=sys.stdout)
    return usage(message)


def usage(message: str) -> int:
    """One line, exit code 2."""
    sys.stderr.write(f"clew: {message}\n")
    return 2
