"""`clew show`: one session as readable text, ours or another agent's."""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator

from clew.catalog.exporting import as_json
from clew.catalog.opening import Opened, open_named
from clew.cli.sub.agent_homes import chosen_homes, named_session
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.system.environment import own_program
from clew.text.terminal_text import sanitize
from clew.transcript.errors import TranscriptError
from clew.transcript.mapping.render import plain

HELP = "a session as readable text"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew show SESSION|FILE`."""
    parser.add_argument("session", metavar="SESSION|FILE", help="an id, the start of one, a title, words, or a path")
    parser.add_argument(
        "--home", action="append", default=[], metavar="AGENT=DIR", help="where an agent keeps its files"
    )
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.add_argument("--no-pager", action="store_true", help="print straight to the terminal")


def run(args: argparse.Namespace) -> int:
    """Print a session; through a pager on a terminal."""
    try:
        opened = open_named(named_session(args.session, chosen_homes(args.home)))
    except (LookupRefused, TranscriptError, OSError) as error:
        sys.stderr.write(f"clew show: {sanitize(str(error))}\n")
        return 2 if isinstance(error, LookupMisused) else 1
    if opened.warning:
        sys.stderr.write(f"clew show: {sanitize(opened.warning, one_line=True)}\n")
    if args.json:
        sys.stdout.write(as_json(opened) + "\n")
        return 0
    pager = None if args.no_pager or not sys.stdout.isatty() else pager_command()
    if pager is None:
        for line in lines(opened):
            sys.stdout.write(line + "\n")
        return 0
    return _page(pager, lines(opened))


def lines(opened: Opened) -> Iterator[str]:
    """The session as sanitised text."""
    yield sanitize(f"{opened.title or '(no title)'}", one_line=True)
    yield sanitize(f"{opened.agent} {opened.session_id}  {opened.cwd}", one_line=True)
    for block in plain(opened.entries, opened.keyed):
        yield ""
        yield sanitize(block)


def pager_command() -> list[str] | None:
    """`$PAGER` split into words, never given to a shell; `less` when it is not set; None when there is none, and on a
    terminal that cannot move its cursor, where pagers only get in the way."""
    if os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        return None
    try:
        command = shlex.split(os.environ.get("PAGER", "") or "less -FRX")
    except ValueError:
        return None
    program = own_program(command[0], os.environ) if command else ""
    return [program, *command[1:]] if program else None


def _page(command: list[str], text: Iterable[str]) -> int:
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")
    except OSError as error:
        sys.stderr.write(f"clew show: {command[0]}: {error.strerror}; use --no-pager\n")
        return 1
    assert pager.stdin is not None
    try:
        for line in text:
            pager.stdin.write(line + "\n")
        pager.stdin.close()
    except BrokenPipeError:
        pass  # the reader has seen enough
    while True:
        try:
            pager.wait()
            return 0
        except KeyboardInterrupt:
            continue  # Ctrl-C belongs to the pager
