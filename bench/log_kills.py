"""Processes that write a session and are killed, stopped, or fight for it: what the crash tests and the bench share."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

from clew.protocol.entries import UserEntry
from clew.protocol.ids import EntryId, SessionId, new_uuid
from clew.protocol.messages import UserMessage
from clew.transcript.errors import LeaseLost, SessionBusy
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.reader import iterate, load

SESSION = SessionId("5e55104e-0000-4000-8000-000000000002")
KILLS_PER_FILE = 25


class Survival(NamedTuple):
    """What many kills came to."""

    kills: int
    acknowledged: int
    lost: int
    torn: int
    refused: int
    """Sessions that did not take a next turn."""
    slowest_takeover_s: float


def prompt(words: str, parent: EntryId | None, session: SessionId = SESSION) -> UserEntry:
    """An entry of the chain."""
    return UserEntry(
        session_id=session,
        timestamp="2026-11-15T10:00:00.000Z",
        uuid=EntryId(new_uuid()),
        parent_uuid=parent,
        is_sidechain=False,
        user_type="external",
        cwd="/src",
        version="0",
        message=UserMessage(content=words),
    )


def fork(work: Callable[[], object]) -> int:
    """Run something in a child process; its number is returned."""
    child = os.fork()
    if not child:
        _finish(work)
    return child


def _finish(work: Callable[[], object]) -> NoReturn:
    try:
        work()
    except BaseException:  # a child must never return into its parent's stack
        os._exit(1)
    os._exit(0)


def survive_kills(folder: Path, kills: int, *, seed: int = 0) -> Survival:
    """Kill a writer that many times at random points, some in the middle of a line, each time going on after it."""
    chance = random.Random(seed)
    acknowledged = lost = torn = refused = 0
    slowest = 0.0
    for number in range(kills):
        path = folder / f"file{number // KILLS_PER_FILE}" / f"{SESSION}.jsonl"
        started = time.monotonic()
        acks, ready_s = _kill_one(path, chance)
        slowest = max(slowest, ready_s - started) if ready_s else slowest
        acknowledged += len(acks)
        seen: set[str] = set()
        torn_now = 0
        for found in iterate(path) if path.exists() else ():
            if isinstance(found.entry, UserEntry):
                seen.add(found.entry.uuid)
            torn_now += found.entry is None
        torn += torn_now if (number + 1) % KILLS_PER_FILE == 0 or number + 1 == kills else 0
        lost += len(acks - seen)
        refused += not _next_turn(path)
    return Survival(kills, acknowledged, lost, torn, refused, slowest)


def _kill_one(path: Path, chance: random.Random) -> tuple[set[str], float]:
    """The ids that a killed writer had acknowledged, and when its first one came."""
    reading, writing = os.pipe()
    seed = chance.random()
    child = fork(lambda: _write_for_ever(path, writing, random.Random(seed)))
    os.close(writing)
    wanted = chance.randrange(0, 40)
    data = b""
    ready = 0.0
    while data.count(b"\n") <= wanted and (piece := os.read(reading, 4096)):
        ready = ready or time.monotonic()
        data += piece
    time.sleep(chance.random() * 0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reading, 65536):
        data += piece
    os.close(reading)
    return {line.decode() for line in data.split(b"\n")[:-1]}, ready


def _write_for_ever(path: Path, acks: int, chance: random.Random) -> None:
    """Append, then say so. Writes are split at random, with a pause in between that a kill can hit."""
    whole = os.write

    def split(fd: int, data: bytes) -> int:
        if chance.random() < 0.5 and len(data) > 1:
            done = whole(fd, data[: chance.randrange(1, len(data))])
            time.sleep(chance.random() * 0.001)
            return done
        return whole(fd, data)

    os.write = split  # this child's own copy of the module
    leaf = load(path).leaf
    writer = TranscriptWriter(path, SESSION)
    while True:
        entry = prompt("word " * chance.randrange(1, 200), leaf)
        if writer.append(entry):
            leaf = entry.uuid
            whole(acks, entry.uuid.encode() + b"\n")


def _next_turn(path: Path) -> bool:
    loaded = load(path)
    entry = prompt("next turn", loaded.leaf)
    writer = TranscriptWriter(path, SESSION)
    saved = writer.append(entry)
    writer.close()
    return saved and load(path).leaf == entry.uuid


class Contest(NamedTuple):
    """What two writers of one session came to."""

    tries: int
    won: int
    interleaved: int


def two_writers(folder: Path, tries: int) -> Contest:
    """Two processes open one session again and again and write bursts; a burst must never hold another's line."""
    path = folder / f"{SESSION}.jsonl"
    children = [fork(lambda name=name: _burst(path, name, tries // 2)) for name in "ab"]
    failed = [child for child in children if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
    assert not failed, "a writer died"
    bursts: list[str] = []
    interleaved = 0
    for found in iterate(path):
        assert isinstance(found.entry, UserEntry), found
        name, _, step = str(found.entry.message.content).rpartition(" ")
        if step == "0":
            bursts.append(name)
        elif bursts[-1] != name:
            interleaved += 1
    return Contest(tries, len(bursts), interleaved)


def _burst(path: Path, name: str, tries: int) -> None:
    for number in range(tries):
        try:
            writer = TranscriptWriter(path, SESSION)
            for step in range(3):
                writer.append(prompt(f"{name}{number} {step}", None))
            writer.close()
        except SessionBusy:
            time.sleep(0.0001)


def writer_until_lost(path: Path, pulse: int) -> None:
    """Write without end; exit 7 when the session was lost, after telling nobody."""
    writer = TranscriptWriter(path, SESSION, name="the first")
    try:
        while True:
            writer.append(prompt("from the first", None))
            os.write(pulse, b".")
            time.sleep(0.001)  # mostly between two writes when it is stopped, as a real session is
    except LeaseLost:
        os._exit(7)
