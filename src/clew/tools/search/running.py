"""Running a search: ripgrep as a process with limits, or the Python searcher; both give the same shape."""

import asyncio
import os
from typing import NamedTuple

from clew.system.sandbox.tree import WorkspaceTree
from clew.system.search_binary import SearchBinary, choose
from clew.text.guarded_names import secret_name
from clew.tools.extras import search_worker
from clew.tools.search.query import SearchQuery, SearchRows, count_matches
from clew.tools.session import ToolSession

TIMEOUT_S = 20.0
MAX_OUTPUT_BYTES = 20_000_000
CHUNK_BYTES = 262_144
MAX_ERROR_BYTES = 4_000
COMMON = ("--no-config", "--color=never", "--no-messages", "--hidden", "--no-require-git", "--glob=!.git")


class Output(NamedTuple):
    """Raw lines of a search and how it ended."""

    lines: list[bytes]
    code: int
    stderr: str
    timed_out: bool
    cut: bool


def binary_for(session: ToolSession) -> SearchBinary:
    """The searcher of this session."""
    return choose(session.rg_mode, session.env.get("PATH", ""), untrusted=session.roots)


async def grep(session: ToolSession, query: SearchQuery) -> tuple[SearchRows, SearchBinary]:
    """Search file contents."""
    binary = binary_for(session)
    secrets = asyncio.create_task(asyncio.to_thread(secrets_below, session, query.root))
    try:
        if binary.mode == "python":
            found = await search_worker().ask_search(query, TIMEOUT_S)
        else:
            separator = b"\0" if query.mode == "files_with_matches" else b"\n"
            output = await run_ripgrep(session, binary, rg_arguments(query), query.max_lines, separator=separator)
            found = parse(output, query)
    finally:
        left_out = await secrets
    return withhold(session, query, found)._replace(withheld=left_out), binary


def secrets_below(session: ToolSession, place: str) -> tuple[str, ...]:
    """Files below a directory that a search leaves out by their names."""
    if not os.path.isdir(place):
        return ()
    root = next((root for root in session.roots if place == root or place.startswith(root.rstrip("/") + "/")), place)
    tree = session.trees.setdefault(root, WorkspaceTree(root))
    front = place.rstrip("/") + "/"
    return tuple(path for path in tree.look().named if path.startswith(front) and is_withheld(session, place, path))


def withhold(session: ToolSession, query: SearchQuery, found: SearchRows) -> SearchRows:
    """A search of a directory does not show what reading file by file would have to ask for."""
    secret = {path for path, _ in found.rows if path and path != query.root and is_withheld(session, query.root, path)}
    if not secret:
        return found
    rows = [row for row in found.rows if row[0] not in secret]
    return found._replace(rows=rows, matches=count_matches(rows, query.mode))


def is_withheld(session: ToolSession, root: str, path: str) -> bool:
    """By the host's policy, or else by names that hold secrets."""
    if session.withheld is not None:
        return session.withheld(path)
    return bool(secret_name(path[len(root.rstrip("/")) + 1 :]))


async def files_below(session: ToolSession, root: str) -> tuple[list[str], SearchBinary, bool]:
    """All files below a directory that are not ignored, relative to it; True when the time was not enough."""
    binary = binary_for(session)
    if binary.mode == "python":
        files, timed_out = await search_worker().ask_files(root, TIMEOUT_S)
        return files, binary, timed_out
    output = await run_ripgrep(session, binary, [*COMMON, "--files", "--null", "--", root], 0, separator=b"\0")
    skip = len(root.rstrip("/").encode()) + 1
    files = [line[skip:].decode(errors="surrogateescape") for line in output.lines]
    return files, binary, output.timed_out or output.cut


def rg_arguments(query: SearchQuery) -> list[str]:
    """Options first, data after `-e` and `--`, so that no pattern or path can become an option."""
    options = [*COMMON, "--no-heading", "--with-filename", "--null", "--max-columns=500", "--max-columns-preview"]
    if query.mode == "files_with_matches":
        options.append("--files-with-matches")
    elif query.mode == "count":
        options.append("--count-matches" if query.multiline else "--count")
    else:
        options += ["--line-number", f"-B{query.before}", f"-A{query.after}"]
    if query.ignore_case:
        options.append("--ignore-case")
    if query.multiline:
        options += ["--multiline", "--multiline-dotall"]
    if query.type:
        options.append(f"--type={query.type}")
    options += [f"--glob={glob}" for glob in query.globs]
    return [*options, "-e", query.pattern, "--", query.root]


async def run_ripgrep(
    session: ToolSession, binary: SearchBinary, arguments: list[str], max_lines: int, *, separator: bytes = b"\n"
) -> Output:
    """Run it; when the machine has no threads to spare, once more with one."""
    output = await run_once(session, binary, arguments, max_lines, separator)
    if output.code not in (0, 1) and "os error 11" in output.stderr:
        output = await run_once(session, binary, ["-j1", *arguments], max_lines, separator)
    return output


async def run_once(
    session: ToolSession, binary: SearchBinary, arguments: list[str], max_lines: int, separator: bytes
) -> Output:
    """One process, read until it ends, the time is over, or enough lines are there. It never outlives the call."""
    env = {key: value for key, value in session.env.items() if key in ("PATH", "LANG", "LC_ALL", "HOME")}
    process = await asyncio.create_subprocess_exec(
        *(binary.path, *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd="/",
        env=env,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.create_task(first_of(process.stderr))
    data = bytearray()
    lines_seen = 0
    timed_out = cut = False
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while chunk := await process.stdout.read(CHUNK_BYTES):
                data += chunk
                lines_seen += chunk.count(separator)
                if len(data) > MAX_OUTPUT_BYTES or (max_lines and lines_seen > max_lines):
                    cut = True
                    break
            if not cut:
                await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        if process.returncode is None:
            process.kill()
            await first_of(process.stdout)  # a pipe that nobody reads on is never seen to end, nor is its process
            await process.wait()
        stderr = (await errors).decode(errors="replace")
    lines = bytes(data).split(separator)
    lines.pop()  # after the last separator: nothing, or a line that was cut
    return Output(lines, process.returncode or 0, stderr, timed_out, cut)


async def first_of(stream: asyncio.StreamReader) -> bytes:
    """The beginning of a stream, read to its end so that the writer never waits."""
    kept = b""
    while piece := await stream.read(CHUNK_BYTES):
        kept = (kept + piece)[:MAX_ERROR_BYTES]
    return kept


def parse(output: Output, query: SearchQuery) -> SearchRows:
    """Ripgrep's lines as ours: `path NUL rest`."""
    error = output.stderr.strip() if output.code == 2 and not output.cut and not output.timed_out else ""
    if query.mode == "files_with_matches":
        rows = [(path.decode(errors="surrogateescape"), "") for path in output.lines]
        return SearchRows(rows, len(rows), output.timed_out, output.cut, error)
    rows: list[tuple[str, str]] = []
    for line in output.lines:
        path, nul, rest = line.partition(b"\0")
        if nul:
            rows.append((path.decode(errors="surrogateescape"), rest.decode(errors="replace").rstrip("\r")))
        else:
            rows.append(("", path.decode(errors="replace")))
    return SearchRows(rows, count_matches(rows, query.mode), output.timed_out, output.cut, error)
