"""After a confined command the user's own git, at every depth, starts nothing that the command planted."""

import os
import subprocess
from pathlib import Path

import pytest

from unit.sandbox.world import KINDS, World, git

EVIL = 'printf \'#!/bin/sh\\ntouch "%s/ran"\\n\' "$OUT" > evil.sh; chmod +x evil.sh; E="$PWD/evil.sh"\n'
FSMONITOR = 'config core.fsmonitor "$E"'
STEPS = (
    ("status",),
    ("diff",),
    ("add", "-A"),
    ("commit", "-qam", "x", "--allow-empty"),
    ("stash",),
    ("rebase", "--continue"),
    ("status",),
)

PLANTED = {
    "a nested repository, in the index": f"{EVIL}git init -q vend; "
    f"git -C vend -c user.name=a -c user.email=a@b commit -q"
    f" --allow-empty -m a; git -C vend {FSMONITOR}; git add vend",
    "made by hand": f"{EVIL}mkdir -p vend/.git/objects vend/.git/refs; echo ref: refs/heads/x > vend/.git/HEAD\n"
    'printf "[core]\\n\\tfsmonitor = %s\\n" "$E" > vend/.git/config',
    "moved into place": f"{EVIL}git init -q x; git -C x {FSMONITOR}; mkdir vend; mv x/.git vend/held; "
    f"mv vend/held vend/.git",
    "the directory above moved": f"{EVIL}mkdir -p a/b; git init -q a/b; git -C a/b {FSMONITOR}; mv a c",
    "exchanged": f"{EVIL}git init -q x; git -C x {FSMONITOR}; mkdir -p vend/.git\n"
    "python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'x', -100, b'vend', 2)\"",
    "bare beside files": f"{EVIL}mkdir docs; cd docs; git init -q --bare; git {FSMONITOR}; git config core.bare false\n"
    'git config core.worktree "$PWD"',
    "bare in pieces": f"{EVIL}git init -q --bare x; git -C x {FSMONITOR}; git -C x config core.bare false\n"
    'git -C x config core.worktree "$PWD"; mkdir docs; for n in config refs objects HEAD; do mv x/$n docs/$n; done',
    "hooks": f'{EVIL}git init -q vend; for h in pre-commit post-commit post-index-change; '
    f'do cp "$E" vend/.git/hooks/$h; done',
    "hooks by a template": f'{EVIL}mkdir -p t/hooks; cp "$E" t/hooks/pre-commit; git init -q --template="$PWD/t" vend',
    "hooks elsewhere": f'{EVIL}mkdir h; cp "$E" h/pre-commit; git init -q vend; '
    f'git -C vend config core.hooksPath "$PWD/h"',
    "a pointer": f"{EVIL}git init -q x; git -C x {FSMONITOR}; mv x/.git held; mkdir vend; "
    f"echo 'gitdir: ../held' > vend/.git",
    "a pointer made by git": f"{EVIL}git init -q --separate-git-dir=held vend; git --git-dir=held {FSMONITOR}",
    "a link": f"{EVIL}git init -q x; git -C x {FSMONITOR}; mv x/.git held; mkdir vend; ln -s ../held vend/.git",
    "settings of a work tree": f"{EVIL}git init -q vend; git -C vend config extensions.worktreeConfig true\n"
    f"git -C vend config --worktree core.fsmonitor \"$E\"",
    "included settings": f"{EVIL}git init -q vend; printf '[core]\\n\\tfsmonitor = %s\\n' \"$E\" > inc\n"
    'git -C vend config include.path "$PWD/inc"',
    "among packages": f"{EVIL}mkdir -p node_modules/p; git init -q node_modules/p; git -C node_modules/p {FSMONITOR}",
    "a filter of its own": f"{EVIL}git init -q vend; git -C vend config filter.x.clean \"$E\"\n"
    "echo '* filter=x' > vend/.gitattributes; echo a > vend/a",
    "a clone with a setting": f"{EVIL}git clone -q . vend; git -C vend config core.pager \"$E\"; "
    f"git -C vend {FSMONITOR}",
    "a rebase that runs": f"{EVIL}H=$(git rev-parse HEAD); mkdir .git/rebase-merge; cd .git/rebase-merge\n"
    "echo refs/heads/master > head-name; echo $H | tee onto > orig-head; touch interactive\n"
    'echo "exec $E" > git-rebase-todo',
    "a rebase that stopped": f'{EVIL}GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i --exec "$E" --root',
    "a rebase of a nested one": f"{EVIL}git init -q vend; cd vend; git config user.email a@b; git config user.name a\n"
    'git commit -q --allow-empty -m a; H=$(git rev-parse HEAD); mkdir .git/rebase-merge; cd .git/rebase-merge; '
    'echo refs/heads/master > head-name\n'
    'echo $H | tee onto > orig-head; echo "x $E" > git-rebase-todo; touch interactive',
    "a name with a line break": f"{EVIL}mkdir $'a\\nb'; git init -q $'a\\nb'; git -C $'a\\nb' {FSMONITOR}",
    "inside git's own directory": f"{EVIL}mkdir .git/x; git init -q .git/x; git -C .git/x {FSMONITOR}",
    "modules of its own": f"{EVIL}git init -q vend; git init -q vend/sub; git -C vend/sub {FSMONITOR}\n"
    "mkdir -p vend/.git/modules; mv vend/sub/.git vend/.git/modules/sub; "
    "echo 'gitdir: ../.git/modules/sub' > vend/sub/.git",
}  # fmt: skip


