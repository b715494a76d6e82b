"""`clew recap`: where did I leave off, in one session or in all."""

import argparse
import os
import re
import sys
import time
from pathlib import Path

import msgspec

from clew.catalog.recent import MAX_ROWS, recent
from clew.cli.sub.agent_homes import chosen_agents, chosen_homes, named_session
from clew.orient.board import rows
from clew.orient.report import RecapCache, Report, age_of, recap_object
from clew.orient.wording import wording
from clew.system.home import clew_home
from clew.text.figures import ago
from clew.text.terminal_text import sanitize
from clew.transcript.errors import TranscriptError

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
    except ValueError as error:
        print(f"clew recap: {error}", file=sys.stderr)
        return 2
    if args.session:
        return _named(args, homes)
    board = recent(clew_home(), since_s=since_s, agents=agents, homes=homes, limit=MAX_ROWS)
    shown = 0
    for report in rows(board.found, RecapCache(clew_home())):
        shown += 1
        _print(report, args, alone=False)
    if not args.json:
        _closing(shown, len(board.found), board.left_out, args.since)
    return 0


def _named(args: argparse.Namespace, homes: dict[str, Path]) -> int:
    code = 0
    for name in args.session:
        report = find_report(name, agent=None if args.agent == "all" else args.agent, homes=homes)
        if isinstance(report, str):
            print(f"clew recap: {report}", file=sys.stderr)
            code = 1
            continue
        _print(report, args, alone=len(args.session) == 1)
    return code


def find_report(name: str, *, agent: str | None, homes: dict[str, Path]) -> Report | str:
    """The session a person means by a path, an id or words; a sentence when there is none."""
    place = locate(name, agent=agent, homes=homes)
    if isinstance(place, str):
        return place
    path, found_agent, session_id = place
    try:
        report = RecapCache(clew_home()).report(path, agent=found_agent, session_id=session_id)
    except OSError as error:
        return f"cannot read {sanitize(name, one_line=True)}: {error.strerror or error}"
    if report.problem and not report.entries and report.agent == "unknown":
        why = sanitize(report.problem, one_line=True)
        return f"{sanitize(name, one_line=True)} is not a transcript we can read ({why})"
    return report


def locate(name: str, *, agent: str | None, homes: dict[str, Path]) -> tuple[Path, str | None, str] | str:
    """File, agent and session id of what a person named."""
    path = Path(name)
    if agent is not None and path.is_file():
        return path, agent, ""  # told whose it is, its content need not tell
    try:
        found = named_session(name, homes)
    except TranscriptError as error:
        return sanitize(str(error))
    if found.note:
        print(f"clew: {sanitize(found.note, one_line=True)}", file=sys.stderr)
    return found.path, found.agent, "" if found.is_ours else found.session_id


def _print(report: Report, args: argparse.Namespace, *, alone: bool) -> None:
    now_s = time.time()
    words = _model_words(report) if args.llm else ""
    if args.json:
        sys.stdout.write(msgspec.json.encode(recap_object(report, now_s=now_s, text=words)).decode() + "\n")
        sys.stdout.flush()
        return
    form = report.form
    if alone:
        if words:
            print(sanitize(words, one_line=True))
        for line in form.lines() or ["Nothing was asked in this session yet."]:
            print(sanitize(line, one_line=True))
        return
    age = age_of(report, now_s)
    where = sanitize(Path(report.project.replace("\\", "/")).name or report.project or "?", one_line=True)
    told = _paint(wording("en").word(form.state), _COLOURS.get(form.state.value, "0"))
    print(f"{_paint(where, '1')}  {report.agent}  {ago(age)}  {told}")
    print(f"  {sanitize(words or form.text, one_line=True).removeprefix(where + ': ')}", flush=True)


def _model_words(report: Report) -> str:
    import asyncio

    from clew.cli.sub.recap_words import model_words  # models and their network code are loaded for --llm only

    return asyncio.run(model_words(report))


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
