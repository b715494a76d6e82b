"""Edges of a log that others have touched: glued lines, byte-order marks, children before their parents, wide modes."""

import random
import stat
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.protocol.entries import Entry
from clew.protocol.ids import SessionId
from clew.protocol.messages import text_of
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.view import view
from clew.transcript.log.codec import encode
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.fork import fork_session
from clew.transcript.past.reader import LoadedLog, iterate, load

from .samples import SESSION, Script, write_lines

BOM = b"\xef\xbb\xbf"
GLUE = [b"", b" ", b"\t", b"\r", b",", BOM, b"\0" * 40, b" \0\r" + BOM, b"\x1e"]


def talk(count: int = 5) -> Script:
    script = Script()
    for number in range(count):
        script.user(f'prompt {number} with {{"type":"user"}} 漢字 }}{{ and \\ud83d')
        script.assistant(f"answer {number}")
    return script


def texts(loaded: LoadedLog) -> list[str]:
    return [text_of(message.content) for message in loaded.messages]


def file_of(folder: Path, data: bytes) -> Path:
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(data)
    return path


def found_in(path: Path) -> list[Entry]:
    return [found.entry for found in iterate(path) if found.entry is not None]


@pytest.mark.parametrize("glue", GLUE, ids=repr)
@pytest.mark.parametrize("at", [0, 3, 8])
def test_two_entries_on_one_line_are_both_read(tmp_path: Path, glue: bytes, at: int) -> None:
    script = talk()
    lines = [line.rstrip(b"\n") for line in script.lines()]
    lines[at : at + 2] = [lines[at] + glue + lines[at + 1]]
    path = file_of(tmp_path, b"\n".join(lines) + b"\n")
    loaded = load(path)
    assert loaded.chain == tuple(script.entries)
    assert found_in(path) == script.entries
    assert [problem.kind for problem in loaded.problems] == ["nul-bytes"] * (b"\0" in glue)


@pytest.mark.parametrize("ends", [b"\n", b""])
def test_a_whole_file_without_newlines_is_read(tmp_path: Path, ends: bytes) -> None:
    script = talk()
    path = file_of(tmp_path, b"".join(line.rstrip(b"\n") for line in script.lines()) + ends)
    assert load(path).chain == tuple(script.entries)
    sink = TranscriptWriter(path, SESSION)
    script.user("next")
    sink.append(script.entries[-1])
    sink.close()
    assert load(path).chain == tuple(script.entries)


@given(st.lists(st.sampled_from([b"\n", b"\r\n", *GLUE]), min_size=9, max_size=9), st.integers(0, 200))
def test_whatever_stands_between_entries(
    tmp_path_factory: pytest.TempPathFactory, between: list[bytes], cut: int
) -> None:
    script = talk()
    lines = [line.rstrip(b"\n") for line in script.lines()]
    data = lines[0] + b"".join(glue + line for glue, line in zip(between, lines[1:], strict=True))
    folder = tmp_path_factory.mktemp("glue")
    assert load(file_of(folder, data)).chain == tuple(script.entries)
    torn = file_of(folder, data[: len(data) - 1 - cut % (len(lines[-1]) - 1)])
    assert load(torn).chain == tuple(script.entries[:-1])
    assert load(torn).problems[-1].kind == "torn"


@pytest.mark.parametrize("cut", range(1, 300, 17))
def test_an_entry_behind_a_torn_one_is_read(tmp_path: Path, cut: int) -> None:
    """Another program went on in the middle of a line."""
    script = talk()
    lines = script.lines()
    torn = lines[4].rstrip(b"\n")
    torn = torn[: max(1, len(torn) - cut)]
    path = file_of(tmp_path, b"".join([*lines[:4], torn + lines[5], *lines[6:]]))
    loaded = load(path)
    assert [entry for entry in script.entries if entry != script.entries[4]] == found_in(path)
    assert len(texts(loaded)) == 9, "the lost line is bridged"
    assert "not-json" in [problem.kind for problem in loaded.problems]


