"""A workspace with everything that could be broken, and a way to run commands in each kind of sandbox."""

import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from clew.protocol.ids import CallId
from clew.system.process import ProcessStarter
from clew.system.sandbox.policy import Sandbox
from clew.system.sandbox.status import SandboxStatus, find_bash, find_bwrap
from clew.text.guarded_names import GIT_REDIRECTORS, protected_name
from clew.tools.base import ToolContext, ToolResult
from clew.tools.builtin.bash import Bash, BashParams
from clew.tools.session import ToolSession

TRY = """
import json, sys
from clew.system.sandbox import selftest
kind, namespaces, guards, bwrap, bash = sys.argv[1:]
checks = selftest.attempt(kind, namespaces=namespaces == "yes", guards=guards == "yes", bwrap=bwrap, bash=bash)
print(json.dumps(checks))
"""


def holds(status: SandboxStatus) -> bool:
    """Whether this kind works here: what is present decides what is tested."""
    words = [
        status.kind,
        "yes" if status.namespaces else "no",
        "yes" if status.guards else "no",
        status.bwrap,
        find_bash(),
    ]
    done = subprocess.run([sys.executable, "-c", TRY, *words], capture_output=True, text=True, check=False)
    return done.returncode == 0 and all(json.loads(done.stdout).values())


CANDIDATES = {
    "bwrap": SandboxStatus(kind="bwrap", bwrap=find_bwrap()),
    "namespaces": SandboxStatus(kind="landlock", namespaces=True, guards=True),
    "watched": SandboxStatus(kind="landlock", namespaces=True),
    "landlock": SandboxStatus(kind="landlock"),
}


def found_kinds() -> list[str]:
    """The kinds that hold here, tried once for all processes of a run: each must collect the same tests."""
    place = Path(os.environ["HOME"])
    with (place / "sandbox-kinds").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if text := file.read():
            return json.loads(text)
        possible = [name for name, status in CANDIDATES.items() if status.bwrap or name != "bwrap"]
        names = [name for name in possible if sys.platform == "linux" and holds(CANDIDATES[name])]
        file.write(json.dumps(names))
        return names


KINDS = {name: CANDIDATES[name] for name in found_kinds()}


def git(*words: str, cwd: Path) -> None:
    """Our own git, with nothing of the user's."""
    env = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=cwd, env=env, check=True, capture_output=True)


def make_workspace(ws: Path) -> None:
    """A project with everything that could be broken, in a repository with another one inside."""
    for name in ("src/seeds", "package/.vscode", ".github/workflows", ".clew"):
        (ws / name).mkdir(parents=True)
    for name, text in {
        "src/seed": "evil", "src/seeds/settings.json": "evil", "src/a.py": "a = 1\n", "README.md": "a\n",
        ".github/workflows/ci.yml": "on: push\n", ".clew/settings.json": '{"x": true}',
        "package/.vscode/tasks.json": "{}",
    }.items():  # fmt: skip
        (ws / name).write_text(text)
    git("init", "-q", ".", cwd=ws)
    git("init", "-q", "package", cwd=ws)
    for samples in (ws / ".git" / "hooks", ws / "package" / ".git" / "hooks"):
        for extra in sorted(samples.iterdir())[1:]:  # one says as much as fourteen
            extra.unlink()
    (ws / ".git" / "info" / "exclude").write_text(".clew\n.github\npackage\n")
    (ws / ".git" / "config").open("a").write("[user]\n\tname = x\n\temail = x@y\n")
    git("add", "src", "README.md", cwd=ws)
    git("commit", "-qm", "first", cwd=ws)


class SharedStarter(ProcessStarter):
    """One process that starts the commands of many sessions: starting it costs more than most commands do. A session
    that closes still ends its own commands."""

    def close(self) -> None:
        """Not by a session."""

    def end(self) -> None:
        """After all of them."""
        super().close()


class World:
    """One workspace, a copy of `pristine`, in one kind of sandbox."""

    def __init__(self, top: Path, kind: str, pristine: Path, starter: ProcessStarter | None = None) -> None:
        self.kind = kind
        self.ws = top / "ws"
        self.home = top / "home"
        self.outside = top / "outside"
        shutil.copytree(pristine, self.ws, symlinks=True)
        self.home.mkdir()
        self.outside.mkdir()
        (self.outside / "old").write_text("old")
        self.sandbox = Sandbox(lambda: KINDS[kind], home=str(self.home), aside=str(top / "taken"))
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "OUT": str(self.outside), "LANG": "C.UTF-8"}
        self.session = ToolSession(cwd=str(self.ws), sandbox=self.sandbox, env=env, keep_variables=["OUT"])
        if starter is not None:
            self.session.shells._starter = starter
        self._calls = 0

    async def run(
        self, command: str, *, timeout: int = 300_000, background: bool = False, **variables: str
    ) -> ToolResult:
        """As the dispatcher does. Variables are set in the command itself."""
        self._calls += 1

        async def nobody(_: object) -> None:
            return None

        context = ToolContext(
            call_id=CallId(f"call-{self._calls}"), cwd=str(self.ws), progress=lambda _: None, ask=nobody
        )
        text = "".join(f"export {name}='{value}'\n" for name, value in variables.items()) + command
        bash = Bash(self.session)
        params = BashParams(command=text, timeout=timeout, run_in_background=background)
        bash.accesses(params, context)
        return await bash.run(params, context)

    def guarded(self) -> dict[str, str]:
        """Every protected name of the workspace with what it holds: this must never change."""
        found: dict[str, str] = {}
        for folder, directories, files in os.walk(self.ws):
            for name in (*directories, *files):
                path = Path(folder, name)
                place = str(path.relative_to(self.ws))
                if is_guarded(place):
                    found[place] = describe(path)
        return found

    async def close(self) -> None:
        """End everything."""
        await self.session.close()


def is_guarded(place: str) -> bool:
    """At the top: the whole list. In git directories: what sends git elsewhere. Below: the package's settings."""
    for repository in (".git", "package/.git"):
        if place == repository:
            return True
        if place.startswith(repository + "/"):
            inner = place[len(repository) + 1 :] + "/"
            return any(inner.startswith(name + "/") for name in GIT_REDIRECTORS)
    top = place.split("/")[0]
    pair = "/".join(place.split("/")[:2])
    return bool(protected_name(top)) or pair in (".github/workflows", ".github/actions", "package/.vscode")


def describe(path: Path) -> str:
    """Kind, rights and content."""
    status = os.lstat(path)
    mode = stat.filemode(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return f"{mode} -> {os.readlink(path)}"
    return f"{mode} {path.read_text(errors='replace')}" if stat.S_ISREG(status.st_mode) else mode
