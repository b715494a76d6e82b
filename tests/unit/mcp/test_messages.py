"""A server's output as messages: whatever its pieces, bounded, and a flood is let in drop by drop."""

import json

from hypothesis import given
from hypothesis import strategies as st

from clew.mcp.transport.messages import Inflow, LineBuffer, Oversized, whole_characters


def taken(lines: LineBuffer) -> list[bytes | Oversized]:
    found: list[bytes | Oversized] = []
    while (line := lines.next()) is not None:
        found.append(line)
    return found


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"").strip()), max_size=8), st.data())
def test_lines_do_not_depend_on_their_pieces(whole: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in whole)
    lines = LineBuffer(max_bytes=1_000)
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        lines.add(stream[:size])
        stream = stream[size:]
    assert taken(lines) == [line for line in whole if line]
    assert lines.waiting_bytes == 0


def test_a_line_that_is_too_long_is_not_held_and_says_what_it_answered() -> None:
    lines = LineBuffer(max_bytes=10_000)
    result = {"content": [{"type": "text", "text": "x" * 50_000}]}
    shapes = (
        {"jsonrpc": "2.0", "id": 7, "result": result},
        {"result": result, "jsonrpc": "2.0", "id": 8},
        {"jsonrpc": "2.0", "result": result, "id": 9},
    )
    for shape in shapes:
        data = json.dumps(shape).encode()
        for at in range(0, len(data), 4_096):
            lines.add(data[at : at + 4_096])
        lines.add(b"\n")
    lines.add(b'{"ok": 1}\n')
    *long, last = taken(lines)
    assert [line.answered for line in long if isinstance(line, Oversized)] == [7, 8, 9]
    assert last == b'{"ok": 1}'


def test_what_cannot_be_told_is_not_guessed() -> None:
    lines = LineBuffer(max_bytes=100)
    lines.add(b'{"jsonrpc": "2.0", "method": "x", "params": {"id": 3, "text": "' + b"y" * 1_000 + b'"}}\n')
    (line,) = taken(lines)
    assert isinstance(line, Oversized)
    assert line.answered is None


def test_a_flood_is_bounded_and_goes_on_later() -> None:
    now = 0.0
    inflow = Inflow(lambda: now)
    assert sum(inflow.admits("a") for _ in range(10_000)) == Inflow.BURST
    assert inflow.dropped == 10_000 - Inflow.BURST
    assert inflow.admits("b"), "one kind does not stand in another's way"
    now = 1.0
    assert sum(inflow.admits("a") for _ in range(10_000)) == Inflow.PER_S


def test_half_a_character_becomes_a_mark_and_the_rest_stays() -> None:
    line = rb'{"a": "x\ud83d", "b": "\ud83d\ude00 \\ud83d \u00e9", "c": "\ude00' + b'\xff"}'
    assert json.loads(whole_characters(line)) == {"a": "x\ufffd", "b": "\U0001f600 \\ud83d \u00e9", "c": "\ufffd\ufffd"}
