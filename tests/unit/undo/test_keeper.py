"""Undo on an event loop: the first scan is told, nothing waits for it, and what is cancelled is still written down."""

import asyncio
import os
import subprocess
import threading
from pathlib import Path

import pytest

from clew.protocol.entries import SessionSourceEntry
from clew.protocol.ids import SessionId
from clew.transcript.log.codec import encode
from clew.undo.errors import NothingToRestore
from clew.undo.journal import FileJournal
from clew.undo.keeper import ScanProgress, UndoKeeper
from clew.undo.limits import UndoLimits
from clew.undo.lineage import lineage
from clew.undo.packs import PackStore
from clew.undo.prune import prune, store_bytes
from clew.undo.scan import Scanner
from clew.undo.state import ChangingCall
from clew.undo.tree import FileTree
from fakes.effort import HANG_S
from unit.undo.conftest import Keeping, fill, seen

DEADLINE_S = HANG_S


def keeper_of(tmp_path: Path, session: str = "s1") -> UndoKeeper:
    root = tmp_path / "work"
    if not root.exists():
        root.mkdir()
        fill(root)
    return UndoKeeper(
        home=tmp_path / "home", roots=[root], transcript=tmp_path / "home" / "projects" / "p" / f"{session}.jsonl"
    )


def call(turn: int, tool: str = "Bash") -> ChangingCall:
    return ChangingCall(session=SessionId("s1"), turn=turn, tool=tool)


async def ready(keeper: UndoKeeper) -> list[ScanProgress]:
    told: list[ScanProgress] = []
    await keeper.start(told.append)
    assert await keeper.wait_ready(DEADLINE_S)
    return told


async def bash(keeper: UndoKeeper, turn: int, command: str, root: Path):
    opened = await keeper.before(call(turn))
    await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=root, check=True)
    return await keeper.after(opened)


