"""Where `clew` lands without a model: where you were, the ways to a model, what works without one, the tour."""

import asyncio
import os
import shlex
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from clew import __version__
from clew.cli.command_names import sub_command
from clew.cli.sub.agent_homes import chosen_agents, chosen_homes
from clew.cli.sub.place import ask, this_place_if_any
from clew.cli.sub.recap import age_of
from clew.host.workspace import Workspace
from clew.llm.models.connect import ProviderStatus, configured_providers
from clew.llm.probe.local_servers import LocalServer, local_servers
from clew.plain.line.wrap import wrap
from clew.protocol.lookups.catalog import ListRecent, RecapSession, SessionRecap
from clew.text.figures import ago
from clew.text.terminal_text import clip, sanitize

SHOWN = 3
LOOK_BACK_S = 30 * 86_400.0
LOOKED_AT = 20
MAX_COLUMNS = 100
FIRST_KEYS = 3
"""Providers whose key is shown on a line of its own; the others share one."""
WITHOUT = (
    ("clew tour", "two minutes through clew, no model needed"),
    ("clew recap", "where you were, also in other agents"),
    ("clew sessions", "list and search them; clew show reads one"),
    ("clew doctor", "what works here, and what is enforced"),
    ("clew --help", "everything else"),
)
NOT_FOUND = "Your shell does not find clew. Install it (README.md), or type in its place:"


def welcome(workspace: Workspace, why: str) -> int:
    """The page; on a terminal it ends with an offer. `why`: what a chosen model lacks; empty: none is chosen."""
    sys.stdout.write(f"clew {__version__}: no model is connected yet.\n\n")
    for line in where_you_were():
        sys.stdout.write(line + "\n")
        sys.stdout.flush()  # reading sessions may take a moment; the first is seen meanwhile
    servers = asyncio.run(local_servers(workspace.env, workspace.settings.providers))
    statuses = configured_providers(workspace.env, workspace.settings.providers)
    for line in (*ways_to_a_model(statuses, servers, why), "", *without_a_model()):
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or not wants_tour():
        return 0
    return sub_command("tour").run(Namespace(plain=False, headless=False, keep=False))


def where_you_were() -> Iterator[str]:
    """The newest sessions, briefly."""
    now_s, place = time.time(), this_place_if_any()
    wanted = ListRecent(
        since_s=now_s - LOOK_BACK_S, agents=chosen_agents("all"), homes=chosen_homes([]), limit=LOOKED_AT
    )
    found = ask(place, wanted).sessions
    recaps = (ask(place, RecapSession(session=session, listed=True)).recap for session in found)
    told = False
    yield strong("Where you were, in clew and other agents")
    for recap in islice(filter(None, recaps), SHOWN):
        told = True
        yield from brief(recap, now_s)
    yield "  All of it: clew recap" if told else "  No session was touched in the last 30 days."
    yield ""


def brief(recap: SessionRecap, now_s: float) -> Iterator[str]:
    """Two rows of a session."""
    where = sanitize(Path(recap.project.replace("\\", "/")).name or recap.project or "?", one_line=True)
    yield f"  {clip(where, 40)}  {recap.agent}  {ago(age_of(recap, now_s))}"
    words = sanitize(recap.text, one_line=True).removeprefix(where + ": ")
    yield f"    {clip(words, columns() - 5)}"


def ways_to_a_model(statuses: Sequence[ProviderStatus], servers: Sequence[LocalServer], why: str) -> Iterator[str]:
    """Servers that answer here first, then keys that are set, then those that could be, then servers to start."""
    yield strong("To talk to a model")
    if why:
        yield from (f"  {row}" for row in wrap(f"{why}.", columns() - 2).split("\n"))
    running = {server.provider: server for server in servers}
    for status in statuses:
        if (server := running.get(status.name)) is not None:
            name = sanitize(server.models[0], one_line=True) if server.models else "NAME"
            others = ", ".join(sanitize(model, one_line=True) for model in server.models[1:4])
            yield f"  {status.label} answers on {server.base_url}:"
            yield f"    clew --model {status.name}/{name}" + (f"   or {others}" if others else "")
    keyed = [status for status in statuses if not status.local and status.variable]
    found = [status for status in keyed if status.ready]
    missing = [status for status in keyed if status.method == "missing"]
    for status in found:
        source = {
            "saved": f"A key of {status.label} is saved",
            "command": f"A command prints the key of {status.label}",
        }
        words = source.get(status.method, f"{status.variable} is set")
        yield f"  {words}:  clew --model {status.name}/{status.default_model or 'NAME'}"
    yield "  clew auth asks for what is needed and can keep a key."
    if missing:
        yield "  Set a key and start clew again:" if found else "  No key is set. Set one and start clew again:"
        for status in missing[:FIRST_KEYS]:
            yield f"    export {status.variable + '=...':<24} {status.label}"
        yield from listed("    or ", [status.variable for status in missing[FIRST_KEYS:]])
    silent = [status for status in statuses if status.local and status.name not in running]
    if silent:
        yield "  Or start a server on this machine:" if running else "  No server answers on this machine. Start one:"
        yield from listed("    clew --model ", [f"{status.name}/NAME" for status in silent])


def without_a_model() -> Iterator[str]:
    """What needs none."""
    yield strong("Works without a model")
    for command, what in WITHOUT:
        yield f"  {command:<14} {what}"
    if shutil.which("clew") is None:
        yield from (f"  {row}" for row in wrap(NOT_FOUND, columns() - 2).split("\n"))
        yield f"    {own_name()}"


def own_name() -> str:
    """What was started, as it could be typed from anywhere."""
    started = os.path.abspath(sys.argv[0])
    return shlex.quote(started) if os.path.basename(started) == "clew" else f"{shlex.quote(sys.executable)} -m clew"


def listed(lead: str, names: Sequence[str]) -> Iterator[str]:
    """Names one after the other, on as many rows as they need."""
    row = lead
    for number, name in enumerate(names):
        piece = name if number == len(names) - 1 else f"{name}, "
        if len(row) > len(lead) and len(row) + len(piece) > columns():
            yield row.rstrip()
            row = " " * len(lead)
        row += piece
    if names:
        yield row


def wants_tour() -> bool:
    """Enter takes it; everything else leaves."""
    try:
        answer = input("\nPress Enter for the tour (two minutes), q to leave: ").strip().lower()
    except (EOFError, KeyboardInterrupt):
        print()
        return False
    return answer in ("", "t", "tour", "y", "yes")


def columns() -> int:
    """How wide a row may be."""
    try:
        return min(os.get_terminal_size(sys.stdout.fileno()).columns, MAX_COLUMNS)
    except (OSError, ValueError):
        return MAX_COLUMNS


def strong(text: str) -> str:
    """A heading."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\x1b[1m{text}\x1b[0m" if coloured else text
