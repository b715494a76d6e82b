"""The starter: nothing outlives the agent, and a command that cannot start is told apart from one that failed."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew.system import descendants, process
from clew.system.process import ProcessError, ProcessSpec, ProcessStarter
from fakes.effort import HANG_S

AGENT = """
import asyncio, os, sys
from clew.system.process import ProcessSpec, ProcessStarter

async def main():
    text = f"trap '' TERM; setsid sleep {sys.argv[1]} & sleep {sys.argv[1]} & echo up; wait"
    started = asyncio.Event()
    command = ProcessSpec(["/bin/bash", "-c", text], "/", dict(os.environ))
    running = await ProcessStarter().start(command, lambda data: started.set())
    await started.wait()
    print("up", flush=True)
    await running.wait()

asyncio.run(main())
"""


def alive(marker: str) -> list[str]:
    found: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if marker.encode() in line and state != "Z":
                found.append(name)
    return found


def came(marker: str, *, count: int) -> bool:
    deadline = time.monotonic() + HANG_S
    while len(alive(marker)) < count:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(marker: str) -> bool:
    deadline = time.monotonic() + HANG_S
    while alive(marker):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def empties(file: Path) -> bool:
    deadline = time.monotonic() + HANG_S
    while file.read_text().strip():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
async def starter() -> AsyncIterator[ProcessStarter]:
    made = ProcessStarter()
    yield made
    made.close()


def bash(text: str) -> ProcessSpec:
    return ProcessSpec(["/bin/bash", "-c", text], "/", {"PATH": "/usr/bin:/bin"})


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_agent_takes_its_commands_along():
    """L40: SIGKILL of the agent; children in other sessions that ignore SIGTERM end too. How soon: bench/tools.py."""
    marker = f"4100.{os.getpid()}1"
    agent = subprocess.Popen([sys.executable, "-c", AGENT, marker], stdout=subprocess.PIPE, start_new_session=True)
    assert agent.stdout is not None
    with agent.stdout:
        assert agent.stdout.readline() == b"up\n"
        assert came(f"sleep\0{marker}", count=2)
        os.kill(agent.pid, signal.SIGKILL)
        agent.wait()
    assert gone(marker)


async def test_output_code_and_directory(starter: ProcessStarter, tmp_path: Path):
    output = bytearray()
    running = await starter.start(bash("echo a; echo b >&2; exit 7"), output.extend)
    ended = await running.wait()
    assert (ended.code, bytes(output)) == (7, b"a\nb\n")


async def test_errors_apart_and_something_to_read(starter: ProcessStarter):
    output, errors = bytearray(), bytearray()
    text = "cat; echo b >&2; read line; echo $?"
    command = bash(text)._replace(stdin=b"given\n", on_errors=errors.extend)
    ended = await (await starter.start(command, output.extend)).wait()
    assert (ended.code, bytes(output), bytes(errors)) == (0, b"given\n1\n", b"b\n")


async def test_either_of_errors_and_input_by_itself(starter: ProcessStarter):
    output, errors = bytearray(), bytearray()
    apart = bash("cat; echo a; echo b >&2")._replace(on_errors=errors.extend)
    await (await starter.start(apart, output.extend)).wait()
    assert (bytes(output), bytes(errors)) == (b"a\n", b"b\n")
    reading = bash("cat; echo b >&2")._replace(stdin=b"x" * 3_000_000)
    output.clear()
    await (await starter.start(reading, output.extend)).wait()
    assert bytes(output) == b"x" * 3_000_000 + b"b\n"


async def test_where_there_is_no_file_in_memory_a_nameless_one_does(
    starter: ProcessStarter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    output = bytearray()
    await (await starter.start(bash("cat")._replace(stdin=b"given"), output.extend)).wait()
    assert bytes(output) == b"given"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ProcessSpec(["/proc/nonexistent/program"], "/", {}),
        ProcessSpec(["/bin/bash", "-c", "true"], "/proc/nonexistent/dir", {}),
        ProcessSpec(["/bin/bash", "-c", "x" * 200_000], "/", {}),
    ],
)
async def test_what_cannot_start_is_an_error(starter: ProcessStarter, command: ProcessSpec):
    with pytest.raises(ProcessError):
        await starter.start(command, lambda _: None)
    running = await starter.start(bash("exit 3"), lambda _: None)
    assert (await running.wait()).code == 3


async def test_a_command_that_kills_its_keeper_gains_nothing(starter: ProcessStarter):
    marker = f"4200.{os.getpid()}2"
    running = await starter.start(bash(f"setsid sleep {marker} & kill -9 $PPID; sleep {marker}"), lambda _: None)
    async with asyncio.timeout(HANG_S):
        ended = await running.wait()
    assert ended.code == 137
    assert await asyncio.to_thread(gone, marker)


async def test_a_dead_starter_is_replaced(starter: ProcessStarter):
    await (await starter.start(bash("true"), lambda _: None)).wait()
    assert starter._process is not None
    starter._process.kill()
    starter._process.wait()
    assert (await (await starter.start(bash("exit 4"), lambda _: None)).wait()).code == 4


NO_ROOM = """
import os, sys
sys.path.insert(0, sys.argv[1])
from clew.system import process_starter
real, left = os.fork, [%d]
def fork():
    left[0] -= 1
    if left[0] < 0 and os.environ.pop("FULL", ""):
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return real()
os.environ["FULL"] = "yes"
os.fork = fork
process_starter.main()
"""


@pytest.mark.parametrize("forks", [0, 1], ids=["no-keeper", "no-command"])
async def test_a_machine_without_room_for_a_process_is_an_error_and_not_the_end(
    starter: ProcessStarter, monkeypatch: pytest.MonkeyPatch, forks: int
):
    monkeypatch.setattr(process, "BOOT", NO_ROOM % forks)
    with pytest.raises(ProcessError, match="temporarily unavailable"):
        await starter.start(bash("true"), lambda _: None)
    if not forks:
        assert (await (await starter.start(bash("exit 4"), lambda _: None)).wait()).code == 4
        assert starter._process is not None
        assert starter._process.poll() is None


async def test_an_agent_without_room_for_a_descriptor_is_told(starter: ProcessStarter, monkeypatch: pytest.MonkeyPatch):
    await (await starter.start(bash("true"), lambda _: None)).wait()
    before = os.listdir("/proc/self/fd") if sys.platform == "linux" else []

    def none() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(process.os, "pipe", none)
        with pytest.raises(ProcessError, match="Too many open files"):
            await starter.start(bash("true"), lambda _: None)
    assert len(os.listdir("/proc/self/fd") if sys.platform == "linux" else []) == len(before)


async def test_many_at_once(starter: ProcessStarter):
    async def one(number: int) -> tuple[int, bytes]:
        output = bytearray()
        running = await starter.start(bash(f"echo {number}; exit {number}"), output.extend)
        return (await running.wait()).code, bytes(output)

    results = await asyncio.gather(*(one(number) for number in range(30)))
    assert results == [(number, f"{number}\n".encode()) for number in range(30)]


async def test_no_descriptor_or_process_is_left(starter: ProcessStarter):
    """L10 in small: the same after 40 commands as after 5."""

    async def some(count: int) -> int:
        for _ in range(count):
            await (await starter.start(bash("true"), lambda _: None)).wait()
        return len(os.listdir("/proc/self/fd"))

    first = await some(5)
    assert await some(40) == first
    assert starter._process is not None
    children = Path(f"/proc/{starter._process.pid}/task/{starter._process.pid}/children")
    assert await asyncio.to_thread(empties, children)


def test_children_are_found_either_way():
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            assert child.pid in descendants.children(os.getpid())
            assert child.pid in descendants.children_by_scan(os.getpid())
        finally:
            child.kill()


async def test_nothing_is_inherited(starter: ProcessStarter):
    output = bytearray()
    running = await starter.start(bash("ls /proc/self/fd; echo ignored:; trap -p"), output.extend)
    await running.wait()
    descriptors, _, ignored = output.decode().partition("ignored:\n")
    assert set(descriptors.split()) <= {"0", "1", "2", "3", "251"}
    assert ignored == ""


IGNORING = """
import asyncio, os, signal
from clew.system.process import ProcessSpec, ProcessStarter

