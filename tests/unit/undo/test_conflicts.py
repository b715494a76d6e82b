"""Edits of the user are never overwritten without consent, whatever happened in between."""

import os
from pathlib import Path

import pytest

from clew.undo.plan import only_paths, plan_restore
from clew.undo.preview import preview
from clew.undo.state import Change, Checkpoint, State, path_of, path_text
from unit.undo.conftest import Keeping, seen


def test_an_edit_after_the_call_is_a_conflict_until_consent(keeping: Keeping) -> None:
    path = keeping.root / "src" / "m001.py"
    made = keeping.shell("sed -i s/value/worth/ src/m001.py src/m003.py")
    path.write_text("mine\n")
    plan = keeping.plan(made)
    assert [path_of(file.path) for file in plan.conflicts] == [str(path)]
    done = keeping.apply(plan)
    assert path.read_text() == "mine\n"
    assert "worth" not in (keeping.root / "src" / "m003.py").read_text()
    assert [item[0] for item in done.skipped] == [str(path)]
    done = keeping.apply(keeping.plan(made), consent=[path])
    assert not done.skipped
    assert "value = 1" in path.read_text()
    assert done.checkpoint is not None
    keeping.undo(done.checkpoint)
    assert path.read_text() == "mine\n"


def test_an_edit_between_two_calls_is_a_conflict_too(keeping: Keeping) -> None:
    path = keeping.root / "src" / "m001.py"
    first = keeping.shell("echo agent > src/m001.py")
    path.write_text("mine\n")
    second = keeping.shell("echo agent again > src/m001.py")
    plan = keeping.plan(first, second)
    assert [file.conflict for file in plan.files] == ["it was also changed in between, not by the agent"]
    keeping.apply(plan)
    assert path.read_text() == "agent again\n"
    keeping.undo(second)
    assert path.read_text() == "mine\n"


def test_what_the_user_had_before_the_call_is_what_comes_back(keeping: Keeping) -> None:
    path = keeping.root / "src" / "m001.py"
    path.write_text("mine, just now\n")
    (keeping.root / "fresh").write_text("mine too\n")
    made = keeping.shell("rm -rf src fresh")
    keeping.undo(made)
    assert path.read_text() == "mine, just now\n"
    assert (keeping.root / "fresh").read_text() == "mine too\n"


def test_files_of_the_user_in_a_directory_of_the_agent_stay(keeping: Keeping) -> None:
    made = keeping.shell("mkdir out && echo 1 > out/a")
    (keeping.root / "out" / "mine").write_text("mine")
    done = keeping.undo(made)
    assert sorted(os.listdir(keeping.root / "out")) == ["mine"]
    assert [why for _, why in done.failed] == ["the directory holds other files; it was left as it is"]


def test_a_deleted_file_that_the_user_made_anew_is_a_conflict(keeping: Keeping) -> None:
    made = keeping.shell("rm data.bin")
    (keeping.root / "data.bin").write_text("mine")
    assert keeping.plan(made).conflicts
    keeping.undo(made)
    assert (keeping.root / "data.bin").read_text() == "mine"


def test_a_file_that_is_a_directory_now_is_never_emptied(keeping: Keeping) -> None:
    made = keeping.shell("echo x > data.bin")
    (keeping.root / "data.bin").unlink()
    (keeping.root / "data.bin").mkdir()
    (keeping.root / "data.bin" / "mine").write_text("mine")
    done = keeping.undo(made, force=True)
    assert done.failed
    assert (keeping.root / "data.bin" / "mine").read_text() == "mine"


def test_a_save_between_preview_and_apply_wins(keeping: Keeping) -> None:
    made = keeping.shell("echo agent > untracked.txt; rm run.sh; echo agent > data.bin")
    plan = keeping.plan(made)
    assert not plan.conflicts
    (keeping.root / "untracked.txt").write_text("mine\n")
    (keeping.root / "run.sh").write_text("mine\n")
    done = keeping.apply(plan)
    assert len(done.failed) == 2
    assert (keeping.root / "untracked.txt").read_text() == "mine\n"
    assert (keeping.root / "run.sh").read_text() == "mine\n"
    assert (keeping.root / "data.bin").read_bytes() == bytes(range(256)) * 40


