"""Someone who talks to `clew --plain`, at a terminal or through pipes, and waits for what must appear."""

import contextlib
import errno
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fakes.effort import HANG_S

WAIT_S = HANG_S
"""Ends a hung wait; nothing is ever measured by it."""
POLL_S = 0.01
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
DRAWN_OVER = "\r\x1b[J"
TURN_OVER = re.compile(r"(?m)^-- ")
QUESTION = "Approval needed: "
ALLOW = re.compile(r"\nAllow\? [^\n]*> $")
NOTICED = re.compile(r"Ctrl-C again quits|Denied, and interrupted")
ANSWERED = re.compile(
    r"(?m)^(?:> )?(?:Compacted|Not (?:compacted|cleared)\.|Cleared |The window is empty|The view is again|Pinned: "
    r"|\d+ entr(?:y|ies) left|No longer pinned|\d+ items? joined|Error: |There are \d|.*ewound)[^\n]*\n"
)
"""How each command about the view is answered."""
WORD = re.compile(r"(?:fx|ink)\d{3}")


class Stuck(Exception):
    """Something that had to happen did not."""


class Person:
    """One run of the command."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        env: dict[str, str],
        *,
        terminal: bool,
        answers: dict[str, str],
        columns: int = 200,
    ) -> None:
        self.terminal = terminal
        self.interrupts = 0
        self.interrupted = False
        """Another one would end the command."""
        self._answers = answers
        self._raw = b""
        self._read_as = (0, "")
        """How many bytes there were when they were last read as text, and that text: asked for at every look."""
        self._turn_from = 0
        self._answered = 0
        if terminal:
            self._out, self._process = _at_terminal(command, folder, env, columns)
            self._in = self._out
        else:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._in = self._process.stdin.fileno()
            self._out = self._process.stdout.fileno()
        self.open = True

    @property
    def text(self) -> str:
        """Everything shown so far, without what moves the cursor. What is drawn over stays, as a line of its own."""
        if self._read_as[0] != len(self._raw):
            shown = self._raw.decode("utf-8", "replace").replace(DRAWN_OVER, "\n")
            self._read_as = (len(self._raw), ESCAPE.sub("", shown).replace("\r", ""))
        return self._read_as[1]

    def ready(self) -> None:
        """The command can take a prompt. A pipe takes it at any time."""
        if self.terminal:
            self.wait(self._at_prompt, "the prompt mark")

    def say(self, line: str) -> None:
        """A prompt when nothing runs: a new turn."""
        self.ready()
        self._turn_from = len(self.text)
        self._write(line + ("\r" if self.terminal else "\n"))

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def type(self, line: str) -> None:
        """At any moment, without waiting for anything."""
        self._write(line + ("\r" if self.terminal else "\n"))

    def order(self, line: str) -> None:
        """A command when nothing runs; returns when it was answered."""
        self.ready()
        before = len(self.text)
        self._write(line + ("\r" if self.terminal else "\n"))
        self.wait(lambda: bool(ANSWERED.search(self.text, before)), f"an answer to {line}")

    def queue(self, line: str) -> None:
        """Words typed while the agent works; returns when they were taken."""
        before = len(self.text)
        self._write(line + "\r")
        self.wait(lambda: f"to the agent > {line}\n" in self.text[before:], f"{line!r} is taken")

    def idle(self, queued: Sequence[str] = ()) -> bool:
        """Whether the turn is over, and with it the turns of words that came too late to join it."""
        turn = self.text[self._turn_from :]
        joined = sum(f"> joined: {line}\n" in turn for line in queued)
        over = len(TURN_OVER.findall(turn)) >= 1 + len(queued) - joined
        return over and (not self.terminal or self._at_prompt())

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Read and answer until it is so."""
        deadline = time.monotonic() + WAIT_S
        while not ready():
            ended = self._process.poll() is not None
            if not self._read() and ended and not ready():
                raise Stuck(f"the command ended ({self._process.returncode}) before: {what}\n{self.text[-1500:]}")
            self._answer()
            if time.monotonic() > deadline:
                raise Stuck(f"never came: {what}\n{self.text[-1500:]}")

    def watch(self, ready: Callable[[], bool]) -> None:
        """As `wait`, without a pause, and only until the turn is over."""
        deadline = time.monotonic() + WAIT_S
        while not ready() and not self.idle() and time.monotonic() < deadline:
            self._read(0)

    def interrupt(self) -> None:
        """Ctrl-C once, as a person presses it; through a pipe the signal that it would be."""
        self.interrupts += 1
        self.interrupted = True
        before = len(self.text)
        if self.terminal:
            self._write("\x03")
        else:
            os.kill(self._process.pid, signal.SIGINT)
        self.wait(lambda: bool(NOTICED.search(self.text, before)), "the interrupt is noticed")

    def forget_interrupt(self) -> None:
        """A second Ctrl-C soon after the first quits, unless it only cleared a line: so clear one."""
        if not (self.terminal and self.interrupted):
            return
        self.ready()
        self._write("x")
        self.wait(lambda: self.text.endswith("\n> x"), "a letter on the line")
        self._write("\x03")
        self.wait(self._at_prompt, "a cleared line")
        self.interrupted = False

    def leave(self) -> None:
        """The clean way out, when nothing runs."""
        if self.terminal:
            self._write("\x04")
        else:
            assert self._process.stdin is not None
            self._process.stdin.close()
        self.wait(lambda: self._process.poll() is not None, "the command ends")
        self._close()

    def kill(self) -> None:
        """SIGKILL, at any moment."""
        if self.open:
            self._process.kill()
            self._process.wait()
            self._close()

    def _close(self) -> None:
        self.open = False
        if self.terminal:
            os.close(self._out)
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _at_prompt(self) -> bool:
        return self._raw.endswith(b"\x1b[J> ")

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._in, data) :]

    def _read(self, timeout_s: float = POLL_S) -> bool:
        if not select.select([self._out], [], [], timeout_s)[0]:
            return False
        try:
            data = os.read(self._out, 1 << 16)
        except OSError as error:
            if error.errno != errno.EIO:  # how a terminal says that nobody is at its other end
                raise
            data = b""
        self._raw += data
        return bool(data)

    def _answer(self) -> None:
        """Yes, unless the script says otherwise."""
        text = self.text
        question = text.rfind(QUESTION)
        if question < self._answered or not ALLOW.search(text):
            return
        self._answered = len(text)
        word = WORD.search(text, question)
        answer = self._answers.get(word[0], "y") if word else "y"
        if answer == "\x03":
            self.interrupt()
        else:
            self._write(answer + ("\r" if self.terminal else "\n"))


def _at_terminal(
    command: Sequence[str], folder: Path, env: dict[str, str], columns: int
) -> "tuple[int, subprocess.Popen[bytes]]":
    """A shell opens the terminal first, so that it becomes the one that Ctrl-C comes from."""
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    start = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(theirs), *command]
    process = subprocess.Popen(start, cwd=folder, env=env, start_new_session=True)
    # Open on our side until the shell has its own, else a read would say that nobody is there.
    deadline = time.monotonic() + WAIT_S
    while not select.select([ours], [], [], POLL_S)[0] and process.poll() is None and time.monotonic() < deadline:
        pass
    os.close(theirs)
    return ours, process
