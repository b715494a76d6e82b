"""`clew recap`: where did I leave off, in one session or in all."""

import argparse
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from clew.cli.sub.agent_homes import OWN, chosen_agents, chosen_homes, named_session
from clew.cli.sub.place import ask, this_place_if_any
from clew.orient.wording import wording
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.protocol.lookups.catalog import ListRecent, NamedSession, RecapSession, SessionRecap, WriteRecap
from clew.text.figures import ago
from clew.text.terminal_text import sanitize

HELP = "where did I leave off: one session, or everything touched lately"
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "": 86400}
_COLOURS = {
    "idle": "32",
    "asking": "33",
    "waiting": "33",
    "working": "36",
    "interrupted": "35",
    "stopped": "35",
    "suspended": "31",
    "failed": "31",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "session", nargs="*", metavar="SESSION|FILE", help="a session of ours, or any agent's transcript"
    )
    parser.add_argument("--since", default="7d", metavar="AGE", help="how far back, such as 12h, 7d, 2w (default 7d)")
    parser.add_argument("--agent", default="all", metavar="NAME|all", help="only this agent's sessions")
    parser.add_argument(
        "--home", action="append", default=[], metavar="AGENT=DIR", help="where an agent keeps its sessions"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per session and line")
    parser.add_argument("--llm", action="store_true", help="let a model write it, checked against the session")


def run(args: argparse.Namespace) -> int:
    """Print the recaps asked for."""
    try:
        since_s = time.time() - age_s(args.since)
        homes = chosen_homes(args.home)
        agents = chosen_agents(args.agent)
    except (ValueError, LookupMisused) as error:
        print(f"clew recap: {error}", file=sys.stderr)
        return 2
    if args.session:
        return _named(args, homes)
    place = this_place_if_any()
    board = ask(place, ListRecent(since_s=since_s, agents=agents, homes=homes))
    shown = 0
    for session in board.sessions:
        if (recap := ask(place, RecapSession(session=session, listed=True)).recap) is not None:
            shown += 1
            _print(session, recap, args, alone=False)
    if not args.json:
        _closing(shown, len(board.sessions), board.left_out, args.since)
    return 0


def _named(args: argparse.Namespace, homes: dict[str, str]) -> int:
    code = 0
    for name in args.session:
        try:
            session = locate(name, agent=None if args.agent == "all" else args.agent, homes=homes)
            recap = recap_of(name, session)
        except LookupRefused as error:
            print(f"clew recap: {sanitize(str(error))}", file=sys.stderr)
            code = 1
            continue
        _print(session, recap, args, alone=len(args.session) == 1)
    return code


def recap_of(name: str, session: NamedSession) -> SessionRecap:
    """Where a session stands that a person named. Raises LookupRefused."""
    try:
        recap = ask(this_place_if_any(), RecapSession(session=session)).recap
    except OSError as error:
        raise LookupRefused(f"cannot read {sanitize(name, one_line=True)}: {error.strerror or error}") from error
    assert recap is not None, "one that was named is always told"
    if recap.problem and not recap.entries and recap.agent == "unknown":
        why = sanitize(recap.problem, one_line=True)
        raise LookupRefused(f"{sanitize(name, one_line=True)} is not a transcript we can read ({why})")
    return recap


def locate(name: str, *, agent: str | None, homes: dict[str, str]) -> NamedSession:
    """The session a person means by a path, an id or words. Raises LookupRefused."""
    if agent is not None and Path(name).is_file():
        return NamedSession(agent=agent, path=name, session_id="")  # told whose it is, its content need not tell
    found = named_session(name, homes)
    if found.note:
        print(f"clew: {sanitize(found.note, one_line=True)}", file=sys.stderr)
    return found


def inner_id(session: NamedSession) -> str:
    """Which one of a file is meant; a file of ours holds one."""
    return "" if session.agent == OWN else session.session_id


def recap_object(recap: SessionRecap, *, now_s: float, text: str = "") -> dict[str, Any]:
    """The keys of `clew recap --json`, in their documented order."""
    return {
        "file": recap.file,
        "agent": recap.agent,
        "session": recap.session,
        "project": recap.project,
        "state": recap.state.value,
        "goal": recap.goal,
        "next_step": recap.next_step,
        "last_request": recap.last_request,
        "language": recap.language,
        "text": text or recap.text,
        "facts": msgspec.to_builtins(recap.facts),
        "age_s": round(age_of(recap, now_s)),
        "title": recap.title,
    }


def age_of(recap: SessionRecap, now_s: float) -> float:
    """Seconds since the last entry."""
    return max(0.0, now_s - recap.updated_s) if recap.updated_s else 0.0


def _print(session: NamedSession, recap: SessionRecap, args: argparse.Namespace, *, alone: bool) -> None:
    now_s = time.time()
    words = _model_words(session, listed=not args.session) if args.llm else ""
    if args.json:
        sys.stdout.write(msgspec.json.encode(recap_object(recap, now_s=now_s, text=words)).decode() + "\n")
        sys.stdout.flush()
        return
    if alone:
        if words:
            print(sanitize(words, one_line=True))
        for line in recap.lines or ["Nothing was asked in this session yet."]:
            print(sanitize(line, one_line=True))
        return
    age = age_of(recap, now_s)
    where = sanitize(Path(recap.project.replace("\\", "/")).name or recap.project or "?", one_line=True)
    told = _paint(wording("en").word(recap.state), _COLOURS.get(recap.state.value, "0"))
    print(f"{_paint(where, '1')}  {recap.agent}  {ago(age)}  {told}")
    print(f"  {sanitize(words or recap.text, one_line=True).removeprefix(where + ': ')}", flush=True)


def _model_words(session: NamedSession, *, listed: bool) -> str:
    written = ask(this_place_if_any(), WriteRecap(session=session, listed=listed))
    for note in written.notes:
        print(f"clew recap: {sanitize(note, one_line=True)}", file=sys.stderr)
    return written.text


def _closing(shown: int, found: int, left_out: int, since: str) -> None:
    if not shown and found:
        print(f"Nothing was asked for in the sessions of the last {since}; `clew sessions` lists them.")
    elif not shown:
        print(f"No session was touched in the last {since}. Try --since 30d.")
    elif left_out:
        count = "1 older session" if left_out == 1 else f"{left_out} older sessions"
        print(f"{count} of this span left out; narrow with --since or --agent.")


def _paint(text: str, code: str) -> str:
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\x1b[{code}m{text}\x1b[0m" if coloured else text


def age_s(text: str) -> float:
    """`7d`, `12h`, `90m` in seconds; a bare number is days."""
    found = _AGE.fullmatch(text.strip().lower())
    if not found:
        raise ValueError(f"--since {text!r} is not an age; use a form like 12h, 7d or 2w")
    return float(found.group(1)) * _UNIT_S[found.group(2)]
