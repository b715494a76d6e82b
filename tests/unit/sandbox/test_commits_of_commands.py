"""What a confined command writes into the history: the user's later checkout brings no protected name of it."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.system.sandbox import git_aftermath
from clew.system.sandbox.policy import Sandbox
from clew.system.sandbox.status import SandboxStatus
from unit.sandbox.test_git_of_the_user import settle_in, user_git
from unit.sandbox.world import KINDS, World, git

BLOB = "B=$(echo evil | git hash-object -w --stdin)\n"
COMMIT = (
    f"{BLOB}export GIT_INDEX_FILE=src/x; git read-tree HEAD; git update-index --add --cacheinfo 100755,$B,NAME\n"
    "T=$(git write-tree); rm src/x; unset GIT_INDEX_FILE\n"
    "C=$(git commit-tree -p HEAD -m planted $T)\n"
)
REBASE = (
    "H=$(git rev-parse HEAD); S=$(git rev-parse --short $C); mkdir .git/rebase-merge; cd .git/rebase-merge\n"
    "echo refs/heads/master > head-name; touch interactive\n"
)
PLANTED = {
    "the branch moves": f"{COMMIT}git update-ref HEAD $C",
    "reset": f"{COMMIT}git reset -q --soft $C",
    "by hand": f"{COMMIT}echo $C > .git/refs/heads/master",
    "a packed branch": f"{COMMIT}git update-ref HEAD $C; git pack-refs --all",
    "detached": f"{COMMIT}echo $C > .git/HEAD",
    "another branch": f"{COMMIT}git branch other $C",
    "another branch, checked out": f"{COMMIT}git branch other $C; git symbolic-ref HEAD refs/heads/other",
    "a tag": f"{COMMIT}git -c user.name=a -c user.email=a@b tag -a -m t v1 $C",
    "a branch of a remote": f"{COMMIT}git update-ref refs/remotes/origin/master $C",
    "a stash": f"{COMMIT}I=$(git commit-tree -p HEAD -m index HEAD^{{tree}})\n"
    "git stash store -q $(git commit-tree -p HEAD -p $I -m stash $T)",
    "below another commit": f"{COMMIT}D=$(git commit-tree -p $C -m over HEAD^{{tree}}); git update-ref HEAD $D",
    "the last place": f"{COMMIT}git update-ref ORIG_HEAD $C",
    "a pick": f"{COMMIT}{REBASE}echo $H | tee onto > orig-head; echo pick $S x > git-rebase-todo",
    "an abort": f"{COMMIT}{REBASE}echo $H > onto; echo $C > orig-head; echo noop > git-rebase-todo",
    "a pick without a rebase": f"{COMMIT}mkdir .git/sequencer; git rev-parse HEAD > .git/sequencer/head\n"
    "git rev-parse HEAD > .git/sequencer/abort-safety; printf 'pick HEAD x\\npick %s x\\n' $C > .git/sequencer/todo",
    "a replaced commit": f"{COMMIT}git replace HEAD $C",
}  # fmt: skip


@pytest.fixture
def settled(world: World) -> World:
    if world.kind == "landlock":
        pytest.skip("git directories cannot be written in this kind")
    settle_in(world)
    return world


NEXT = (
    ("checkout", "-f", "HEAD"), ("rebase", "--continue"), ("rebase", "--abort"), ("cherry-pick", "--continue"),
    ("reset", "--hard", "ORIG_HEAD"), ("reset", "--hard"), ("stash", "pop"), ("reset", "--hard"),
    ("checkout", "-f", "other"), ("checkout", "-f", "v1"), ("checkout", "-f", "master"), ("checkout", "-q", "HEAD~1"),
    ("checkout", "-f", "master"), ("merge", "origin/master"),
)  # fmt: skip
"""What a user may do next."""


def written(world: World) -> bool:
    """Whether the protected name lies in the work tree after any of it."""
    seen = False
    for words in NEXT:
        user_git(world, *words, cwd=world.ws)
        seen = seen or (world.ws / ".husky" / "pre-commit").exists()
    return seen


@pytest.mark.parametrize("attack", PLANTED, ids=lambda name: name.replace(" ", "-"))
async def test_no_commit_brings_a_protected_name(settled: World, attack: str):
    before = user_git(settled, "rev-parse", "HEAD", cwd=settled.ws)
    result = await settled.run(PLANTED[attack].replace("NAME", ".husky/pre-commit"))
    assert ".husky/pre-commit" in result.text or attack == "a replaced commit", result.text
    assert "took it away" in result.text
    assert user_git(settled, "rev-parse", "HEAD", cwd=settled.ws) == before
    assert not written(settled)
    assert user_git(settled, "symbolic-ref", "HEAD", cwd=settled.ws).strip() == "refs/heads/master"


async def test_it_is_told_which_commit_and_where_the_branch_is_now(settled: World):
    before = user_git(settled, "rev-parse", "HEAD", cwd=settled.ws).strip()
    result = await settled.run(
        f"{COMMIT}git update-ref HEAD $C; echo new $C; git fsck --unreachable".replace("NAME", "sub/.vscode/tasks.json")
    )
    new = result.text.partition("new ")[2].split()[0]
    assert f"refs/heads/master (it led to {new[:12]}, which brings sub/.vscode/tasks.json" in result.text
    assert f"it is at {before[:12]} again" in result.text
    assert "planted" in user_git(settled, "show", new, cwd=settled.ws), "the commit itself is kept"


async def test_patches_that_wait_bring_no_protected_name(settled: World):
    patch = (
        "From 0 Mon Sep 17 00:00:00 2001\\nFrom: a <a@b>\\nSubject: x\\n\\n---\\ndiff --git a/.husky/pre-commit "
        "b/.husky/pre-commit\\nnew file mode 100755\\n--- /dev/null\\n+++ b/.husky/pre-commit\\n@@ -0,0 +1 @@\\n+x\\n"
    )
    result = await settled.run(
        f"mkdir .git/rebase-apply; cd .git/rebase-apply; printf '{patch}' > 0001; echo 1 > next; echo 1 > last\n"
        "touch applying; git rev-parse HEAD > abort-safety; echo '' > utf8; echo t > threeway"
    )
    assert ".git/rebase-apply (its patch 0001 brings .husky/pre-commit" in result.text
    assert not (settled.ws / ".git" / "rebase-apply").exists()


async def test_what_the_user_has_may_be_committed(settled: World):
    """Files that lie in the work tree, entries that the user staged, and contents of the user's own history."""
    workflows = settled.ws / ".github" / "workflows"
    (settled.ws / ".git" / "info" / "exclude").write_text("")
    (settled.ws / "AGENTS.md").write_text("be kind\n")
    git("add", ".github/workflows/ci.yml", cwd=settled.ws)
    git("commit", "-qm", "ci", cwd=settled.ws)
    (workflows / "ci.yml").write_text("on: release\n")
    git("commit", "-qam", "ci again", cwd=settled.ws)
    git("checkout", "-qb", "side", "HEAD~1", cwd=settled.ws)
    (workflows / "side.yml").write_text("on: push\n")
    git("add", ".github/workflows/side.yml", cwd=settled.ws)
    git("commit", "-qm", "side", cwd=settled.ws)
    git("checkout", "-q", "master", cwd=settled.ws)
    (workflows / "new.yml").write_text("on: pull_request\n")
    (workflows / "staged.yml").write_text("on: staged\n")
    git("add", ".github/workflows/staged.yml", cwd=settled.ws)
    (workflows / "staged.yml").write_text("on: changed since\n")
    result = await settled.run(
        "git add .github/workflows/new.yml && git commit -qm new && git commit -q --amend -m newer && git tag v1\n"
        "git branch copy side && git update-ref refs/heads/old HEAD~2 && git stash store -q HEAD\n"
        "git update-ref refs/heads/revert $(git commit-tree -p HEAD -m revert 'HEAD~1^{tree}')\n"
        "git update-ref refs/heads/squash $(git commit-tree -p HEAD -m squash 'side^{tree}')\n"
        "git log --format=%s -1"
    )
    assert not result.is_error, result.text
    assert "took it away" not in result.text
    assert user_git(settled, "log", "-1", "--format=%s", cwd=settled.ws) == "newer\n"
    for name in ("copy", "old", "revert", "squash", "v1"):
        assert user_git(settled, "rev-parse", "--verify", "-q", name, cwd=settled.ws), name


