"""A process of its own for searching in Python: a pattern that explodes can be ended, which a thread cannot be."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from clew.tools.search_python import list_files, search_files
from clew.tools.search_query import Found, Query

SPARE_S = 2.0
MAX_ANSWER_BYTES = 40_000_000


def main() -> int:
    """One JSON request on stdin, one JSON answer on stdout."""
    request: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(answer(request)))
    return 0


def answer(request: dict[str, Any]) -> Any:
    """Which of the three questions it is."""
    if "query" in request:
        return search_files(Query(**request["query"]), request["timeout_s"])
    if "root" in request:
        return list_files(request["root"], request["timeout_s"])
    return list(matching(request["lines"], request["pattern"]))


def matching(lines: list[str], pattern: str) -> Iterator[str]:
    """The lines a regular expression is found in."""
    compiled = re.compile(pattern)
    return (line for line in lines if compiled.search(line))


async def ask(request: dict[str, Any], timeout_s: float) -> Any:
    """The answer of a fresh worker; None when it had to be ended or failed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "clew.tools.search_worker"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_ANSWER_BYTES,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_s + SPARE_S):
            output, _ = await process.communicate(json.dumps(request).encode())
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return json.loads(output) if process.returncode == 0 else None


async def ask_search(query: Query, timeout_s: float) -> Found:
    """Search file contents."""
    found = await ask({"query": query._asdict(), "timeout_s": timeout_s}, timeout_s)
    if found is None:
        return Found([], 0, True, False, "")
    rows, matches, timed_out, cut, error = found[:5]
    return Found([(path, text) for path, text in rows], matches, timed_out, cut, error)


async def ask_files(root: str, timeout_s: float) -> tuple[list[str], bool]:
    """List files."""
    found = await ask({"root": root, "timeout_s": timeout_s}, timeout_s)
    return ([], True) if found is None else (found[0], found[1])


async def ask_filter(lines: list[str], pattern: str, timeout_s: float) -> list[str] | None:
    """Lines that match; None when the pattern took too long."""
    return await ask({"lines": lines, "pattern": pattern}, timeout_s)


if __name__ == "__main__":
    sys.exit(main())
