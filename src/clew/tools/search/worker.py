"""A process of its own for searching in Python: a pattern that explodes can be ended, which a thread cannot be."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from clew.tools.documents.worker import run_worker
from clew.tools.search.in_python import list_files, search_files
from clew.tools.search.query import SearchQuery, SearchRows

SPARE_S = 2.0


def main() -> int:
    """One JSON request on stdin, one JSON answer on stdout."""
    request: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(answer(request)))
    return 0


def answer(request: dict[str, Any]) -> Any:
    """Which of the three questions it is."""
    if "query" in request:
        return search_files(SearchQuery(**request["query"]), request["timeout_s"])
    if "root" in request:
        return list_files(request["root"], request["timeout_s"])
    return list(matching(request["lines"], request["pattern"]))


def matching(lines: list[str], pattern: str) -> Iterator[str]:
    """The lines a regular expression is found in."""
    compiled = re.compile(pattern)
    return (line for line in lines if compiled.search(line))


async def ask(request: dict[str, Any], timeout_s: float) -> Any:
    """The answer of a fresh worker; None when it had to be ended or failed."""
    given = json.dumps(request).encode()
    try:
        output = await run_worker("clew.tools.search.worker", given=given, timeout_s=timeout_s + SPARE_S)
    except TimeoutError:
        return None
    return None if output is None else json.loads(output)


async def ask_search(query: SearchQuery, timeout_s: float) -> SearchRows:
    """Search file contents."""
    found = await ask({"query": query._asdict(), "timeout_s": timeout_s}, timeout_s)
    if found is None:
        return SearchRows([], 0, True, False, "")
    rows, matches, timed_out, cut, error = found[:5]
    return SearchRows([(path, text) for path, text in rows], matches, timed_out, cut, error)


async def ask_files(root: str, timeout_s: float) -> tuple[list[str], bool]:
    """List files."""
    found = await ask({"root": root, "timeout_s": timeout_s}, timeout_s)
    return ([], True) if found is None else (found[0], found[1])


async def ask_filter(lines: list[str], pattern: str, timeout_s: float) -> list[str] | None:
    """Lines that match; None when the pattern took too long."""
    return await ask({"lines": lines, "pattern": pattern}, timeout_s)


if __name__ == "__main__":
    sys.exit(main())
