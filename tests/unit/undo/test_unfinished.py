"""A restore that is cut off at any step can be finished, or taken back, by whoever comes next."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clew.transcript.past.interruption import restore_cut_off
from clew.undo import restore
from clew.undo.journal import FileJournal
from clew.undo.plan import FilePlan
from clew.undo.state import path_of
from unit.undo.conftest import Keeping, Seen, fill, seen
from unit.undo.test_keeper import bash, call, keeper_of, ready

CARRIER: Any = vars(restore)["_Carrier"]
MESS = (
    'rm -r docs; for f in [a-z]*; do [ -f "$f" ] && echo more >> "$f"; done; mkdir new; echo x > new/x; chmod 600 new/x'
)
STEPS = (1, 2, 3, 5, 8)


class Died(BaseException):
    """Nothing that clew could catch."""


def dying_at(step: int) -> Callable[[Any, FilePlan, Any], bool]:
    """The steps of a restore, of which this one is never done."""
    real, count = CARRIER._try, 0

    def tried(self: Any, file: FilePlan, do: Any) -> bool:
        nonlocal count
        count += 1
        if count == step:
            raise Died
        return real(self, file, do)

    return tried


async def cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> tuple[Seen, Seen]:
    """What was there before a command and after it, with an undo that died at this step."""
    root = tmp_path / "work"
    root.mkdir()
    fill(root)
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "one.md").write_text("one\n")
    keeper = keeper_of(tmp_path)
    await ready(keeper)
    before = seen(root)
    await bash(keeper, 1, MESS, root)
    after = seen(root)
    with monkeypatch.context() as patch:
        patch.setattr(CARRIER, "_try", dying_at(step))
        with pytest.raises(Died):
            await keeper.apply(await keeper.plan_undo(), call(2, "undo"))
    await keeper.close()
    assert before != after
    return before, after


def drafts(root: Path) -> list[str]:
    return [name for _, _, names in os.walk(root) for name in names if name.endswith(".clew-undo")]


@pytest.mark.parametrize("step", STEPS)
async def test_it_can_be_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    before, after = await cut_off(tmp_path, monkeypatch, step)
    keeper = keeper_of(tmp_path)
    await ready(keeper)
    rest = await keeper.plan_rest()
    assert rest is not None
    plan, record = rest
    done = await keeper.apply(plan, call(3, "undo"), finishes=record)
    assert seen(tmp_path / "work") == before
    assert {change.path for change in record.changes} == set(done.done)
    assert await keeper.plan_rest() is None
    again = await keeper.apply(await keeper.plan_redo(), call(4, "redo"))
    assert not again.failed
    assert seen(tmp_path / "work") == after
    await keeper.close()


@pytest.mark.parametrize("step", STEPS)
async def test_it_can_be_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    _, after = await cut_off(tmp_path, monkeypatch, step)
    keeper = keeper_of(tmp_path)
    await ready(keeper)
    await keeper.apply(await keeper.plan_redo(), call(3, "redo"))
    assert seen(tmp_path / "work") == after
    assert await keeper.plan_rest() is None
    await keeper.close()


async def test_what_somebody_edited_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, _ = await cut_off(tmp_path, monkeypatch, 1)
    mine = next(
        name
        for name, (kind, _, _) in sorted(before.items())
        if kind == "file" and name[0].isalpha() and "/" not in name
    )
    (tmp_path / "work" / mine).write_text("mine\n")
    keeper = keeper_of(tmp_path)
    await ready(keeper)
    rest = await keeper.plan_rest()
    assert rest is not None
    done = await keeper.apply(rest[0], call(3, "undo"), finishes=rest[1])
    assert [os.path.basename(path_of(path)) for path, _ in done.skipped] == [mine]
    assert (tmp_path / "work" / mine).read_text() == "mine\n"
    assert await keeper.plan_rest() is None, "it came to its end: what is left is left on purpose"
    await keeper.close()


async def test_it_is_not_gone_on_with_once_files_changed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await cut_off(tmp_path, monkeypatch, 2)
    keeper = keeper_of(tmp_path)
    await ready(keeper)
    await bash(keeper, 3, "echo later > later.txt", tmp_path / "work")
    assert await keeper.plan_rest() is None
    plan = await keeper.plan_undo()
    assert [os.path.basename(file.path) for file in plan.files] == ["later.txt"]
    await keeper.close()


async def test_the_line_of_an_unfinished_restore_ends_as_a_resume_expects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cut_off(tmp_path, monkeypatch, 2)
    transcript = tmp_path / "home" / "projects" / "p" / "s1.jsonl"
    assert FileJournal(transcript).unfinished() is not None
    assert restore_cut_off(transcript)
    keeper = keeper_of(tmp_path)
    rest = await keeper.plan_rest()
    assert rest is not None
    await keeper.apply(rest[0], call(3, "undo"), finishes=rest[1])
    await keeper.close()
    assert not restore_cut_off(transcript)
    assert not drafts(tmp_path / "work")


def test_a_scan_that_begins_beside_a_restore_leaves_its_drafts_alone(tmp_path: Path) -> None:
    """After a resume the first scan runs in a thread, and an undo may come before it has looked at the journal."""
    place = Keeping(tmp_path).scan()
    (place.root / "a.txt").write_text("precious")
    gone = place.shell("rm a.txt")
    again = place.open()
    again.remove_old_drafts()  # as whoever begins a restore does
    again.journal.add(replace(gone, id="r1", source="restore", unfinished=True))
    draft = place.root / f".a.txt.{'0' * 12}.clew-undo"
    draft.write_text("precious")
    again.first_scan(lambda files, size: None)
    assert draft.exists()
    later = place.open()
    later.first_scan(lambda files, size: None)
    assert not draft.exists(), "what another process left is cleared away"