def test_parts_of_a_torn_entry_are_not_taken_for_entries(tmp_path: Path) -> None:
    whole = encode(talk().entries[1]).rstrip(b"\n")
    for cut in range(1, len(whole)):
        path = file_of(tmp_path, whole[:cut] + b"\n")
        assert found_in(path) == []


def test_glue_that_never_ends_costs_no_more_than_the_line(tmp_path: Path) -> None:
    path = file_of(tmp_path, b'{"type":"user",' * 200_000 + b"\n" + talk(1).lines()[0])
    assert len(found_in(path)) == 1


def test_glued_entries_are_forked_and_indexed_like_others(tmp_path: Path) -> None:
    script = talk()
    lines = script.lines()
    lines[2:4] = [lines[2].rstrip(b"\n") + lines[3]]
    path = write_lines(tmp_path / f"{SESSION}.jsonl", lines)
    loaded = load(path)
    forked = fork_session(loaded, SessionId("fork"), timestamp="2026-11-15T12:00:00.000Z")
    assert view(forked.entries, session_id="fork") == loaded.messages
    places = list(iterate(path))
    for before, after in pairwise(places):
        assert before.offset + before.length <= after.offset
    ended = [found for found in places if found.ended]
    assert len(ended) == len(lines)
    assert ended[-1].offset + ended[-1].length + 1 == path.stat().st_size
    start = next(found for found in ended if found.offset > len(lines[0]) + len(lines[1]))
    again = list(iterate(path, start=start.offset + start.length + 1))
    assert [found.entry for found in again] == script.entries[4:]


@pytest.mark.parametrize("at", [0, 1, 9])
def test_a_byte_order_mark_costs_nothing(tmp_path: Path, at: int) -> None:
    script = talk()
    lines = script.lines()
    lines[at] = BOM + lines[at]
    path = write_lines(tmp_path / f"{SESSION}.jsonl", lines)
    loaded = load(path)
    assert loaded.chain == tuple(script.entries)
    assert loaded.problems == ()


@pytest.mark.parametrize("swap", range(9))
def test_a_child_that_stands_before_its_parent_stays_in_view(tmp_path: Path, swap: int) -> None:
    script = talk()
    lines = script.lines()
    lines[swap], lines[swap + 1] = lines[swap + 1], lines[swap]
    loaded = load(write_lines(tmp_path / f"{SESSION}.jsonl", lines))
    assert loaded.chain == tuple(script.entries)
    assert loaded.leaf == script.entries[-1].uuid  # pyright: ignore[reportAttributeAccessIssue] (all are chain entries)
    assert loaded.problems == ()


@given(st.randoms())
def test_any_order_of_lines_gives_the_same_conversation(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    script = talk(3)
    for number in range(3):
        script.result(f"c{number}", parent=script.call(f"c{number}"))
    expected = build_chain(script.entries, session_id=SESSION)
    lines = script.lines()
    chance.shuffle(lines)
    loaded = load(write_lines(tmp_path_factory.mktemp("order") / f"{SESSION}.jsonl", lines))
    assert loaded.chain == expected.entries
    assert loaded.leaf == expected.leaf


def test_a_branch_that_was_left_stays_left(tmp_path: Path) -> None:
    """Only a child that stands before its parent moves the end; the newest branch of an ordered file is its last."""
    script = talk(2)
    script.user("left behind")
    script.user("again", parent="u3")
    loaded = load(script.write(tmp_path))
    assert texts(loaded)[-1] == "again"
    assert "left behind" not in texts(loaded)


@pytest.mark.parametrize("mode", [0o644, 0o666, 0o640, 0o604])
def test_a_transcript_that_others_could_read_becomes_private(tmp_path: Path, mode: int) -> None:
    path = talk(1).write(tmp_path)
    path.chmod(mode)
    load(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode, "reading changes nothing"
    sink = TranscriptWriter(path, SESSION)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    sink.close()
