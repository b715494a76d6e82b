"""Which command is meant, and the last line of defence around it."""

import argparse
import os
import sys
from importlib import import_module
from typing import Protocol, cast

from clew.cli.parser import OneLineParser

COMMANDS = {
    "recap": "where did I leave off: one session, or all",
    "sessions": "list and search sessions, clew's and other agents'",
    "show": "a session as readable text",
    "export": "a session in another format",
    "ledger": "the facts of a session, with their sources",
    "config": "read and change settings",
    "permissions": "what would be allowed, asked or denied, and why",
    "doctor": "what works here and what is enforced",
}


class Command(Protocol):
    """The module of a subcommand."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments."""
        ...

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit code."""
        ...


def run(argv: list[str]) -> int:
    """Run a command line and return its exit code. A closed pipe ends quietly, Ctrl-C with 130."""
    try:
        return dispatch(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def dispatch(argv: list[str]) -> int:
    """A subcommand by its name, else the agent itself. Modules are loaded for the chosen way only."""
    if argv and argv[0] in COMMANDS:
        command = cast(Command, import_module(f"clew.cli.{argv[0]}"))
        parser = OneLineParser(f"clew {argv[0]}", description=command.HELP)
        command.add_arguments(parser)
        return command.run(parser.parse_args(argv[1:]))
    from clew.cli import agent

    return agent.run(agent.parse(argv))
