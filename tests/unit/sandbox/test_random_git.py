"""Random confined commands that plant things for git, in random order: the user's git starts none of them."""

import os
import random

import pytest

from unit.sandbox.test_git_of_the_user import EVIL, FSMONITOR, look_everywhere, ran, settle_in
from unit.sandbox.world import World

SEEDS = range(int(os.environ.get("CLEW_FUZZ_GIT", "6")))
PLACES = ("vend", "src/x", "node_modules/p", "vendor/q", "package", "docs", "a b", "src")
STEPS = (
    "mkdir -p '{p}'",
    "git init -q '{p}'",
    "git init -q --bare '{p}'",
    "git init -q --separate-git-dir='{q}.git' '{p}'",
    "git clone -q . '{p}'",
    "git -C '{p}' " + FSMONITOR,
    "git -C '{p}' config core.hooksPath \"$PWD/h\"",
    "git -C '{p}' config alias.st \"!$E\"",
    "git -C '{p}' config include.path \"$PWD/inc\"",
    "git -C '{p}' config extensions.worktreeConfig true; git -C '{p}' config --worktree core.fsmonitor \"$E\"",
    "cp \"$E\" '{p}/.git/hooks/pre-commit'",
    "cp \"$E\" '{p}/hooks/post-index-change'",
    "mkdir -p h; cp \"$E\" h/pre-commit; printf '[core]\\n\\tfsmonitor = %s\\n' \"$E\" > inc",
    "mkdir -p '{p}/.git/objects' '{p}/.git/refs'; echo ref: refs/heads/x > '{p}/.git/HEAD'; cp inc '{p}/.git/config'",
    "mkdir -p '{p}/objects' '{p}/refs'; echo ref: refs/heads/x > '{p}/HEAD'; cp inc '{p}/config'",
    "mv '{p}' '{q}'",
    "mv '{p}/.git' '{q}/.git'",
    "mv '{p}/.git' '{p}/held'; mv '{p}/held' '{q}/.git'",
    "cp -r '{p}' '{q}'",
    "cp -r .git '{p}/.git'; cp inc '{p}/.git/config'",
    "ln -s \"$PWD/{q}/.git\" '{p}/.git'",
    "echo \"gitdir: $PWD/{q}.git\" > '{p}/.git'",
    "echo '* filter=x' > '{p}/.gitattributes'",
    "git add '{p}'",
    "git add -A",
    "git commit -qam x --allow-empty",
    "git stash -q",
    "git worktree add -q '{p}'",
    "git submodule add -q ./package '{p}'",
    "mkdir -p .git/rebase-merge; (cd .git/rebase-merge; echo refs/heads/master > head-name; git rev-parse HEAD > onto;"
    " cp onto orig-head; echo \"exec $E\" >> git-rebase-todo; touch interactive)",
    "mkdir -p '{p}/.git/rebase-merge'; echo \"x $E\" > '{p}/.git/rebase-merge/git-rebase-todo'",
    "printf '[options]\\n\\tstrategy = evil\\n' > .git/sequencer/opts; mkdir -p .git/sequencer",
    "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i --exec \"$E\" --root",
    "rm -rf '{p}/.git'",
    "python3 -c \"import os; os.rename('{p}', '{q}')\"",
    "python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'{p}', -100, b'{q}', 2)\"",
    "export GIT_INDEX_FILE=i; git read-tree HEAD; B=$(git hash-object -w \"$E\")\n"
    "git update-index --add --cacheinfo 100755,$B,.husky/pre-commit\n"
    "C=$(git commit-tree -p HEAD -m x $(git write-tree)); unset GIT_INDEX_FILE",
    "git update-ref HEAD $C",
    "git branch -f '{p}' $C",
    "git stash store -q $C",
    "git replace -f HEAD $C",
    "echo pick $C >> .git/rebase-merge/git-rebase-todo",
    "git gc -q",
    "git pack-refs --all",
    "git update-index --split-index",
    "B=$(git hash-object -w \"$E\"); git update-index --add --cacheinfo 100755,$B,.husky/pre-commit",
)  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
async def test_random_commands_plant_nothing(world: World, seed: int):
    settle_in(world)
    chance = random.Random(f"{seed}-{world.kind}")
    for _ in range(chance.randint(1, 3)):
        steps = chance.choices(STEPS, k=chance.randint(4, 14))
        lines = [step.replace("{p}", chance.choice(PLACES)).replace("{q}", chance.choice(PLACES)) for step in steps]
        await world.run(f"{EVIL}{STEPS[12]}\n" + "\n".join(lines))
    for leftover in world.outside.glob("ran"):
        leftover.unlink()
    look_everywhere(world)
    assert ran(world) == []
    assert not (world.ws / ".husky" / "pre-commit").exists()