async def test_an_index_of_another_form_is_looked_through(settled: World):
    for form in ("--split-index", "--index-version 4", "--no-split-index"):
        result = await settled.run(
            f"{BLOB}git update-index --add --cacheinfo 100755,$B,.husky/pre-commit && git update-index {form}"
        )
        assert ".husky/pre-commit (it was in the index with a content that no file has)" in result.text
        assert ".husky" not in user_git(settled, "ls-files", cwd=settled.ws)


async def test_an_index_that_cannot_be_read_is_told(settled: World):
    result = await settled.run("git status -s; echo nonsense > .git/index")
    assert ".git/index (it cannot be read, so nobody knows which names are in it)" in result.text


async def test_no_content_is_put_in_the_place_of_another(settled: World):
    """An object of git is named by its content, and a checkout does not compare them."""
    (settled.ws / ".gitattributes").write_text("*.py text\n")
    git("add", ".gitattributes", cwd=settled.ws)
    git("commit", "-qm", "attributes", cwd=settled.ws)
    write = (
        "import os, sys, zlib; path = sys.argv[1]; data = b'* filter=evil'\n"
        "os.chmod(path, 0o644); open(path, 'wb').write(zlib.compress(b'blob %d\\\\0' % len(data) + data))"
    )
    result = await settled.run(
        "O=$(git rev-parse HEAD:.gitattributes)\n"
        f'python3 -c "{write}" .git/objects/${{O:0:2}}/${{O:2}}; git rev-parse --git-dir'
    )
    assert "its content is not what its name says" in result.text, result.text
    (settled.ws / ".gitattributes").unlink()
    user_git(settled, "checkout", ".gitattributes", cwd=settled.ws)
    path = settled.ws / ".gitattributes"
    assert not path.exists() or path.read_text() == "*.py text\n"


