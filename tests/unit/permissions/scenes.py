"""Reads the case files below `cases/`: scenes with what was planted in a project, and the verdict for each command.

`## ` opens a scene, `@ ` prepares it, every other line is `verdict command`. Verdicts may be joined with `/`; `reads`
is an allow that was proven to only read. `⏎` is a line break, `⟪1b⟫` a character by its number, `⟦text⟧×9` a repeat.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clew.permissions.access import Mode, ShellAccess, Verdict
from clew.permissions.policy import Policy, judge, make_policy
from clew.permissions.rules import Rule, parse_rule
from unit.permissions.world import World

CASES = Path(__file__).parent / "cases"
_REPEAT = re.compile("⟦(.*?)⟧×([0-9]+)", re.DOTALL)
_NUMBERED = re.compile("⟪([0-9a-f]+)⟫")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
GIT_ENV = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@host.example",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@host.example",
}


class Case(NamedTuple):
    """One command with the verdicts that are right for it."""

    accepted: tuple[str, ...]
    command: str


class Scene:
    """What was planted, who looks at it, and the commands."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.steps: list[str] = []
        self.cases: list[Case] = []
        self.mode: Mode = "default"
        self.rules: list[Rule] = []
        self.trusted = True
        self.sandboxed = False
        self.leaves = False

    def take(self, step: str) -> None:
        word, _, rest = step.partition(" ")
        if word == "mode":
            self.mode = rest  # pyright: ignore[reportAttributeAccessIssue] (a mode's name from the file)
        elif word in ("allow", "ask", "deny"):
            self.rules.append(parse_rule(rest, word))
        elif word in ("untrusted", "sandboxed", "leaves"):
            self.trusted = self.trusted and word != "untrusted"
            self.sandboxed = self.sandboxed or word == "sandboxed"
            self.leaves = self.leaves or word == "leaves"
        else:
            self.steps.append(step)

    def policy(self, world: World) -> Policy:
        return make_policy(
            root=str(world.workspace),
            home=str(world.home),
            clew_home=str(world.clew_home),
            mode=self.mode,
            rules=tuple(self.rules),
            trusted=self.trusted,
        )

    def judge(self, world: World, command: str) -> Verdict:
        access = ShellAccess(
            command=command, cwd=str(world.workspace), sandboxed=self.sandboxed, leaves_sandbox=self.leaves
        )
        return judge(access, self.policy(world))

    def wrong(self, world: World) -> list[str]:
        """The commands that got another verdict, with the reason that was given."""
        out: list[str] = []
        for case in self.cases:
            verdict = self.judge(world, written_out(world.fill(case.command)))
            if not is_right(verdict, case.accepted):
                shown = case.command if len(case.command) < 90 else case.command[:90] + "..."
                out.append(f"[{self.title}] {verdict.decision}, not {'/'.join(case.accepted)}: {shown} ({verdict.why})")
        return out


def is_right(verdict: Verdict, accepted: tuple[str, ...]) -> bool:
    if "reads" in accepted and verdict.decision == "allow" and verdict.reads_only:
        return True
    return verdict.decision in accepted


def scenes(name: str) -> list[Scene]:
    found: list[Scene] = []
    for line in (CASES / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            found.append(Scene(line[3:]))
        elif line.startswith("@ "):
            found[-1].take(line[2:])
        elif line:
            verdicts, _, command = line.partition(" ")
            found[-1].cases.append(Case(tuple(verdicts.split("/")), command))
    return found


def written_out(line: str) -> str:
    line = _REPEAT.sub(lambda found: found[1] * int(found[2]), line.replace("⏎", "\n"))
    return _NUMBERED.sub(lambda found: chr(int(found[1], 16)), line)


def prepare(scene: Scene, world: World) -> dict[str, str]:
    """Plant what the scene names; returns the environment it asks for."""
    env: dict[str, str] = {}
    for step in scene.steps:
        word, _, rest = step.partition(" ")
        rest = world.fill(rest)
        if word == "path":
            env["PATH"] = f"{world.workspace / rest}:{os.environ['PATH']}"
        else:
            _plant(word, rest, world)
    return env


def _plant(word: str, rest: str, world: World) -> None:
    base = world.workspace
    name, _, text = rest.partition(" ")
    text = re.sub(r"\\[nt\\]", lambda found: _ESCAPES[found[0]], text)
    path = base / name
    match word:
        case "git":
            shutil.rmtree(base / ".git")
            make_repository(base, "a.txt", "b.txt")
            (base / "a.txt").write_text("one\nchanged\n")
        case "config":
            written = re.sub(r"\\[nt\\]", lambda found: _ESCAPES[found[0]], rest)
            with (base / ".git" / "config").open("a") as file:
                file.write(written + "\n")
        case "write" | "exec" | "append":
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a" if word == "append" else "w") as file:
                file.write(text)
            path.chmod(0o755 if word == "exec" else path.stat().st_mode)
        case "mkdir":
            path.mkdir(parents=True, exist_ok=True)
        case "link":
            path.symlink_to(text)
        case "copy":
            shutil.copytree(path, base / text)
        case "move":
            path.rename(base / text)
        case "nested" | "gitlink":
            path.mkdir()
            (path / "f.txt").write_text("one\n")
            make_repository(path, "f.txt")
            if word == "gitlink":
                git(base, "add", name)
        case "index":
            blob = subprocess.run(
                ["git", "hash-object", "-w", "a.txt"], cwd=base, env=GIT_ENV, capture_output=True, check=True
            ).stdout.decode()
            entry = f"100644 {blob.strip()}\t{rest}"
            subprocess.run(
                ["git", "update-index", "--index-info"], cwd=base, env=GIT_ENV, input=entry.encode(), check=True
            )
        case "many":
            path.parent.mkdir(parents=True, exist_ok=True)
            for number in range(int(text)):
                path.with_name(f"{path.name}{number}").write_text("")
        case "deep":
            _dig(path, int(text))
        case "chain":
            for number in range(int(text)):
                (base / f"{name}{number}").symlink_to(f"{name}{number + 1}")
        case _:
            raise ValueError(f"unknown step {word}")


def _dig(path: Path, depth: int) -> None:
    """A deep tree, made step by step because its path is too long to be named."""
    path.mkdir()
    here = os.open(path, os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def make_repository(place: Path, *tracked: str) -> None:
    git(place, "init", "-q", "-b", "main")
    git(place, "add", *tracked)
    git(place, "commit", "-q", "-m", "first")


def git(place: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=place, env=GIT_ENV, check=True, capture_output=True)


def titled(found: list[Scene]) -> Iterator[str]:
    return (scene.title.replace(" ", "-") for scene in found)
