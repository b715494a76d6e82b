"""Where the tour takes place: a project and a home of their own, removed when it is over."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.cli.tour.model import tour_connector
from clew.cli.tour.script import TourScript
from clew.config.schema import Settings
from clew.host.request import SessionRequest
from clew.host.workspace import remember_trust
from clew.llm.model import Model
from clew.system.git.command import git_environment

PROJECT = "till"
GIT_S = 10
KEPT_VARIABLES = frozenset({"CLEW_SANDBOX"})
"""Settings of the environment that the tour obeys: without it nobody could see it where nothing confines commands."""


class TourPlace(Struct, frozen=True, kw_only=True):
    """A directory of our own with a project and a CLEW_HOME in it."""

    folder: Path
    env: Mapping[str, str]
    connect: Callable[[str], Model]
    flags: dict[str, Any]

    @property
    def project(self) -> Path:
        """What the agent works on."""
        return self.folder / PROJECT

    def request(self, *, resume: str = "") -> SessionRequest:
        """A session there: a new one, or the one that was left."""
        return SessionRequest(
            cwd=self.project, env=self.env, flags=self.flags, resume=resume or None, connect=self.connect
        )

    def remove(self) -> None:
        """Take all of it away; what cannot be is left."""
        shutil.rmtree(self.folder, ignore_errors=True)


def make_place(script: TourScript, env: Mapping[str, str], settings: Settings, *, pause_s: float) -> TourPlace:
    """The project on disk, trusted, in a repository of its own. Raises OSError."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="clew-tour-")))
    home, project = folder / "home", folder / PROJECT
    project.mkdir()
    for name, text in {**script.files, script.orders.path: script.orders.text}.items():
        (project / name).write_text(text.lstrip("\n"), encoding="utf-8")
    as_repository(project)
    remember_trust(home, project)
    kept = {name: value for name, value in env.items() if not name.startswith("CLEW_") or name in KEPT_VARIABLES}
    return TourPlace(
        folder=folder,
        env={**kept, "CLEW_HOME": str(home)},
        connect=tour_connector(script, python=interpreter(env), pause_s=pause_s),
        flags=flags(script, settings),
    )


def flags(script: TourScript, settings: Settings) -> dict[str, Any]:
    """The settings of the tour; how the screen looks and the terminal rings is the user's own."""
    screen = msgspec.to_builtins(settings.screen)
    looks = {f"screen.{name}": value for name, value in screen.items() if name in LOOKS}
    return {
        "model": script.model,
        "fastModel": "none",
        "permissionMode": "default",
        # Compaction is shown when the person asks for it, and has to be worth it in so short a session.
        "compaction.auto": False,
        "compaction.autoThreshold": 0.5,
        "notifications.terminal": settings.notifications.terminal,
        **looks,
    }


LOOKS = frozenset({"theme", "reducedMotion", "mouse", "vim"})


def interpreter(env: Mapping[str, str]) -> str:
    """The Python that runs the project's tests: by its common name where it has one."""
    return "python3" if shutil.which("python3", path=env.get("PATH")) else shlex.quote(sys.executable)


def as_repository(project: Path) -> None:
    """A first commit, so that branch and diff are there; without git the tour goes on without them."""
    if shutil.which("git") is None:
        return
    who = ("-c", "user.name=clew tour", "-c", "user.email=tour@localhost", "-c", "commit.gpgsign=false")
    for command in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        (*who, "commit", "-q", "--no-verify", "-m", "A small till"),
    ):
        subprocess.run(
            ["git", *command],
            cwd=project,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_S,
            check=False,
        )
