"""Tools: search over 50,000 files against plain ripgrep, sandboxed against plain commands, reads, specs."""

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from bench.report import Row
from clew.parts.files.index import PathMatcher, with_directories
from clew.protocol.ids import CallId
from clew.system.sandbox.policy import Sandbox
from clew.system.sandbox.status import SandboxStatus, probe_now
from clew.system.search_binary import find_bundled
from clew.tools.base import ToolContext
from clew.tools.builtin.bash import Bash, BashParams
from clew.tools.builtin.grep import Grep, GrepParams
from clew.tools.builtin.read import Read, ReadParams
from clew.tools.deferred.ranking import Document, Ranking
from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession

FILES = 50_000
ROUNDS = 15
STUBBORN_S = 3607
TOOL_SET = Path(__file__).parents[1] / "tests" / "unit" / "tools" / "ranking"
GRACE_S = 1.0
"""Between SIGTERM and SIGKILL, as `system/process.py` has it."""


def context(session: ToolSession, number: int, progress: Callable[[str], None] = lambda _: None) -> ToolContext:
    """As the dispatcher makes it."""

    async def nobody(_: object) -> None:
        return None

    return ToolContext(call_id=CallId(f"bench-{number}"), cwd=session.cwd, progress=progress, ask=nobody)


async def best_ms(work: Callable[[int], Awaitable[object]], rounds: int = ROUNDS) -> float:
    """The fastest of some rounds after one to warm up: the others measured the machine's other work."""
    await work(-1)
    taken: list[float] = []
    for number in range(rounds):
        started = time.perf_counter()
        await work(number)
        taken.append((time.perf_counter() - started) * 1000)
    return min(taken)


def make_tree(top: Path) -> None:
    """Many small files, one in a hundred with the needle."""
    for number in range(FILES):
        folder = top / f"d{number // 500:03}"
        if number % 500 == 0:
            folder.mkdir()
        text = "needle = 1\n" if number % 100 == 0 else "hay = 0\n"
        (folder / f"f{number}.py").write_text("import os\n" * 20 + text)


async def search_row(top: Path) -> Row:
    """Grep within 1.5 x of the program it uses, run by hand with the same meaning."""
    rg = find_bundled()
    if not rg:
        return Row("Grep over 50,000 files", "no bundled ripgrep here", "<= 1.5 x rg", None)
    session = ToolSession(cwd=str(top))
    grep = Grep(session)

    async def ours(number: int) -> None:
        await grep.run(GrepParams(pattern="needle"), context(session, number))

    async def plain(_: int) -> None:
        await asyncio.to_thread(subprocess.run, [rg, "-l", "needle", str(top)], stdout=subprocess.DEVNULL)

    theirs_ms = await best_ms(plain, 5)
    ours_ms = await best_ms(ours, 5)
    ratio = ours_ms / theirs_ms
    return Row("Grep over 50,000 files", f"{ratio:.2f} x rg ({ours_ms:.0f} ms)", "<= 1.5 x rg", ratio <= 1.5)


async def command_rows(top: Path) -> list[Row]:
    """The same command without and with each sandbox of this machine."""
    found = probe_now()
    kinds: dict[str, SandboxStatus] = {found.label: found} if found.enforced else {}
    if found.bwrap and found.kind != "bwrap":
        kinds["bubblewrap"] = SandboxStatus(kind="bwrap", bwrap=found.bwrap)
    session = ToolSession(cwd=str(top))
    bash = Bash(session)

    async def run(number: int) -> None:
        await bash.run(BashParams(command="true"), context(session, number))

    bare_ms = await best_ms(run)
    rows = [Row("Bash `true`, no sandbox", f"{bare_ms:.1f} ms", "-", None)]
    for label, status in kinds.items():
        with_sandbox = Sandbox(lambda status=status: status)
        session.sandbox = with_sandbox
        extra_ms = await best_ms(run) - bare_ms
        with_sandbox.close()
        rows.append(Row(f"Bash `true` in {label}", f"+{extra_ms:.1f} ms", "<= +15 ms", extra_ms <= 15))
    session.sandbox = None
    await session.close()
    return rows


