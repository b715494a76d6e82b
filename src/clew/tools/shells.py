"""Shell commands of a session: in the foreground with a time limit, in the background with an id."""

import asyncio
import codecs
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.protocol.events import Actor
from clew.protocol.ids import CallId, TaskId
from clew.protocol.standing import Standing
from clew.system.environment import tool_environment
from clew.system.private_files import private_dir
from clew.system.process import SOURCE_ROOT, ProcessEnd, ProcessSpec, ProcessStarter, RunningCommand
from clew.system.sandbox.plan import SandboxPlan
from clew.system.sandbox.status import find_bash
from clew.tools.base import TaskPort
from clew.tools.output_buffer import OutputBuffer

if TYPE_CHECKING:
    from clew.tools.session import ToolSession

EXIT_SCRIPT = os.path.join(SOURCE_ROOT, "clew", "system", "shell_exit.sh")
PROGRESS_S = 0.1
PROGRESS_BYTES = 4_000
MAX_NAMED = 5
UNREAD_BYTES = 1_000_000
SHELLS = frozenset({"bash", "zsh", "sh", "dash", "ash", "ksh", "mksh", "fish"})
SAFE_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


def utf8_decoder() -> codecs.IncrementalDecoder:
    """Keeps the beginning of a character until its end arrives."""
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


def users_shell(env: Mapping[str, str]) -> str:
    """What SHELL names, when that is a shell that takes `-c`; else empty."""
    path = env.get("SHELL", "")
    fits = os.path.isabs(path) and os.path.basename(path) in SHELLS and os.access(path, os.X_OK)
    return path if fits else ""


def shown(path: str, root: str) -> str:
    """Relative to the workspace when it lies there."""
    base = root.rstrip("/") + "/"
    return path[len(base) :] if path.startswith(base) else path


def judged_note(ended: ProcessEnd, root: str) -> str:
    """What the keeper did about what git would obey; empty when there was nothing. For the model; the user sees it
    too."""
    taken = [f"{shown(path, root)} ({why}{f'; kept as {kept}' if kept else ''})" for path, kept, why in ended.judged]
    unclear = [f"{shown(path, root)} ({why})" for path, why in ended.unclear]
    notes: list[str] = []
    if taken:
        told = listed(taken)
        notes.append(f"The user's own git would obey what the command left, so the sandbox took it away: {told}.")
    if unclear:
        notes.append(
            f"Not all that the command left for git could be judged; look before git is used: {listed(unclear)}."
        )
    return " ".join(notes)


