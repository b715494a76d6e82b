"""Work on hostile input in a process of its own: what explodes or hangs can be ended, which a thread cannot be."""

import asyncio
import os
import sys
from contextlib import suppress

MAX_ANSWER_BYTES = 40_000_000
CHUNK_BYTES = 262_144


async def run_worker(module: str, *arguments: str, given: bytes | int, timeout_s: float) -> bytes | None:
    """What the module writes to stdout; None when it failed or had too much to say. `given`: its stdin, as bytes or
    as a descriptor. Raises TimeoutError when it had to be ended; it never outlives the call."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", module, *arguments),
        stdin=given if isinstance(given, int) else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},  # a parser that is tricked finds no keys
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_s), asyncio.TaskGroup() as group:
            if process.stdin is not None and isinstance(given, bytes):
                group.create_task(feed(process.stdin, given))
            answer = await read_bounded(process.stdout)
            if answer is not None:
                await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            while process.stdout is not None and await process.stdout.read(CHUNK_BYTES):
                pass  # a pipe that nobody reads on is never seen to end, nor is its process
            await process.wait()
    return answer if process.returncode == 0 else None


async def feed(stdin: asyncio.StreamWriter, data: bytes) -> None:
    """All of it, unless the other side has gone: how it ended says why."""
    with suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()


async def read_bounded(stdout: asyncio.StreamReader | None) -> bytes | None:
    """Everything until the end; None past the bound."""
    assert stdout is not None
    answer = bytearray()
    while piece := await stdout.read(CHUNK_BYTES):
        answer += piece
        if len(answer) > MAX_ANSWER_BYTES:
            return None
    return bytes(answer)
