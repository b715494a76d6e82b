"""`clew sessions`: the list of all sessions, search in them, and making room on request."""

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clew.cli.run.agent_flags import positive
from clew.cli.sub.agent_homes import OWN, chosen_agents, chosen_homes, own_session
from clew.cli.sub.place import ask, this_place_if_any
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.protocol.lookups.catalog import CatalogHit, CatalogRow, ListCatalog, MeasureSessions, MoveSession
from clew.text.figures import ago, money
from clew.text.terminal_text import clip, display_width, sanitize

HELP = "list and search sessions, clew's and other agents'"
ACTIONS = ("archive", "trash", "restore", "size")
ID_WIDTH = 8
"""Characters of an id that nearly always tell it from the others."""
_LIST_BUDGET_S = 4.0
_SEARCH_BUDGET_S = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew sessions [archive|trash|restore|size] [ID ...]`."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, help="compress, throw away, bring back, or measure")
    parser.add_argument("session", nargs="*", metavar="SESSION", help="with an action: ids, titles or paths")
    parser.add_argument("--agent", default="all", metavar="NAME", help="clew, claude_code, codex, … or all (default)")
    parser.add_argument("--search", metavar="TEXT", help="sessions that hold all these words")
    parser.add_argument("--deep", action="store_true", help="with --search: look through whole files if need be")
    parser.add_argument("--project", nargs="?", const=".", metavar="DIR", help="only this project (default: here)")
    parser.add_argument("--all", action="store_true", help="no limit on the number of rows")
    parser.add_argument("--limit", type=positive, default=30, metavar="N", help="at most N rows (default 30)")
    parser.add_argument(
        "--home", action="append", default=[], metavar="AGENT=DIR", help="where an agent keeps its files"
    )
    parser.add_argument("--json", action="store_true", help="machine-readable")


def run(args: argparse.Namespace) -> int:
    """List, search or act."""
    try:
        homes = chosen_homes(args.home)
        if args.action == "size":
            return _show_sizes(args)
        if args.action:
            return _act(args)
        return _list(args, homes)
    except LookupRefused as error:
        sys.stderr.write(f"clew sessions: {sanitize(str(error))}\n")
        return 2 if isinstance(error, LookupMisused) else 1


def _list(args: argparse.Namespace, homes: dict[str, str]) -> int:
    limit = -1 if args.all else args.limit
    wanted = ListCatalog(
        search=args.search,
        deep=args.deep,
        agents=chosen_agents(args.agent),
        homes=homes,
        project=args.project or "",
        limit=limit + 1 if limit > 0 and args.search is None else limit,
        budget_s=_LIST_BUDGET_S if args.search is None else _SEARCH_BUDGET_S,
    )
    found = ask(this_place_if_any(), wanted)
    if args.search is not None:
        _print_hits(found.hits, found.names, as_json=args.json)
    else:
        _print_rows(found.rows, found.names, limit=limit, as_json=args.json)
    if found.note:
        sys.stderr.write(f"clew sessions: {found.note}\n")
    if found.unread:
        sys.stderr.write(f"clew sessions: {found.unread} sessions are not read yet; run it again for the rest\n")
    return 0


def _act(args: argparse.Namespace) -> int:
    if not args.session:
        raise LookupMisused(f"{args.action} which session? Give its id; `clew sessions` lists them")
    done: list[dict[str, Any]] = []
    for query in args.session:
        session = query if args.action == "restore" else _own(query)
        moved = ask(this_place_if_any(), MoveSession(action=args.action, session=session))
        done.append({"session": moved.session, "action": args.action, "path": moved.path})
    if args.json:
        _write_json(done)
    else:
        words = {"archive": "archived", "trash": "moved to the trash", "restore": "restored"}
        for item in done:
            print(sanitize(f"{item['session']} {words[args.action]}: {item['path']}", one_line=True))
    return 0


def _own(query: str) -> str:
    """The file of a session of ours by any of its names; one of another agent is refused."""
    found = own_session(query)
    if found.agent != OWN:
        raise LookupMisused(f"{found.path} is not a session of clew; only our own are ever moved")
    return found.path


def _show_sizes(args: argparse.Namespace) -> int:
    paths = tuple(_own(query) for query in args.session)
    measured = ask(this_place_if_any(), MeasureSessions(paths=paths))
    if paths:
        each = [{"session": Path(path).stem, "bytes": size} for path, size in zip(paths, measured.sizes, strict=True)]
        if args.json:
            _write_json(each)
        else:
            for item in each:
                print(f"{human_size(int(item['bytes'])):>8}  {item['session']}")
        return 0
    if args.json:
        _write_json(measured.total)
        return 0
    for name, size in measured.total.items():
        print(f"{human_size(size):>8}  {name}")
    print("Nothing is ever deleted by age. `clew sessions archive ID` compresses, `clew sessions trash ID` moves away.")
    return 0


def _print_rows(rows: Sequence[CatalogRow], names: Mapping[str, str], *, limit: int, as_json: bool) -> None:
    shown = rows if limit < 0 else rows[:limit]
    if as_json:
        _write_json([row_json(row) for row in shown])
        return
    if not rows:
        print("No sessions yet. Start one with `clew`.")
        return
    width = os.get_terminal_size().columns if sys.stdout.isatty() else 160
    for row in shown:
        print(row_line(row, names, width=width))
    if len(shown) < len(rows):
        print("… more; --all shows them, --limit N so many")


def _print_hits(hits: Sequence[CatalogHit], names: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        _write_json(
            [
                {
                    **row_json(hit.row),
                    "hit": {"role": hit.role, "entry": hit.uuid, "text": hit.text, "spans": hit.spans},
                }
                for hit in hits
            ]
        )
        return
    if not hits:
        print("Nothing found. --deep looks through the files themselves, the middle of long output included.")
        return
    tty = sys.stdout.isatty()
    width = os.get_terminal_size().columns if tty else 160
    colour = tty and not os.environ.get("NO_COLOR")
    for hit in hits:
        print(row_line(hit.row, names, width=width))
        print(f"    {hit.role}: {highlighted(hit, colour=colour)}")


def highlighted(hit: CatalogHit, *, colour: bool) -> str:
    """The excerpt with its hits marked: bold where colours are shown, » « elsewhere."""
    before, after = ("\x1b[1;7m", "\x1b[0m") if colour else ("»", "«")
    out: list[str] = []
    at = 0
    for start, end in hit.spans:
        out += [
            sanitize(hit.text[at:start], one_line=True),
            before,
            sanitize(hit.text[start:end], one_line=True),
            after,
        ]
        at = end
    return "".join([*out, sanitize(hit.text[at:], one_line=True)])


def row_line(row: CatalogRow, names: Mapping[str, str], *, width: int) -> str:
    """One session on one line: age, state, title, where, branch, turns, cost, size, id, agent. `names`: as much of
    each id as tells it from the others."""
    name = names.get(row.session_id, row.session_id)
    cost = money(row.cost_usd) if row.cost_usd is not None else "-"
    state = "archived" if row.archived else row.state or "unread"
    where = f"{row.place_name}{f' ({row.branch})' if row.branch else ''}"
    turns = f"{row.turns:>3} {'turn' if row.turns == 1 else 'turns':<5}"
    tail = f"  {turns}  {cost:>7}  {human_size(row.size):>7}  {name:<{ID_WIDTH}}  {row.agent}"
    head = f"{ago(max(0.0, time.time() - row.activity)):>10}  {state:<11}  "
    place = clip(sanitize(where, one_line=True), 28)
    room = max(12, width - len(head) - len(tail) - display_width(place) - 2)
    title = clip(sanitize(row.title or row.first_prompt or "(no title)", one_line=True), room)
    return f"{head}{title}{' ' * (room - display_width(title))}  {place}{sanitize(tail)}"


def row_json(row: CatalogRow) -> dict[str, Any]:
    """A row for programs; times in seconds and ISO."""
    value: dict[str, Any] = msgspec.to_builtins(row)
    value["updated"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0.0, row.mtime)))
    del value["activity"], value["place_name"]
    return value


def human_size(size: int) -> str:
    """Bytes in a unit a person reads."""
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def _write_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
