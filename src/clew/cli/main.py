"""Which command is meant, and the last line of defence around it.

stdin, stdout and stderr as every command may rely on them: there, UTF-8, and quiet when nobody reads.
"""

import os
import sys
from io import TextIOWrapper
from typing import TextIO, cast

from clew.cli.command_names import COMMANDS, NOT_BUILT, sub_command
from clew.cli.parser import OneLineParser


def prepare() -> None:
    """Closed streams lead nowhere instead of into the next file that is opened; what leaves is always UTF-8."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        reopen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors="replace")


def reopen() -> None:
    """Put the null device where the process was started without a stream."""
    while True:
        number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free
        if number > 2:
            os.close(number)
            break
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


class EscapedOutput:
    """JSON on a terminal: characters that steer it or cannot be seen are written as JSON has them, by number."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Every raw control in JSON stands inside a string."""
        unseen = (letter for letter in set(text) if not letter.isprintable() and letter not in "\n\r\t")
        for letter in unseen:
            text = text.replace(letter, json_escape(letter))
        return self._stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def json_escape(letter: str) -> str:
    """A character by number; beyond the first plane by two."""
    data = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def drop(stream: TextIO) -> None:
    """What is still buffered can go nowhere; without this Python complains about it on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def run(argv: list[str]) -> int:
    """Run a command line and return its exit code. A closed pipe ends quietly, Ctrl-C with 130."""
    prepare()
    if sys.stdout.isatty() and ("--json" in argv or "--output-format" in argv):
        sys.stdout = cast(TextIO, EscapedOutput(sys.stdout))
    if not os.path.isabs(os.environ.get("HOME", "/")):
        del os.environ["HOME"]  # it would be a directory of whatever project this is; the system knows the user's
    try:
        try:
            return dispatch(argv)
        finally:
            sys.stdout.flush()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        drop(sys.stdout)
        return 0
    except OSError as error:
        drop(sys.stdout)
        return system_error(error)
    except (
        Exception
    ) as error:  # the last boundary: a bug of ours is one line too, and its place is shown when asked for
        if "--verbose" in argv:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        sys.stderr.write(f"clew: internal error: {ascii(what)[1:-1]}; run it again with --verbose to see where\n")
        return 1


def system_error(error: OSError) -> int:
    """One line about what the system refused."""
    try:
        os.getcwd()
    except FileNotFoundError:
        sys.stderr.write("clew: the current directory does not exist any more; go to another one\n")
        return 2
    where = f"{ascii(str(error.filename))[1:-1]}: " if error.filename else ""
    sys.stderr.write(f"clew: {where}{error.strerror or ascii(str(error))}\n")
    return 1


def dispatch(argv: list[str]) -> int:
    """A subcommand by its name, else the agent itself. Modules are loaded for the chosen way only."""
    if argv == ["version"] or (argv[:1] == ["help"] and set(argv[1:]) <= set(COMMANDS)):
        argv = [*argv[1:2], f"--{argv[0]}"]  # what people try first; as prompts they would cost money
    if argv and argv[0] in (*COMMANDS, *NOT_BUILT) and (refusal := refused(argv)):
        sys.stderr.write(f"clew: {refusal}\n")
        return 1
    if refusal := reserved(argv):
        sys.stderr.write(f"clew: {refusal}\n")
        return 2
    if argv and argv[0] in COMMANDS:
        command = sub_command(argv[0])
        parser = OneLineParser(f"clew {argv[0]}", description=command.HELP)
        command.add_arguments(parser)
        return command.run(parser.parse_args(argv[1:]))
    if argv and (meant := misspelt(argv[0])):
        sys.stderr.write(
            f"clew: there is no command {argv[0]!r}; did you mean clew {meant}? (as a prompt: clew -- ...)\n"
        )
        return 2
    from clew.cli.run import agent

    return agent.run(agent.parse(argv))


def refused(argv: list[str]) -> str:
    """Why a command that changes clew's own state may not run here, or an empty string."""
    from clew.cli.own_state_commands import refused_below  # only for a word that may be a sub-command

    return refused_below(argv)


def reserved(argv: list[str]) -> str:
    """What to say of a sub-command that is reserved and not there, also where somebody asks for its help."""
    word = argv[1] if argv[:1] == ["help"] and len(argv) == 2 else (argv or [""])[0]
    if not word.isalpha():
        return ""
    from clew.cli.command_names import RESERVED  # only for a lone word

    return RESERVED.get(word.lower(), "")


def misspelt(word: str) -> str:
    """The command a single first word nearly is: sent as a prompt it would cost money and help nobody."""
    if not word.isalpha():
        return ""
    from difflib import get_close_matches  # only for a lone word that is no command

    swapped = next((name for name in COMMANDS if sorted(name) == sorted(word.lower())), "")
    return swapped or next(iter(get_close_matches(word.lower(), COMMANDS, n=1, cutoff=0.8)), "")
