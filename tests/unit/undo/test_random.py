"""Random changes of every kind: what the kernel's events led us to is what a person would find."""

import contextlib
import os
import random
import shutil
from pathlib import Path

import pytest

from unit.undo.conftest import Keeping, seen

NAMES = ("a", "b", "c", "d e", "f\n", "ü")


def anywhere(root: Path, dice: random.Random) -> Path:
    """A path that may or may not exist, at most four deep."""
    return root.joinpath(*(dice.choice(NAMES) for _ in range(dice.randint(1, 4))))


def change(root: Path, dice: random.Random) -> None:
    """One step of a program; whatever cannot be done is left out, as `|| true` does."""
    path, other = anywhere(root, dice), anywhere(root, dice)
    with contextlib.suppress(OSError, shutil.Error):
        match dice.randrange(12):
            case 0 | 1 | 2:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(str(dice.random()))
            case 3:
                with path.open("r+") as file:
                    file.write("in place")
            case 4:
                path.unlink()
            case 5:
                shutil.rmtree(path)
            case 6 | 7:
                other.parent.mkdir(parents=True, exist_ok=True)
                os.rename(path, other)
            case 8:
                path.symlink_to(dice.choice(("a", "../b", "/proc/nonexistent")))
            case 9:
                path.mkdir(parents=True)
            case 10:
                path.chmod(dice.choice((0o700, 0o750, 0o755)), follow_symlinks=True)
            case _ if path not in (other, *other.parents):
                shutil.copytree(path, other, symlinks=True)
            case _:
                pass


@pytest.mark.parametrize("seed", range(12))
def test_every_batch_is_taken_back_and_forth(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    keeping = Keeping(tmp_path)
    for _ in range(30):
        change(keeping.root, dice)
    keeping.scan()
    states = [seen(keeping.root)]
    made = []
    for _ in range(12):
        opened = keeping.kept.before(keeping.call(), None)
        for _ in range(dice.randint(1, 25)):
            change(keeping.root, dice)
        made.append(keeping.kept.after(opened))
        states.append(seen(keeping.root))
        done = keeping.undo(made[-1])
        assert not done.failed
        assert seen(keeping.root) == states[-2]
        if done.checkpoint is not None:
            assert not keeping.undo(done.checkpoint).failed
        assert seen(keeping.root) == states[-1]
    plan = keeping.plan(*made)
    assert not plan.conflicts
    done = keeping.apply(plan)
    assert not done.failed
    assert seen(keeping.root) == states[0]
    keeping.kept.close()
