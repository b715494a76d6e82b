"""Commands that destroy: everything within the scope comes back, and the restore itself can be taken back."""

import os

import pytest

from clew.undo.journal import FileJournal
from unit.undo.conftest import Keeping, seen

REWRITE = """
for i in $(seq -w 0 199); do printf 'rewritten %s\\n' $i > src/m$i.py; done
"""
COMMANDS = {
    "reset": "git reset -q --hard HEAD",
    "reset past a commit": "git reset -q --hard HEAD~1",
    "checkout file": "git checkout -q -- src/m002.py",
    "restore all": "git restore .",
    "stash everything": "git stash -q -u -a",
    "clean": "git clean -qfdx",
    "clean all but tracked": "git clean -qfd",
    "git rm": "git rm -rqf src",
    "checkout other state": "git checkout -q HEAD~1 -f",
    "find delete": "find src -type f -name '*.py' -delete",
    "find delete all": "find . -mindepth 1 -not -path './.git*' -delete",
    "rm -rf dir": "rm -rf src",
    "rm -rf all": "rm -rf -- * .gitignore",
    "rm odd names": "rm -f name* bad* 100*",
    "rm empty directory": "rmdir empty/nested empty",
    "mv file": "mv data.bin moved.bin",
    "mv over": "mv data.bin run.sh",
    "mv directory": "mv src sources",
    "mv into": "mv src build/",
    "mv swap": "mv src tmp && mv empty src && mv tmp empty",
    "truncate": "truncate -s 0 data.bin src/*.py",
    "truncate longer": "truncate -s 100000 data.bin",
    "redirect": "echo gone > src/m001.py; : > untracked.txt",
    "append": "echo more >> src/m001.py",
    "sed -i": "sed -i 's/value/worth/' src/*.py",
    "sed -i through link": "sed -i 's/value/worth/' link",
    "write through link": "echo through > link",
    "perl in place": "perl -pi -e 's/value/worth/' src/m01*.py",
    "script rewrites 200 files": REWRITE,
    "python rewrites": "python3 -c \"import pathlib\nfor p in pathlib.Path('src').glob('*.py'): p.write_text('x')\"",
    "chmod": "chmod -R 700 src; chmod 600 run.sh",
    "chmod directory": "chmod 500 src/deep",
    "chmod away": "chmod 000 src/deep build run.sh",
    "symlink swap": "ln -sfn src/m003.py link && ln -sfn / folder-link",
    "symlink becomes file": "rm link && echo file > link",
    "symlink becomes directory": "rm folder-link && mkdir folder-link && echo x > folder-link/x",
    "file becomes symlink": "rm data.bin && ln -s /etc/passwd data.bin",
    "directory becomes file": "rm -rf src && echo file > src",
    "directory becomes symlink": "rm -rf src && ln -s /tmp src",
    "file becomes directory": "rm data.bin && mkdir data.bin && echo x > data.bin/x",
    "nested swap": "rm -rf src/deep && echo x > src/deep && mkdir -p link.d/a/b/c && touch link.d/a/b/c/f",
    "create": "mkdir -p new/a/b && echo 1 > new/a/b/f && echo 2 > top && ln -s top toplink",
    "create many": "mkdir many && for i in $(seq 500); do echo $i > many/$i; done",
    "create and delete": "mkdir gone && echo x > gone/x && rm -rf gone && rm run.sh",
    "replace by same content": "cp data.bin x && mv x data.bin && chmod 600 data.bin",
    "dd": "dd if=/dev/zero of=data.bin bs=100 count=1 conv=notrunc",
    "tar over": "tar cf t.tar src && rm -rf src && mkdir src && tar xf t.tar -C src",
    "odd names written": "printf x > $'new\\nline' && printf y > $'bad-\\xff-name' && printf z > 100%25",
    "times set back": "echo other > untracked.txt && touch -d '2001-01-01' untracked.txt",
    "ignored files": "rm -rf build debug.log",
    "background child": "(sleep 0.05; echo late > src/m009.py) & wait",
    "copy over": "cp -f src/m001.py src/m002.py && cp -rT src build",
    "rsync-like": "rm -rf build && cp -a src build && rm -rf src/deep",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_everything_within_the_scope_comes_back_and_goes_again(keeping: Keeping, command: str) -> None:
    before = seen(keeping.root)
    made = keeping.shell(command)
    after = seen(keeping.root)
    assert after != before, "the command must do something"
    plan = keeping.plan(made)
    assert not plan.conflicts
    assert not plan.impossible
    done = keeping.apply(plan)
    assert not done.failed
    assert not done.skipped
    assert seen(keeping.root) == before
    assert done.checkpoint is not None
    again = keeping.undo(done.checkpoint)
    assert not again.failed
    assert seen(keeping.root) == after
    assert not [name for name in os.listdir(keeping.root) if "clew-undo" in name]


def test_a_chain_of_commands_is_taken_back_in_one_go(keeping: Keeping) -> None:
    before = seen(keeping.root)
    made = [
        keeping.shell(command)
        for command in ("rm -rf src", "mkdir src && echo 1 > src/m001.py", "mv src x", "rm -rf x")
    ]
    done = keeping.undo(*made)
    assert not done.failed
    assert seen(keeping.root) == before


def test_a_step_in_the_middle_can_be_taken_back_alone(keeping: Keeping) -> None:
    first = keeping.shell("echo 1 > src/m001.py")
    keeping.shell("echo 2 > src/m003.py")
    done = keeping.undo(first)
    assert [os.path.basename(path) for path in done.done] == ["m001.py"]
    assert (keeping.root / "src" / "m003.py").read_text() == "2\n"


def test_history_inside_git_is_told_and_files_are_restored(keeping: Keeping) -> None:
    old = keeping.git("rev-parse", "HEAD")
    keeping.git("branch", "side")
    side = keeping.git("rev-parse", "side")
    made = keeping.shell("git reset -q --hard HEAD~1; git branch -qD side")
    told = "\n".join(made.warnings)
    assert f"HEAD moved from main {old[:12]}" in told
    assert f"branch side was deleted; `git branch side {side[:12]}`" in told
    keeping.undo(made)
    assert keeping.git("rev-parse", "HEAD") != old
    assert (keeping.root / "src" / "m000.py").read_text() == "uncommitted = True\n"


def test_a_dropped_stash_is_told_with_its_id(keeping: Keeping) -> None:
    keeping.shell("git stash -q")
    stash = keeping.git("rev-parse", "stash@{0}")
    made = keeping.shell("git stash drop -q")
    assert any(f"git stash store {stash[:12]}" in line for line in made.warnings)


def test_a_packed_branch_and_a_removed_repository_are_told(keeping: Keeping) -> None:
    keeping.git("branch", "old")
    keeping.git("pack-refs", "--all")
    assert any("branch old was deleted" in line for line in keeping.shell("git branch -qD old").warnings)
    assert any("history" in line for line in keeping.shell("rm -rf .git").warnings)


def test_a_nested_repository_that_goes_is_told(keeping: Keeping) -> None:
    keeping.shell("git init -q vendor && echo x > vendor/x && git -C vendor add x && git -C vendor commit -qm x")
    made = keeping.shell("rm -rf vendor")
    assert any("vendor/.git" in line and "not kept" in line for line in made.warnings)
    keeping.undo(made)
    assert (keeping.root / "vendor" / "x").read_text() == "x\n"


def test_the_journal_leads_back_in_a_later_session(keeping: Keeping) -> None:
    before = seen(keeping.root)
    keeping.shell("rm -rf src && sed -i s/a/b/ untracked.txt")
    keeping.kept.close()
    keeping.kept = keeping.open()
    journal = FileJournal(keeping.transcript)
    done = keeping.undo(*journal.checkpoints)
    assert not done.failed
    assert seen(keeping.root) == before


def test_without_kernel_notifications_the_walk_finds_the_same(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeping.kept.close()

    def refuse(*_: object) -> None:
        raise OSError("no inotify here")

    monkeypatch.setattr("clew.undo.watches.FileEvents", refuse)
    keeping.kept = keeping.open()
    keeping.scan()
    before = seen(keeping.root)
    made = keeping.shell("rm -rf src/deep && mv src s2 && echo x > s2/m001.py && chmod 700 run.sh")
    keeping.undo(made)
    assert seen(keeping.root) == before