def listed(names: list[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


class Background:
    """A command that runs on while the conversation does: a task of its session."""

    kind = "shell"

    def __init__(self, shell_id: str, command: str, output: OutputBuffer) -> None:
        self.id = shell_id
        self.command = command
        self.output = output
        self.ended: ProcessEnd | None = None
        self.stopped_by: Actor | None = None
        self.started_s = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        self.running: RunningCommand | None = None
        self._unread = bytearray()
        self._skipped = 0
        self._decoder = utf8_decoder()

    @property
    def task_id(self) -> TaskId:
        """The id by which the model knows it too."""
        return TaskId(self.id)

    @property
    def title(self) -> str:
        """The command."""
        return self.command

    @property
    def killed(self) -> bool:
        """Somebody ended it."""
        return self.stopped_by is not None

    @property
    def standing(self) -> Standing:
        """How it stands."""
        if self.ended is None:
            return Standing.WORKING
        if self.killed:
            return Standing.STOPPED
        return Standing.FAILED if self.ended.code else Standing.COMPLETED

    @property
    def by(self) -> Actor:
        """Who ended it."""
        return self.stopped_by or "itself"

    @property
    def exit_code(self) -> int | None:
        """None: it runs, or was stopped."""
        return self.ended.code if self.ended is not None and not self.killed else None

    @property
    def output_file(self) -> str:
        """Where all of its output is."""
        return str(self.output.path or "")

    def more(self) -> dict[str, Any]:
        """Nothing besides."""
        return {}

    def text(self) -> str:
        """What it printed, of long output both ends."""
        return self.output.text()

    def last(self, max_chars: int) -> str:
        """The end of what it printed."""
        return self.output.last(max_chars)

    async def over(self) -> None:
        """Until its end is noted."""
        if self.task is not None:
            await asyncio.wait({self.task})

    async def stop(self, by: Actor) -> None:
        """End it and everything it started."""
        if self.running is not None and self.ended is None:
            self.stopped_by = by
            await self.running.end()
            await self.over()  # only watched: a call that is cancelled here must not cancel what notes the end

    def add(self, data: bytes) -> None:
        """More output."""
        self.output.add(data)
        self._unread += data
        if len(self._unread) > UNREAD_BYTES:
            self._skipped += len(self._unread) - UNREAD_BYTES // 2
            del self._unread[: -UNREAD_BYTES // 2]

    def take_new(self) -> tuple[str, int]:
        """What came since the last look, and how many bytes of it are no longer in memory."""
        text, skipped = self._decoder.decode(self._unread, self.ended is not None), self._skipped
        self._unread.clear()
        self._skipped = 0
        return text, skipped

    def give_back(self, text: str) -> None:
        """Output that was taken and not shown after all."""
        begun, _ = self._decoder.getstate()
        self._decoder.reset()
        self._unread[:0] = text.encode() + begun

    @property
    def state(self) -> str:
        """For model and people."""
        if self.ended is None:
            return "running"
        return "killed" if self.killed else f"exited with code {self.ended.code}"


class Shells:
    """One process starter, many commands."""

    def __init__(self, session: "ToolSession") -> None:
        self._session = session
        self._starter = ProcessStarter()
        self._bash = find_bash()
        self.background: dict[str, Background] = {}
        self.foreground: dict[CallId, asyncio.Future[None]] = {}
        """Commands that a call waits for; done: it shall wait no longer, and the command goes on in the background."""

    @property
    def available(self) -> bool:
        """Whether there is a bash at all."""
        return bool(self._bash)

    def warm(self) -> None:
        """Start the process starter early; it costs nothing but a small process."""
        self._starter.warm()

    async def start(
        self, text: str, cwd: str, plan: SandboxPlan | None, on_output: Callable[[bytes], None]
    ) -> RunningCommand:
        """The exact text, in a fresh shell: only the directory is carried from call to call."""
        session = self._session
        env = tool_environment(session.env, key_variables=session.key_variables, keep=session.keep_variables)
        if plan is not None:
            env["TMPDIR"] = plan["tmp"]
        env["BASH_ENV"] = EXIT_SCRIPT
        env["PWD"] = cwd
        argv = [self._bash, "--noprofile", "--norc", "-c", text]
        return await self._starter.start(ProcessSpec(argv, cwd, env, plan), on_output)

    async def start_typed(self, text: str, cwd: str, on_output: Callable[[bytes], None]) -> RunningCommand:
        """A command of the user's own: their shell, their environment, nothing that holds it."""
        env = {**self._session.env, "PWD": cwd}
        return await self._starter.start(ProcessSpec([users_shell(env) or self._bash, "-c", text], cwd, env), on_output)

    def file_for(self, name: str) -> Path | None:
        """Where output that does not fit is kept."""
        folder = self._session.results_dir
        if folder is None:
            return None
        safe = name if SAFE_NAME.fullmatch(name) else os.urandom(8).hex()
        try:
            private_dir(folder)
        except OSError:
            return None  # a full or read-only disk: what does not fit is not kept, the command still runs
        path = folder / f"{safe}.txt"
        return path if not path.exists() else folder / f"{safe}-{os.urandom(4).hex()}.txt"

    async def start_background(self, text: str, cwd: str, plan: SandboxPlan | None) -> Background:
        """Runs until it ends, is killed, or the session closes."""
        tasks = self._session.tasks() if self._session.tasks is not None else None
        shell_id = tasks.new_id("bash") if tasks is not None else f"bash_{len(self.background) + 1}"
        shell = Background(shell_id, text, OutputBuffer(self.file_for(shell_id), always_file=True))
        try:
            shell.running = await self.start(text, cwd, plan, shell.add)
        except BaseException:
            shell.output.close()
            raise
        shell.task = asyncio.create_task(self._watch(shell, shell.running, tasks))
        self.background[shell_id] = shell
        if tasks is not None:
            tasks.began(shell)
        return shell

    def send_to_background(self) -> int:
        """Let the calls that wait for a command wait no longer; how many did."""
        waiting = [left for left in self.foreground.values() if not left.done()]
        for left in waiting:
            left.set_result(None)
        return len(waiting)

    def go_on(
        self,
        text: str,
        running: RunningCommand,
        ended: "asyncio.Future[ProcessEnd]",
        output: OutputBuffer,
        started_s: float,
    ) -> Background:
        """A command that a call has waited for runs on in the background, with what it printed so far."""
        tasks = self._session.tasks() if self._session.tasks is not None else None
        shell_id = tasks.new_id("bash") if tasks is not None else f"bash_{len(self.background) + 1}"
        shell = Background(shell_id, text, output)
        shell.running, shell.started_s = running, started_s
        shell.task = asyncio.create_task(self._watch(shell, ended, tasks))
        self.background[shell_id] = shell
        if tasks is not None:
            tasks.began(shell)
        return shell

    async def _watch(
        self, shell: Background, running: "RunningCommand | asyncio.Future[ProcessEnd]", tasks: TaskPort | None
    ) -> None:
        try:
            shell.ended = await (running if isinstance(running, asyncio.Future) else running.wait())
            if note := judged_note(shell.ended, self._session.roots[0]):
                shell.add(f"\n{note}\n".encode())
        finally:
            shell.output.close()
            if tasks is not None:
                tasks.changed(shell)

    async def close(self) -> None:
        """End all commands and the process starter."""
        running = [shell for shell in self.background.values() if shell.ended is None]
        await asyncio.gather(*(shell.stop("session") for shell in running))
        await asyncio.to_thread(self._starter.close)


class Progress:
    """Shows output as it comes, at most ten times a second, and only the newest part of a flood."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._pending = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._decoder = utf8_decoder()

    def add(self, data: bytes) -> None:
        """Take a piece; it is shown soon."""
        self._pending += data[-PROGRESS_BYTES:]
        if len(self._pending) > PROGRESS_BYTES:
            del self._pending[:-PROGRESS_BYTES]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PROGRESS_S, self.flush)

    def flush(self) -> None:
        """Show what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if text := self._decoder.decode(self._pending):
            self._show(text)
        self._pending.clear()