LINKED = {
    "all branches": "mv .git/refs/heads src/heads; ln -s ../../src/heads .git/refs/heads",
    "one branch": "mv .git/refs/heads/master src/m; ln -s ../../../src/m .git/refs/heads/master",
    "all refs": "mv .git/refs src/refs; ln -s ../src/refs .git/refs",
    "HEAD": "mv .git/HEAD src/head; ln -s ../src/head .git/HEAD",
    "the index": "mv .git/index src/index; ln -s ../src/index .git/index",
    "packed refs": "git pack-refs --all; mv .git/packed-refs src/p; ln -s ../src/p .git/packed-refs",
}  # fmt: skip


@pytest.mark.parametrize("attack", LINKED, ids=lambda name: name.replace(" ", "-"))
async def test_nothing_of_git_leads_to_where_other_commands_can_write(settled: World, attack: str):
    """A command that does not name git cannot write `.git`, and nobody judges what it did to it."""
    before = user_git(settled, "for-each-ref", cwd=settled.ws), user_git(settled, "ls-files", "-s", cwd=settled.ws)
    result = await settled.run(f"git status -s; {LINKED[attack]}")
    assert "it leads elsewhere, where other commands could change it" in result.text, result.text
    await settled.run("for n in heads/master m refs/heads/master head index p; do echo evil > src/$n; done")
    after = user_git(settled, "for-each-ref", cwd=settled.ws), user_git(settled, "ls-files", "-s", cwd=settled.ws)
    assert after == before
    assert user_git(settled, "symbolic-ref", "HEAD", cwd=settled.ws) == "refs/heads/master\n"


async def test_no_pack_is_put_in_the_place_of_another(settled: World):
    git("gc", "-q", cwd=settled.ws)
    packs = settled.ws / ".git" / "objects" / "pack"
    name = next(packs.glob("*.pack")).name
    result = await settled.run(
        f"git status -s; chmod u+w .git/objects/pack/{name}; printf x | dd of=.git/objects/pack/{name} bs=1 seek=40 "
        "conv=notrunc 2>/dev/null"
    )
    assert f"{name} (its content is not what its name says" in result.text, result.text


def test_a_workspace_with_too_many_directories_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where no guard tells which directories became repositories, they are looked for, up to a limit."""
    monkeypatch.setattr(git_aftermath, "MAX_DIRECTORIES", 3)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    sandbox = Sandbox(lambda: SandboxStatus(kind="landlock", namespaces=True), home=str(tmp_path))
    aftermath = git_aftermath.GitAftermath(sandbox.plan((str(tmp_path),)))
    aftermath.judge([])
    sandbox.close()
    assert ["more than 3 directories" in found.why for found in aftermath.unclear] == [True]


def test_each_attack_works_without_a_sandbox(tmp_path: Path, pristine: Path):
    """Else the table would prove nothing."""
    failed: list[str] = []
    for number, (name, command) in enumerate(PLANTED.items()):
        top = tmp_path / str(number)
        top.mkdir()
        world = World(top, sorted(KINDS)[0] if KINDS else "none", pristine)
        settle_in(world)
        env = {"PATH": os.environ["PATH"], "HOME": str(world.home), "GIT_EDITOR": "true"}
        words = ["bash", "-c", command.replace("NAME", ".husky/pre-commit")]
        subprocess.run(words, cwd=world.ws, env=env, capture_output=True, check=False, timeout=60)
        if not written(world):
            failed.append(name)
    assert failed == []