def test_files_are_chosen_one_by_one(keeping: Keeping) -> None:
    made = keeping.shell("rm -rf src data.bin")
    plan = keeping.plan(made)
    chosen = only_paths(plan, [str(keeping.root / "src" / "deep"), str(keeping.root / "data.bin")])
    done = keeping.apply(plan, only=[Path(path_of(file.path)) for file in chosen])
    assert not done.failed
    assert (keeping.root / "src" / "deep" / "er" / "bottom.txt").exists()
    assert not (keeping.root / "src" / "m001.py").exists()
    keeping.undo(made)
    assert (keeping.root / "src" / "m001.py").exists()


def test_two_undos_and_two_redos_walk_the_same_way(keeping: Keeping) -> None:
    states = [seen(keeping.root)]
    for command in ("echo 1 > src/m001.py", "rm -rf src", "git clean -qfdx"):
        keeping.shell(command)
        states.append(seen(keeping.root))
    journal = keeping.kept.journal
    for expected in (states[2], states[1]):
        keeping.undo(*journal.last_turn())
        assert seen(keeping.root) == expected
    for expected in (states[2], states[3]):
        keeping.undo(*journal.last_restore())
        assert seen(keeping.root) == expected
    assert journal.last_restore() == ()
    keeping.undo(*journal.last_turn())
    assert seen(keeping.root) == states[2]
    keeping.shell("echo new > new")
    assert journal.last_restore() == (), "a call after an undo ends the redo"


def test_the_preview_is_a_diff_from_now_to_then(keeping: Keeping) -> None:
    made = keeping.shell("echo other > untracked.txt; rm data.bin; chmod 700 run.sh; ln -sfn elsewhere link")
    plan = keeping.plan(made)
    shown = {
        os.path.basename(block.path): block for block in (preview(file, keeping.kept.store) for file in plan.files)
    }
    assert "-other\n+untracked" in shown["untracked.txt"].patch
    assert (shown["untracked.txt"].added, shown["untracked.txt"].removed) == (1, 1)
    assert "nothing becomes a file of 10,240 bytes" in shown["data.bin"].patch
    assert "mode 0700 becomes 0750" in shown["run.sh"].patch
    assert "-elsewhere\n+src/m001.py" in shown["link"].patch


@pytest.mark.parametrize("where", ["../outside", ".git/hooks/pre-commit", "sub/.GIT/config", "a/../../outside"])
def test_a_checkpoint_never_leads_outside_or_into_git(keeping: Keeping, where: str, tmp_path: Path) -> None:
    digest = keeping.kept.store.put(b"planted").hex()
    path = path_text(f"{keeping.root}/{where}")
    change = Change(path=path, before=State(kind="file", digest=digest, mode=0o755), after=State())
    forged = Checkpoint(
        id="x", at="", began="", source="shell", call=keeping.call(), roots=(str(keeping.root),), changes=(change,)
    )
    plan = plan_restore([forged], keeping.kept.store, [str(keeping.root)])
    assert plan.files[0].impossible
    done = keeping.apply(plan, force=True)
    assert not done.done
    assert not (tmp_path / "outside").exists()
    assert not (keeping.root / ".git" / "hooks" / "pre-commit").exists()


def test_a_link_put_in_the_way_is_not_followed(keeping: Keeping, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    made = keeping.shell("rm -rf src/deep && echo x > src/m001.py")
    plan = keeping.plan(made)
    (keeping.root / "src").rename(keeping.root / "src.real")
    (keeping.root / "src").symlink_to(outside)
    done = keeping.apply(plan, force=True)
    assert done.failed
    assert not done.done
    assert list(outside.iterdir()) == []


def test_a_link_is_not_followed_when_it_is_kept_either(keeping: Keeping, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    made = keeping.shell(f"ln -s {outside} way && mkdir real && echo x > real/secret && mv real way2")
    assert not [change.path for change in made.changes if "way/" in change.path]
