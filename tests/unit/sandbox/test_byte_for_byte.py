"""After harmless confined commands, what they did not mean to change in the user's git directories is the same.

The repository has what people have: a submodule, linked worktrees, an unfinished rebase, a stash, hooks, attributes, a
clone that borrows its objects. `CLEW_FUZZ_GIT_BYTES=200` plays more commands."""

import hashlib
import os
import random
import re
import stat

import pytest

from unit.sandbox.test_git_of_the_user import settle_in, user_git
from unit.sandbox.world import World, git

COUNT = int(os.environ.get("CLEW_FUZZ_GIT_BYTES", "24"))
INDEX = r"index"
OBJECTS = r"objects/(?:[0-9a-f]{2}(?:/[0-9a-f]{38})?|pack/.*)"
HEAD = rf"{INDEX}|{OBJECTS}|refs/heads/.*|logs/.*|COMMIT_EDITMSG|HEAD|ORIG_HEAD"
TAG = rf"{OBJECTS}|refs/tags.*|packed-refs"
READS = (
    "git status", "git status -s", "git diff", "git diff --stat HEAD", "git log --oneline -3", "git stash list",
    "git show --stat HEAD", "git branch -a", "git worktree list", "git submodule status", "git blame README.md",
    "git rev-parse HEAD", "git ls-files | head", "git -C copy log --oneline", "git -C sub status", "git reflog -3",
    "git cat-file -p HEAD", "git describe --always", "git shortlog -s HEAD", "git config --list", "git fsck",
    "git grep -n a", "git check-attr -a README.md", "git stash show -p", "git rebase --show-current-patch | head -2",
    "git for-each-ref", "git count-objects -v", "git diff --cached", "git -C far status", "git -C near log -1",
    "git archive HEAD | tar t", "git rev-list --all --count", "git merge-base HEAD HEAD~1", "git ls-tree -r HEAD",
)  # fmt: skip
PLAIN = (
    "ls -la", "cat README.md", "find . -name '*.py' | wc -l", "grep -rn a src", "echo x >> src/seed", "rm -f src/x",
    "python3 -c 'print(1)'", "mkdir -p src/made; touch src/made/a", "cp README.md src/copy; rm src/copy", "false",
    "du -sh .git", "tar cf src/t.tar .git; rm src/t.tar", "cp -r .git src/g; rm -rf src/g", "wc -l README.md",
    "mv src/a.py src/b.py; mv src/b.py src/a.py", "sed -i s/a/b/ src/a.py", "ln -s README.md src/l; rm src/l",
)  # fmt: skip
WRITES = (
    ("git add src/a.py", rf"{INDEX}|{OBJECTS}"),
    ("git add -A src", rf"{INDEX}|{OBJECTS}"),
    ("git rm -q --cached src/seed; git add src/seed", rf"{INDEX}|{OBJECTS}"),
    ("git reset -q src", INDEX),
    ("git branch made; git branch -D made", rf"refs/heads|logs.*|packed-refs|{OBJECTS}"),
    ("git tag t1; git tag -d t1", TAG),
    ("git hash-object -w README.md", OBJECTS),
    ("git write-tree", OBJECTS),
    ("git stash create", rf"{OBJECTS}|{INDEX}"),
    ("git -C copy -c user.name=a -c user.email=a@b commit -q --allow-empty -m a", HEAD),
    ("git -C copy branch -f b1", HEAD),
    ("git -C copy checkout -q -B b2", HEAD),
    ("git -C copy tag -f -m t -a t2", TAG),
    ("git -C copy gc -q", rf"{HEAD}|packed-refs|info|objects/info/.*|gc\..*|refs.*"),
    ("git clone -q . src/clone; rm -rf src/clone", OBJECTS),
    ("git init -q src/fresh; rm -rf src/fresh", OBJECTS),
)  # fmt: skip


def settle(world: World) -> None:
    """The repository of somebody who is in the middle of things."""
    settle_in(world)
    ws = world.ws
    (ws / ".git" / "info" / "attributes").write_text("*.py diff=python\n")
    (ws / ".gitattributes").write_text("*.md text\n")
    for name in ("pre-commit", "post-checkout"):
        (ws / ".git" / "hooks" / name).write_text("#!/bin/sh\ntrue\n")
        (ws / ".git" / "hooks" / name).chmod(0o755)
    library = world.outside / "library"
    git("init", "-q", str(library), cwd=ws)
    (library / "lib.c").write_text("int a;\n")
    git("add", "-A", cwd=library)
    git("commit", "-qm", "lib", cwd=library)
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "sub", cwd=ws)
    git("add", ".gitattributes", cwd=ws)
    git("commit", "-qm", "sub", cwd=ws)
    git("clone", "-q", "-s", ".", "copy", cwd=ws)
    git("worktree", "add", "-q", "-b", "near", "near", cwd=ws)
    git("worktree", "add", "-q", "-b", "far", str(world.outside / "far"), cwd=ws)
    (ws / "far").symlink_to(world.outside / "far")
    (ws / ".git" / "info" / "exclude").write_text("copy\nnear\nfar\n.clew\n.github\npackage\n")
    (ws / "README.md").write_text("stashed\n")
    git("stash", "-q", cwd=ws)
    git("checkout", "-qb", "side", cwd=ws)
    (ws / "README.md").write_text("side\n")
    git("commit", "-qam", "side", cwd=ws)
    git("checkout", "-q", "master", cwd=ws)
    (ws / "README.md").write_text("main\n")
    git("commit", "-qam", "main", cwd=ws)
    user_git(world, "rebase", "master", "side", cwd=ws)
    assert (ws / ".git" / "rebase-merge" / "git-rebase-todo").exists()


def state(world: World) -> dict[str, str]:
    """Every entry of every git directory, with its kind, rights and content."""
    found: dict[str, str] = {}
    places = [world.ws / name / ".git" for name in (".", "package", "copy", "near", "sub")]
    places += [world.outside / "library" / ".git", world.outside / "far" / ".git"]
    for place in places:
        entries = [place, *place.rglob("*")] if place.is_dir() else [place]
        for path in entries:
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
            name = f"{place.parent.name}:{path.relative_to(place)}"
            found[name] = f"{stat.filemode(status.st_mode)} {content}"
    return found


def staged(world: World) -> list[str]:
    """What each index holds: a look at the files renews the times in it."""
    places = (world.ws, world.ws / "copy", world.ws / "near", world.ws / "sub", world.ws / "package")
    return [user_git(world, "ls-files", "--stage", cwd=place) for place in places]


@pytest.mark.parametrize("part", range(4))
async def test_what_no_command_meant_to_change_is_the_same(world: World, part: int):
    if world.kind == "landlock":
        pytest.skip("git directories cannot be written in this kind")
    settle(world)
    chance = random.Random(f"{part}-{world.kind}")
    for _ in range(COUNT // 4):
        command, allowed = chance.choice((*((line, "") for line in (*READS, *PLAIN)), *WRITES))
        before, names = state(world), staged(world)
        result = await world.run(command)
        after = state(world)
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        free = f"{allowed}|{INDEX}|modules/sub/index" if "git" in command else allowed
        wrong = {name for name in changed if not free or not re.fullmatch(free, name.partition(":")[2])}
        lost = {name for name in before.keys() - after.keys() if "/objects/" in name and "gc" not in command}
        assert (wrong, lost) == (set(), set()), (command, result.text)
        if INDEX not in allowed:
            assert staged(world) == names, command
        assert "took" not in result.text, (command, result.text)
        assert "Not all that" not in result.text, (command, result.text)