async def ending_row(top: Path) -> Row:
    """Cancel to gone: fifty children that ignore SIGTERM, each in a session of its own."""
    session = ToolSession(cwd=str(top))
    bash = Bash(session)
    child = f"setsid bash -c 'trap \"\" TERM; echo up; while :; do sleep {STUBBORN_S}; done'"
    params = BashParams(command=f"trap '' TERM; for i in $(seq 50); do {child} & done; wait")
    heard: list[str] = []
    all_up = asyncio.Event()

    def hear(text: str) -> None:
        heard.append(text)
        if "".join(heard).count("up") == 50:
            all_up.set()

    task = asyncio.create_task(bash.run(params, context(session, 0, hear)))
    await all_up.wait()
    task.cancel()
    started = time.perf_counter()
    await asyncio.wait({task})
    taken_s = time.perf_counter() - started
    await session.close()
    beyond_s = taken_s - GRACE_S
    return Row("end of 50 stubborn children", f"{beyond_s:.2f} s beyond their grace", "<= 1 s", beyond_s <= 1)


async def read_row(top: Path) -> Row:
    """One read, permission and transcript not included."""
    session = ToolSession(cwd=str(top))
    read = Read(session)
    params = ReadParams(file_path="d000/f1.py")
    taken_ms = await best_ms(lambda number: read.run(params, context(session, number)), 200)
    return Row("Read of a small file", f"{taken_ms:.2f} ms", "<= 1 ms", taken_ms <= 1)


def find_row(top: Path) -> Row:
    """Files by a few letters, once their names are known: the slowest of the questions a person's keys ask."""
    listed = with_directories(f"{folder.name}/{file.name}" for folder in top.iterdir() for file in folder.iterdir())
    matcher = PathMatcher(listed)
    slowest_ms, slowest = 0.0, ""
    for query in ("f", "f123", "d01f9", "d9/f4", "dfpy", "py", "zzz", "0f0p", "d000000", "f1.py f"):
        best = min(_timed_ms(lambda query=query: matcher.find(query, 20)) for _ in range(5))
        if best > slowest_ms:
            slowest_ms, slowest = best, query
    value = f"{slowest_ms:.1f} ms ({slowest!r})"
    return Row("a file by a few letters among 50,000", value, "<= 50 ms", slowest_ms <= 50)


def _timed_ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def spec_row() -> Row:
    """What every first request carries."""
    specs = [tool.spec() for tool in builtin_tools(ToolSession(cwd=os.getcwd()))]
    size = sum(len(json.dumps([s.name, s.description, s.schema], separators=(",", ":"))) for s in specs)
    return Row("tool specs", f"{size} bytes", "<= 9000 bytes", size <= 9_000)


def tool_search_rows() -> Iterable[Row]:
    """Finding a tool among 400: the index is made when tools come and go, a search is asked of it."""
    tools = [
        line.split("\t") for file in sorted(TOOL_SET.glob("tools_*.tsv")) for line in file.read_text().splitlines()
    ]
    documents = [
        Document(name=f"{server}/{tool}", fields=((f"{server}__{tool}", 3.0), (words, 1.0)))
        for server, tool, words in tools
    ]
    queries = [line.split("\t")[1] for line in (TOOL_SET / "queries.tsv").read_text().splitlines()]
    ranking = Ranking(documents)
    slowest_ms = max(
        min(_timed_ms(lambda query=query: ranking.search(query, limit=5)) for _ in range(ROUNDS)) for query in queries
    )
    value = f"{slowest_ms:.2f} ms"
    yield Row(f"search among {len(documents)} tools, slowest of {len(queries)}", value, "<= 1 ms", slowest_ms <= 1)
    made_ms = min(_timed_ms(lambda: Ranking(documents)) for _ in range(ROUNDS))
    yield Row(f"index of {len(documents)} tools", f"{made_ms:.1f} ms", "<= 100 ms", made_ms <= 100)


def rows() -> Iterable[Row]:
    """All figures, in one tree."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        top = Path(folder)
        make_tree(top)
        yield spec_row()
        yield from tool_search_rows()
        yield asyncio.run(read_row(top))
        yield asyncio.run(search_row(top))
        yield find_row(top)
        yield from asyncio.run(command_rows(top / "d000"))
        yield asyncio.run(ending_row(top / "d000"))
