"""A workspace with everything a project can hold, kept by real parts, changed by a real shell."""

import os
import stat
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest

from clew.protocol.ids import CallId, EntryId, SessionId
from clew.undo.limits import UndoLimits
from clew.undo.plan import RestorePlan, plan_restore
from clew.undo.restore import Restored, apply_plan
from clew.undo.state import ChangingCall, Checkpoint, path_text
from clew.undo.workspace import UndoWorkspace

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/proc/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C.UTF-8",
}
Seen = dict[str, tuple[str, int, bytes]]


def seen(root: Path) -> Seen:
    """Everything below a directory but `.git`, as a person could check it: kind, mode, content."""
    found: Seen = {}
    for base, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*folders, *files):
            path = os.path.join(base, name)
            status = os.lstat(path)
            key = path[len(str(root)) + 1 :]
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[key] = ("link", 0, os.fsencode(os.readlink(path)))
            elif stat.S_ISDIR(status.st_mode):
                found[key] = ("directory", mode, b"")
            elif stat.S_ISREG(status.st_mode):
                try:
                    with open(path, "rb") as file:
                        found[key] = ("file", mode, file.read())
                except PermissionError:  # not as root
                    found[key] = ("file", mode, b"")
            else:
                found[key] = ("special", mode, b"")
    return found


class Keeping:
    """A kept workspace and the calls of one session in it."""

    def __init__(self, tmp_path: Path, *, limits: UndoLimits | None = None, name: str = "work") -> None:
        self.home = tmp_path / "home"
        self.root = tmp_path / name
        self.root.mkdir(exist_ok=True)
        self.transcript = self.home / "projects" / "p" / "s1.jsonl"
        self.limits = limits or UndoLimits()
        self.turn = 0
        self.said = ""
        self.kept = self.open()

    def open(self) -> UndoWorkspace:
        return UndoWorkspace(home=self.home, roots=[self.root], transcript=self.transcript, limits=self.limits)

    def scan(self) -> "Keeping":
        self.said = self.kept.first_scan(lambda files, size: None)
        return self

    def call(self, tool: str = "Bash") -> ChangingCall:
        self.turn += 1
        return ChangingCall(
            session=SessionId("s1"),
            turn=self.turn,
            call=CallId(f"c{self.turn}"),
            entry=EntryId(f"e{self.turn}"),
            tool=tool,
        )

    def shell(self, command: str, *, check: bool = True) -> Checkpoint:
        opened = self.kept.before(self.call(), None)
        subprocess.run(["bash", "-c", command], cwd=self.root, env=GIT_ENV, check=check, capture_output=True)
        return self.kept.after(opened)

    def write(self, path: Path, text: str) -> Checkpoint:
        """As the Write tool does it."""
        opened = self.kept.before(self.call("Write"), [str(path)])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self.kept.after(opened)

    def plan(self, *checkpoints: Checkpoint) -> RestorePlan:
        return plan_restore(checkpoints, self.kept.store, [str(self.root)])

    def apply(
        self,
        plan: RestorePlan,
        *,
        only: Collection[Path] | None = None,
        force: bool = False,
        consent: Collection[Path] = (),
    ) -> Restored:
        done = apply_plan(
            plan,
            store=self.kept.store,
            journal=self.kept.journal,
            call=self.call("rewind"),
            only=None if only is None else [path_text(str(path)) for path in only],
            consent=[path_text(str(path)) for path in consent],
            force=force,
        )
        self.kept.settle()
        return done

    def undo(self, *checkpoints: Checkpoint, force: bool = False) -> Restored:
        return self.apply(self.plan(*checkpoints), force=force)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.root, env=GIT_ENV, check=True, capture_output=True)
        return done.stdout.decode().strip()


def fill(root: Path) -> None:
    """Tracked, changed, untracked and ignored files, links, modes, odd names, empty directories."""
    (root / "src" / "deep" / "er").mkdir(parents=True)
    (root / "empty" / "nested").mkdir(parents=True)
    (root / "build").mkdir()
    (root / ".gitignore").write_text("build/\n*.log\n")
    for number in range(250):
        (root / "src" / f"m{number:03}.py").write_text(f"value = {number}\n" * 5)
    (root / "src" / "deep" / "er" / "bottom.txt").write_text("bottom\n")
    (root / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (root / "run.sh").chmod(0o750)
    (root / "data.bin").write_bytes(bytes(range(256)) * 40)
    (root / "link").symlink_to("src/m001.py")
    (root / "dangling").symlink_to("no/such/place")
    (root / "folder-link").symlink_to("src/deep")
    (root / "name with\nnewline").write_text("n\n")
    with open(os.fsencode(root) + b"/bad-\xff-name", "wb") as file:
        file.write(b"bytes\n")
    (root / "100%25").write_text("percent\n")


@pytest.fixture
def keeping(tmp_path: Path):
    """A repository with uncommitted work, scanned."""
    made = Keeping(tmp_path)
    fill(made.root)
    made.git("init", "-q", "-b", "main")
    made.git("add", "-A")
    made.git("commit", "-qm", "one")
    (made.root / "src" / "m000.py").write_text("uncommitted = True\n")
    made.git("commit", "-qam", "two")
    (made.root / "src" / "m002.py").write_text("not committed\n")
    (made.root / "untracked.txt").write_text("untracked\n")
    (made.root / "build" / "out.o").write_bytes(b"\x7fELF" * 10)
    (made.root / "debug.log").write_text("log\n")
    made.scan()
    yield made
    made.kept.close()