ODD = (signal.SIGQUIT, signal.SIGUSR1, signal.SIGTSTP, signal.SIGALRM)
for number in ODD:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})

async def main():
    script = "trap -p; grep -E '^Sig(Blk|Ign)' /proc/self/status"
    command = ProcessSpec(["/bin/bash", "-c", script], "/", {"PATH": "/usr/bin:/bin"})
    starter = ProcessStarter()
    running = await starter.start(command, lambda data: os.write(1, data))
    await running.wait()
    starter.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_signals_that_the_agent_ignores_work_in_commands():
    """A shell starts what stands before `&` with SIGQUIT ignored, and whatever it starts inherits that."""
    done = subprocess.run([sys.executable, "-c", IGNORING], capture_output=True, text=True, check=True)
    reserved = 3 << 31  # signals 32 and 33 belong to the C library, which lets nobody set them
    masks = {name: int(mask, 16) & ~reserved for name, mask in (line.split(":\t") for line in done.stdout.splitlines())}
    assert masks == {"SigBlk": 0, "SigIgn": 0}


async def test_a_second_cancel_is_not_lost(starter: ProcessStarter):
    """However often it is cancelled, everything is gone first, and the cancel still arrives."""
    marker = f"4300.{os.getpid()}3"
    up = asyncio.Event()
    running = await starter.start(
        bash(f"trap '' TERM; echo up; sleep {marker} & sleep {marker}; sleep {marker}"), lambda _: up.set()
    )
    await up.wait()
    task = asyncio.create_task(running.wait())
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running.ended.done()
    assert await asyncio.to_thread(gone, marker)


async def test_a_keeper_that_cannot_finish_does_not_hold_us(starter: ProcessStarter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "END_LIMIT_S", 0.2)
    patient = bash("trap '' TERM; echo up; while :; do sleep 0.1; done")._replace(grace_s=10 * HANG_S)
    up = asyncio.Event()
    running = await starter.start(patient, lambda _: up.set())
    await up.wait()
    async with asyncio.timeout(HANG_S):
        await running.end()
    assert running.ended.result().code == 137
    assert starter._process is not None
    for keeper in descendants.children(starter._process.pid):
        os.kill(keeper, signal.SIGKILL)  # closing would give it seconds
