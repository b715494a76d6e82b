"""`make bench`: every budget, as ratios of one run, written to docs/benchmarks.md.

`python -m bench` runs all topics; `python -m bench startup recap` only these (then nothing is written).
"""

import importlib
import platform
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from bench.report import Row

ROWS = "--rows"
"""Asks for the rows of one topic, for the process that puts them together."""
TOPICS = (
    "startup",
    "mcp",
    "control",
    "permissions",
    "growth",
    "tools",
    "undo",
    "transcript",
    "window",
    "screen",
    "foreign",
    "recap",
    "agents",
)
TITLES = {
    "startup": "Start, steps, memory (`clew -p` against the loopback model server)",
    "mcp": "MCP servers: what configured ones cost a session",
    "control": "Driven by a program (`--input-format stream-json`)",
    "permissions": "Permission verdicts",
    "growth": "Hostile text: what twice the input costs",
    "tools": "Tools and sandbox",
    "undo": "Undo on a tree of 50,000 files",
    "transcript": "The log: resume, list, search, crashes",
    "window": "The window: view, meter, compaction",
    "screen": "The full screen (through a pseudo-terminal and a screen emulator)",
    "foreign": "Other agents' sessions",
    "recap": "Ledger and recap",
    "agents": "Child agents",
}


def main(chosen: list[str]) -> int:
    """Run, print, and for a full run write the page. Exit code 1 when a budget does not hold."""
    if chosen[:1] == [ROWS]:
        return tell_rows(chosen[1])
    unknown = [name for name in chosen if name not in TOPICS]
    if unknown:
        print(f"bench: no topic {unknown[0]!r}; there are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    sections: list[str] = []
    failed = 0
    for topic in chosen or TOPICS:
        print(f"== {topic}", flush=True)
        started = time.monotonic()
        rows = measured(topic)
        failed += sum(row.ok is False for row in rows)
        print(f"   took {time.monotonic() - started:.0f} s", flush=True)
        sections.append(section(topic, rows))
    if not chosen:
        write(sections)
    print(f"{failed} budgets missed" if failed else "all budgets hold")
    return 1 if failed else 0


def measured(topic: str) -> list[Row]:
    """The rows of a topic, by a process of its own: Linux counts what a parent held as the peak of its child."""
    rows: list[Row] = []
    with subprocess.Popen([sys.executable, "-m", "bench", ROWS, topic], stdout=subprocess.PIPE) as fresh:
        assert fresh.stdout is not None
        for line in fresh.stdout:
            row = msgspec.json.decode(line, type=Row)
            rows.append(row)
            print(f"   {mark(row):<6} {row.name}: {row.value} (budget {row.budget})", flush=True)
    if fresh.returncode:
        sys.exit(fresh.returncode)
    return rows


def tell_rows(topic: str) -> int:
    """Print each row as JSON as soon as it is known."""
    for row in importlib.import_module(f"bench.{topic}").rows():
        sys.stdout.buffer.write(msgspec.json.encode(row) + b"\n")
        sys.stdout.flush()
    return 0


def mark(row: Row) -> str:
    """Whether the budget holds, in a word."""
    return {True: "ok", False: "MISSED", None: "-"}[row.ok]


def section(topic: str, rows: list[Row]) -> str:
    """A table of the page."""
    lines = [f"## {TITLES[topic]}", "", "| what | figure | budget | holds |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.name} | {row.value} | {row.budget} | {mark(row)} |" for row in rows]
    return "\n".join(lines)


def write(sections: list[str]) -> None:
    """The page, with the machine it was measured on."""
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}, CPython {platform.python_version()}"
    head = (
        "# Benchmarks\n\nWritten by `make bench`. Figures are ratios of one run on one machine wherever a budget is a "
        f"ratio; other machines give other seconds.\n\nMachine: {machine}.\n"
    )
    page = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
    page.write_text("\n".join([head, *[f"{text}\n" for text in sections]]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