def user_git(world: World, *words: str, cwd: Path) -> str:
    """As in the user's own shell."""
    env = {"PATH": os.environ["PATH"], "HOME": str(world.home), "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(["git", *words], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def settle_in(world: World) -> None:
    (world.home / ".gitconfig").write_text("[user]\n\tname = u\n\temail = u@v\n")


def ran(world: World) -> list[str]:
    return sorted(path.name for path in world.outside.iterdir() if path.name != "old")


def look_everywhere(world: World) -> None:
    """The user's git in every directory, the deepest ones first, and then at the top once more."""
    folders = [Path(folder) for folder, _, _ in os.walk(world.ws)]
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        inner = ".git" in folder.relative_to(world.ws).parts
        for words in STEPS[:1] if inner else STEPS:
            if folder.is_dir():
                user_git(world, *words, cwd=folder)


@pytest.mark.parametrize("attack", PLANTED, ids=lambda name: name.replace(" ", "-"))
async def test_nothing_planted_is_started(world: World, attack: str):
    settle_in(world)
    await world.run(PLANTED[attack])
    look_everywhere(world)
    assert ran(world) == []


def test_each_attack_works_without_a_sandbox(tmp_path: Path, pristine: Path):
    """Else the table would prove nothing. A few need what only a commit of the user's starts."""
    failed: list[str] = []
    for number, (name, command) in enumerate(PLANTED.items()):
        top = tmp_path / str(number)
        top.mkdir()
        world = World(top, sorted(KINDS)[0] if KINDS else "none", pristine)
        settle_in(world)
        env = {"PATH": os.environ["PATH"], "HOME": str(world.home), "OUT": str(world.outside), "GIT_EDITOR": "true"}
        subprocess.run(["bash", "-c", command], cwd=world.ws, env=env, capture_output=True, check=False, timeout=60)
        for leftover in world.outside.glob("ran"):
            leftover.unlink()  # what the command itself started
        look_everywhere(world)
        if not ran(world):
            failed.append(name)
    assert failed == []


async def test_it_is_told_and_kept(world: World):
    settle_in(world)
    result = await world.run(PLANTED["a nested repository, in the index"])
    if world.kind == "landlock":
        assert not (world.ws / "vend").exists(), "new names at the top cannot be made there"
        return
    assert "took it away: vend/.git/config (it sets core.fsmonitor; kept as " in result.text
    kept = list((world.ws.parent / "taken").iterdir())
    assert len(kept) == 1
    assert "fsmonitor" in kept[0].read_text()
    assert (world.ws / "vend" / ".git" / "HEAD").exists(), "only what git would obey is taken"


async def test_honest_work_goes_on(world: World):
    if world.kind == "landlock":
        pytest.skip("new names at the top cannot be made in this kind")
    settle_in(world)
    result = await world.run(
        "git clone -q . copy && cd copy && git config user.email a@b && git config user.name a\n"
        "echo b > b && git add b\n"
        "git commit -qm b && cd .. && git init -q fresh && git -C fresh remote add origin https://example.org/x.git"
    )
    assert not result.is_error, result.text
    assert "took it away" not in result.text
    assert "user@" not in user_git(world, "-C", "copy", "log", "-1", "--format=%ae", cwd=world.ws)
    assert "example.org" in user_git(world, "-C", "fresh", "remote", "-v", cwd=world.ws)


async def test_what_was_there_before_stays_as_it_is(world: World):
    """A nested repository with a hook, one among packages, a bare one and one behind a pointer are the user's own; a
    command that names git cannot change what they make git do."""
    settle_in(world)
    places: list[Path] = []
    for name in ("own", "node_modules/dep", "vendor/lib"):
        (world.ws / name).mkdir(parents=True)
        git("init", "-q", ".", cwd=world.ws / name)
        places.append(world.ws / name / ".git")
    git("init", "-q", "--bare", "fixture.git", cwd=world.ws)
    git("init", "-q", "--separate-git-dir", "held", "far", cwd=world.ws)
    places += [world.ws / "fixture.git", world.ws / "held"]
    for place in places:
        (place / "hooks").mkdir(exist_ok=True)
        (place / "hooks" / "pre-commit").write_text("#!/bin/sh\ntrue\n")
    configs = {place: (place / "config").read_text() for place in places}
    lines = "; ".join(
        f"git --git-dir='{place}' config core.fsmonitor x; echo '[core]' >> '{place}/config'; "
        f"echo x > '{place}/hooks/post-commit'"
        for place in places
    )
    result = await world.run(f"git status\n{lines}; echo over")
    assert "over" in result.text
    assert {place: (place / "config").read_text() for place in places} == configs
    for place in places:
        assert (place / "hooks" / "pre-commit").exists()
        assert not (place / "hooks" / "post-commit").exists()


async def test_no_repository_is_made_in_the_background(world: World):
    if not KINDS[world.kind].guards:
        pytest.skip("in the background this kind shuts the top of the workspace instead")
    await world.run("git init -q src/vend; mkdir -p src/x/.git", background=True)
    for shell in world.session.shells.background.values():
        assert shell.task is not None
        await shell.task
    assert not (world.ws / "src" / "vend" / ".git").exists()
    assert not (world.ws / "src" / "x" / ".git").exists()


async def test_protected_names_do_not_enter_the_index_by_themselves(world: World):
    if world.kind == "landlock":
        pytest.skip("git directories cannot be written in this kind")
    settle_in(world)
    (world.ws / ".github" / "workflows" / "new.yml").write_text("on: pull_request\n")
    (world.ws / ".git" / "info" / "exclude").write_text("")
    git("add", ".github/workflows/ci.yml", cwd=world.ws)
    git("commit", "-qm", "ci", cwd=world.ws)
    (world.ws / ".github" / "workflows" / "ci.yml").write_text("on: edited by the user\n")
    git("add", ".github/workflows/ci.yml", cwd=world.ws)
    result = await world.run(
        "B=$(echo evil | git hash-object -w --stdin)\n"
        "for n in .vscode/tasks.json sub/.husky/pre-commit .gitattributes; "
        "do git update-index --add --cacheinfo 100755,$B,$n; done\n"
        "git add .github/workflows/new.yml src; git reset -q -- .github/workflows/ci.yml"
    )
    listed = user_git(world, "ls-files", cwd=world.ws).split()
    assert not {".vscode/tasks.json", "sub/.husky/pre-commit", ".gitattributes"} & set(listed)
    assert {".github/workflows/new.yml", ".github/workflows/ci.yml"} <= set(listed), "these are the user's files"
    assert ".vscode/tasks.json (it was in the index with a content that no file has)" in result.text
    assert ".github" not in result.text.rpartition("took it away")[2]


async def test_attributes_do_not_give_files_to_the_users_programs(world: World):
    settle_in(world)
    with (world.home / ".gitconfig").open("a") as file:
        file.write(f'[filter "mine"]\n\tclean = touch "{world.outside}/ran"; cat\n')
    await world.run("echo '* filter=mine' > src/.gitattributes; echo '*.py diff=python' > package/.gitattributes")
    user_git(world, "add", "-A", cwd=world.ws)
    assert ran(world) == []
    assert not (world.ws / "src" / ".gitattributes").exists()
    if world.kind != "landlock":
        assert (world.ws / "package" / ".gitattributes").exists()


async def test_a_rebase_of_the_users_own_goes_on(world: World):
    """Its todo list runs a program, as the user wanted before the command came."""
    if world.kind == "landlock":
        pytest.skip("git directories cannot be written in this kind")
    settle_in(world)
    state = world.ws / ".git" / "rebase-merge"
    state.mkdir()
    head = user_git(world, "rev-parse", "HEAD", cwd=world.ws)
    for name, text in {
        "head-name": "refs/heads/master\n", "onto": head, "orig-head": head, "interactive": "",
        "git-rebase-todo": "exec true\nexec make test\n",
    }.items():  # fmt: skip
        (state / name).write_text(text)
    await world.run("git status; sed -i 1d .git/rebase-merge/git-rebase-todo")
    assert (state / "git-rebase-todo").read_text() == "exec make test\n"
    await world.run("git status; echo 'exec evil' >> .git/rebase-merge/git-rebase-todo")
    assert not state.exists()