async def test_undo_redo_and_back_to_a_moment(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    root = tmp_path / "work"
    with pytest.raises(NothingToRestore):
        await keeper.plan_undo()
    told = await ready(keeper)
    assert told[-1].done
    assert told[-1].files == len(seen(root))
    states = [seen(root)]
    made = []
    for turn, command in enumerate(("rm -rf src", "echo x > new; rm data.bin", "chmod 700 run.sh"), 1):
        made.append(await bash(keeper, turn, command, root))
        states.append(seen(root))
    plan = await keeper.plan_undo()
    assert [block.path for block in await keeper.preview(plan)] == [str(root / "run.sh")]
    await keeper.apply(plan, call(0))
    assert seen(root) == states[2]
    await keeper.apply(await keeper.plan_redo(), call(0))
    assert seen(root) == states[3]
    await keeper.apply(await keeper.plan_since(made[0].at), call(0))
    assert seen(root) == states[1]
    await keeper.apply(await keeper.plan_redo(), call(0))
    assert seen(root) == states[3]
    await keeper.apply(await keeper.plan_calls([made[1].id]), call(0))
    assert (root / "data.bin").exists()
    assert not (root / "new").exists()
    await keeper.close()


async def test_until_the_first_scan_is_done_shell_effects_are_told_and_file_tools_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()
    walk = Scanner.walk
    monkeypatch.setattr(Scanner, "walk", lambda self, progress: (hold.wait(DEADLINE_S), walk(self, progress))[1])
    keeper = keeper_of(tmp_path)
    root = tmp_path / "work"
    await keeper.start()
    assert not await keeper.wait_ready(0.01)
    assert "not done yet" in (await keeper.coverage([str(root / "src")]))[0]
    made = await bash(keeper, 1, "rm run.sh", root)
    assert "not done yet" in made.warnings[0]
    assert not made.restorable
    opened = await keeper.before(call(2, "Edit"), [str(root / "new" / "er" / "f"), str(root / "data.bin")])
    (root / "new" / "er").mkdir(parents=True)
    (root / "new" / "er" / "f").write_text("f")
    (root / "data.bin").write_text("edited")
    edited = await keeper.after(opened)
    assert edited.restorable
    assert edited.summary() == "1 changed, 3 created"
    hold.set()
    assert await keeper.wait_ready(DEADLINE_S)
    await keeper.apply(await keeper.plan_undo(), call(0))
    assert not (root / "new").exists()
    assert (root / "data.bin").read_bytes() == bytes(range(256)) * 40
    await keeper.close()


async def test_a_cancelled_call_still_has_its_checkpoint(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    root = tmp_path / "work"
    await ready(keeper)
    opened = await keeper.before(call(1))
    (root / "run.sh").unlink()
    task = asyncio.create_task(keeper.after(opened))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(DEADLINE_S):
        while True:
            if await keeper.checkpoints():
                break
            await asyncio.sleep(0.01)
    await keeper.apply(await keeper.plan_undo(), call(0))
    assert (root / "run.sh").exists()
    await keeper.close()


async def test_a_background_command_is_charged_with_what_it_did(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    root = tmp_path / "work"
    await ready(keeper)
    assert await keeper.collect(call(1)) is None
    (root / "run.sh").unlink()
    made = await keeper.collect(call(1))
    assert made is not None
    assert made.source == "background"
    opened = await keeper.before(call(2, "Write"), [str(root / "w")])
    (root / "w").write_text("w")
    await keeper.after(opened)
    assert await keeper.collect(call(1)) is None, "a file tool's change is its own"
    await keeper.close()


async def test_closing_stops_a_scan_and_a_second_session_reads_nothing_twice(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    await ready(keeper)
    size = store_bytes(tmp_path / "home" / "undo" / "p")
    await keeper.close()
    second = keeper_of(tmp_path, "s2")
    await ready(second)
    assert store_bytes(tmp_path / "home" / "undo" / "p") == size
    await second.close()


@pytest.mark.parametrize("where", ["walk", "load"])
async def test_closing_in_the_middle_of_a_scan_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    reached, hold = threading.Event(), threading.Event()
    owner = Scanner if where == "walk" else FileTree
    real = getattr(owner, where)

    def held(*args: object) -> object:
        reached.set()
        hold.wait(DEADLINE_S)
        return real(*args)

    monkeypatch.setattr(owner, where, held)
    keeper = keeper_of(tmp_path)
    told: list[ScanProgress] = []
    await keeper.start(told.append)
    await asyncio.to_thread(reached.wait, DEADLINE_S)
    (scan,) = (thread for thread in threading.enumerate() if thread.name == "clew-undo-scan")
    await keeper.close()
    hold.set()
    await asyncio.to_thread(scan.join, DEADLINE_S)
    assert not scan.is_alive()
    await asyncio.sleep(0)
    assert told == []
    assert list((tmp_path / "home").rglob("*.pack")) == []


async def test_two_sessions_of_one_project_share_content(tmp_path: Path) -> None:
    one, two = keeper_of(tmp_path, "s1"), keeper_of(tmp_path, "s2")
    root = tmp_path / "work"
    await ready(one)
    await ready(two)
    before = seen(root)
    await bash(one, 1, "echo one > data.bin", root)
    await bash(two, 1, "rm run.sh", root)
    await one.apply(await one.plan_undo(), call(0))
    await two.apply(await two.plan_undo(), call(0))
    assert seen(root) == before
    assert len(await one.checkpoints()) == 2
    await one.close()
    await two.close()


async def test_a_fork_goes_back_beyond_the_fork_but_not_into_the_other_branch(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    root = tmp_path / "work"
    await ready(keeper)
    first = await bash(keeper, 1, "rm run.sh", root)
    source = tmp_path / "home" / "projects" / "p" / "s1.jsonl"
    fork = source.with_name("s2.jsonl")
    entry = SessionSourceEntry(
        session_id=SessionId("s2"), timestamp=first.at, agent="clew", source_session="s1", path=str(source)
    )
    source.write_bytes(b"")
    fork.write_bytes(encode(entry))
    later = await bash(keeper, 2, "rm data.bin", root)
    await keeper.close()
    assert [item.id for item in FileJournal(fork, forked_from=lineage(fork)).checkpoints] == [first.id]
    assert later.id in {item.id for item in FileJournal(source).checkpoints}
    forked = keeper_of(tmp_path, "s2")
    await ready(forked)
    await forked.apply(await forked.plan_undo(), call(0))
    assert (root / "run.sh").exists()
    assert not (root / "data.bin").exists()
    await forked.close()


def test_pruning_keeps_the_workspace_and_the_newest_sessions(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    (keeping.root / "f").write_text("start")
    keeping.scan()
    for number in range(20):
        keeping.shell(f"head -c 50000 /dev/urandom > f; : {number}")
    newest = keeping.kept.journal.checkpoints[-1]
    keeping.kept.close()
    folder = tmp_path / "home" / "undo" / "p"
    sessions = keeping.transcript.parent
    os.rename(sessions / "s1", sessions / "old")
    keeping.kept = keeping.open()
    keeping.scan()
    keeping.shell("head -c 50000 /dev/urandom > f")
    keeping.kept.close()
    before = store_bytes(folder)
    assert before > 1_000_000
    os.utime(sessions / "old" / "undo.jsonl", (1, 1))
    busy, store = PackStore(folder / "packs"), PackStore(folder / "packs")
    limits = UndoLimits(max_store_bytes=400_000)
    roots = (str(keeping.root),)
    assert prune(store, folder, sessions, limits, roots=roots).busy
    busy.close()
    done = prune(store, folder, sessions, limits, roots=roots)
    assert done.sessions == ("old",)
    assert store_bytes(folder) < 400_000
    store.close()
    keeping.kept = keeping.open()
    (kept,) = FileJournal(keeping.transcript).checkpoints
    assert not keeping.plan(kept).impossible
    assert bytes.fromhex(newest.changes[0].before.digest) not in keeping.kept.store
    old = FileJournal(sessions / "old.jsonl")
    assert all(file.impossible for file in keeping.plan(*old.checkpoints).files)
    keeping.kept.close()
