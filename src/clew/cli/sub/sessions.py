"""`clew sessions`: the list of all sessions, search in them, and making room on request."""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from clew.catalog.find_session import find_session, short_ids
from clew.catalog.found_session import OWN
from clew.catalog.listing import Catalog, project_name
from clew.cli.run.agent_flags import positive
from clew.cli.run.choose_session import chooser
from clew.cli.sub.agent_homes import chosen_agents, chosen_homes, here
from clew.system.home import clew_home
from clew.text.figures import ago, money
from clew.text.terminal_text import clip, display_width, sanitize
from clew.transcript.errors import TranscriptError
from clew.transcript.index.archive import archive_session, restore_session, session_size, sizes, trash_session
from clew.transcript.index.rows import Hit, IndexRow
from clew.transcript.log.store import SessionStore
from clew.transcript.past.resume import SURE_PREFIX

HELP = "list and search sessions, clew's and other agents'"
ACTIONS = ("archive", "trash", "restore", "size")
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
    store = SessionStore(clew_home())
    try:
        homes = chosen_homes(args.home)
        if args.action == "size":
            return _show_sizes(store, args)
        if args.action:
            return _act(store, args)
        return _list(store, args, homes)
    except TranscriptError as error:
        sys.stderr.write(f"clew sessions: {sanitize(str(error))}\n")
        return 1
    except ValueError as error:
        sys.stderr.write(f"clew sessions: {sanitize(str(error))}\n")
        return 2


def _list(store: SessionStore, args: argparse.Namespace, homes: Mapping[str, Path]) -> int:
    agents = chosen_agents(args.agent)
    project = Path(args.project) if args.project else None
    with Catalog(store, homes=homes) as catalog:
        budget = _LIST_BUDGET_S if args.search is None else _SEARCH_BUDGET_S
        waiting = catalog.refresh(agents=agents, budget_s=budget)
        limit = -1 if args.all else args.limit
        if args.search is not None:
            many = limit if limit > 0 else 10_000
            deep = args.deep or None
            hits = catalog.search(args.search, agents=agents or (), project=project, limit=many, deep=deep)
            _print_hits(hits, short_ids(catalog.ids()), as_json=args.json)
        else:
            rows = catalog.rows(agents=agents or (), project=project, limit=limit + 1 if limit > 0 else -1)
            _print_rows(rows, short_ids(catalog.ids()), limit=limit, as_json=args.json)
        note = catalog.note
    if note:
        sys.stderr.write(f"clew sessions: {note}\n")
    if waiting:
        sys.stderr.write(f"clew sessions: {waiting} sessions are not read yet; run it again for the rest\n")
    return 0


def _act(store: SessionStore, args: argparse.Namespace) -> int:
    if not args.session:
        raise ValueError(f"{args.action} which session? Give its id; `clew sessions` lists them")
    done: list[dict[str, Any]] = []
    for query in args.session:
        if args.action == "restore":
            target = restore_session(store, query)
            session = target.stem
        else:
            path = _own(store, query)
            session = path.stem
            target = (archive_session if args.action == "archive" else trash_session)(store, path)
        done.append({"session": session, "action": args.action, "path": str(target)})
    with Catalog(store) as catalog:
        catalog.refresh(agents=[OWN])
    if args.json:
        _write_json(done)
    else:
        words = {"archive": "archived", "trash": "moved to the trash", "restore": "restored"}
        for item in done:
            print(sanitize(f"{item['session']} {words[args.action]}: {item['path']}", one_line=True))
    return 0


def _own(store: SessionStore, query: str) -> Path:
    """A session of ours by any of its names; a file of another agent is refused."""
    found = find_session(store, query, here(), agents=[OWN], choose=chooser())
    if not found.is_ours:
        raise ValueError(f"{found.path} is not a session of clew; only our own are ever moved")
    return found.path


def _show_sizes(store: SessionStore, args: argparse.Namespace) -> int:
    if args.session:
        paths = [_own(store, query) for query in args.session]
        each = [{"session": path.stem, "bytes": session_size(path)} for path in paths]
        if args.json:
            _write_json(each)
        else:
            for item in each:
                print(f"{human_size(int(item['bytes'])):>8}  {item['session']}")
        return 0
    total = sizes(store)
    if args.json:
        _write_json(msgspec.to_builtins(total))
        return 0
    for name in total.__struct_fields__:
        print(f"{human_size(getattr(total, name)):>8}  {name}")
    print("Nothing is ever deleted by age. `clew sessions archive ID` compresses, `clew sessions trash ID` moves away.")
    return 0


def _print_rows(rows: list[IndexRow], names: Mapping[str, str], *, limit: int, as_json: bool) -> None:
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


def _print_hits(hits: list[Hit], names: Mapping[str, str], *, as_json: bool) -> None:
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


def highlighted(hit: Hit, *, colour: bool) -> str:
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


def row_line(row: IndexRow, names: Mapping[str, str], *, width: int) -> str:
    """One session on one line: age, state, title, where, branch, turns, cost, size, id, agent. `names`: as much of
    each id as tells it from the others."""
    name = names.get(row.session_id, row.session_id)
    cost = money(row.cost_usd) if row.cost_usd is not None else "-"
    state = "archived" if row.archived else row.state or "unread"
    where = f"{project_name(row)}{f' ({row.branch})' if row.branch else ''}"
    turns = f"{row.turns:>3} {'turn' if row.turns == 1 else 'turns':<5}"
    tail = f"  {turns}  {cost:>7}  {human_size(row.size):>7}  {name:<{SURE_PREFIX}}  {row.agent}"
    head = f"{ago(max(0.0, time.time() - row.activity)):>10}  {state:<11}  "
    place = clip(sanitize(where, one_line=True), 28)
    room = max(12, width - len(head) - len(tail) - display_width(place) - 2)
    title = clip(sanitize(row.title or row.first_prompt or "(no title)", one_line=True), room)
    return f"{head}{title}{' ' * (room - display_width(title))}  {place}{sanitize(tail)}"


def row_json(row: IndexRow) -> dict[str, Any]:
    """A row for programs; times in seconds and ISO."""
    value: dict[str, Any] = msgspec.to_builtins(row)
    value["updated"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0.0, row.mtime)))
    del value["activity"]
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
