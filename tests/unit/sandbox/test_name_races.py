"""C: a protected name does not exist for a moment, however a command tries, while the user's own git looks."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from clew.system.sandbox import kernel
from clew.system.sandbox.forbidden import forbidden
from clew.system.sandbox.watch import IN_CREATE, IN_MOVED_TO, events
from unit.sandbox.world import KINDS, World

PLANTER = Path(__file__).parent / "probes" / "planter.py"
ROUNDS = 12


class Observer:
    """Every name that comes into being in some directories, however short it lives: the kernel tells."""

    def __init__(self, places: dict[Path, str]) -> None:
        self.seen: list[str] = []
        self.all = 0
        self._inotify = kernel.inotify()
        self._places = {
            kernel.inotify_watch(self._inotify, str(path), IN_CREATE | IN_MOVED_TO): (path, prefix)
            for path, prefix in places.items()
        }

    def look(self) -> None:
        while True:
            try:
                data = os.read(self._inotify, 1 << 20)
            except BlockingIOError:
                return
            for number, _, name in events(data):
                self.all += 1
                path, prefix = self._places.get(number, (Path("queue overflow"), "?"))
                if prefix == "?" or forbidden(prefix, name, repository=True) or prefix == f"={name}":
                    self.seen.append(str(path / name))

    def close(self) -> None:
        os.close(self._inotify)


def furnish(ws: Path) -> dict[Path, str]:
    """A repository whose configuration names files of the workspace, there and missing."""
    for name in ("conf", "tools/hooks", ".yarn"):
        (ws / name).mkdir(parents=True)
    (ws / "conf" / "included").write_text("[alias]\n\tx = status\n")
    with (ws / ".git" / "config").open("a") as file:
        file.write(
            "[include]\n\tpath = ../conf/included\n\tpath = ../missing/included\n[core]\n\thooksPath = tools/hooks\n"
        )
    (ws / ".git" / "info" / "exclude").write_text("*\n")
    git = ws / ".git"
    return {
        ws: "", git: ".git", git / "objects": ".git/objects", git / "hooks": "=post-checkout",
        git / "info": "=attributes",
        ws / ".github": ".github", ws / ".yarn": ".yarn", ws / "conf": "=included", ws / "tools": "=hooks",
        ws / "tools" / "hooks": "=post-checkout",
    }  # fmt: skip


async def test_no_name_for_a_moment_while_a_real_git_runs(world: World):
    if not KINDS[world.kind].guards:
        pytest.skip("this kind promises to take names away, or makes no new names at all")
    observer = Observer(furnish(world.ws))
    (world.ws / "src" / "planter.py").write_text(PLANTER.read_text())
    running = asyncio.create_task(world.run(f"git status; python3 src/planter.py {ROUNDS}", timeout=300_000))
    env = {"PATH": os.environ["PATH"], "HOME": str(world.home), "GIT_OPTIONAL_LOCKS": "0"}
    ran = 0
    while not running.done():
        observer.look()
        for words in (["status", "--porcelain"], ["checkout", "-q", "HEAD", "--", "README.md"]):
            await asyncio.to_thread(subprocess.run, ["git", *words], cwd=world.ws, env=env, capture_output=True)
            ran += 1
    result = await running
    observer.look()
    observer.close()
    assert "TRIED" in result.text, result.text[-3000:]
    assert observer.seen == []
    assert observer.all > 100, "the observer saw honest names come and go"
    assert ran > 10
    assert not any("planted" in files for _, _, files in os.walk(world.ws))
    assert "commands cannot make them" in result.text


async def test_landlock_alone_makes_no_name_either(world: World):
    if world.kind != "landlock":
        pytest.skip("the other kinds have their own promise")
    observer = Observer(furnish(world.ws))
    (world.ws / "src" / "planter.py").write_text(PLANTER.read_text())
    result = await world.run("git status; python3 src/planter.py 2", timeout=300_000)
    observer.look()
    observer.close()
    assert "TRIED" in result.text, result.text[-3000:]
    assert observer.seen == []
