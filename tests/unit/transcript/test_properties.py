"""Properties of chain and view: what is live, resumed and forked is the same, whatever happened."""

import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.protocol.entries import ChainEntry, Entry
from clew.protocol.history import valid_history
from clew.protocol.ids import SessionId
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_boundary
from clew.transcript.chain.view import view
from clew.transcript.past.fork import fork_session
from clew.transcript.past.reader import load
from unit.protocol.test_history import assert_valid

from .samples import SESSION, Script, write_lines

_steps = st.lists(
    st.tuples(
        st.sampled_from(["user", "reply", "batch", "broken", "rewind", "boundary", "segment", "note", "snip", "side"]),
        st.integers(0, 1000),
    ),
    max_size=25,
)


def play(steps: list[tuple[str, int]]) -> Script:
    """A session in which these things happened, written as the recorder writes it."""
    script = Script()
    script.user("start")
    same = "same" if len(steps) % 3 == 0 else ""  # a server that has one id for all replies
    calls = 0
    for kind, number in steps:
        chain = [entry for entry in script.entries if isinstance(entry, ChainEntry) and not entry.is_sidechain]
        if kind == "user":
            script.user(f"prompt {number}")
        elif kind == "reply":
            script.assistant(f"answer {number}", message=same)
        elif kind == "batch":
            count = number % 4 + 1
            names = [f"call{calls + at}" for at in range(count)]
            calls += count
            asked = [script.call(name, message=same or f"msg{calls}") for name in names]
            order = list(range(count))
            random.Random(number).shuffle(order)
            for at in order[: number % (count + 1) or count]:
                script.result(names[at], f"result {at}", parent=asked[at])
                if number % 7 == 0:
                    script.replacement(names[at], "short")
        elif kind == "broken":
            before = script.tip
            script.tombstone(script.assistant("half"), script.assistant("more half"))
            script.tip = before
        elif kind == "rewind":
            script.user(f"another way {number}", parent=chain[number % len(chain)].uuid)
        elif kind == "boundary":
            script.boundary(f"summary {number}")
        elif kind == "segment" and script.tip is not None and not same:  # a segment never splits a reply
            segment = {"headUuid": script.tip, "anchorUuid": f"u{script.issued + 2}", "tailUuid": script.tip}
            if number % 3 == 0:
                segment[("headUuid", "anchorUuid", "tailUuid")[number // 3 % 3]] = "nowhere"
            script.boundary(preservedSegment=segment)
        elif kind == "note":
            script.system("away_summary", content="recap")
        elif kind == "snip":
            spoken = [entry for entry in chain if not is_boundary(entry)]
            gone = spoken[number % len(spoken)].uuid
            script.system("snip_boundary", data={"removedUuids": [gone]})
        elif kind == "side":
            script.entries.extend(_side(number))
    return script


def _side(number: int) -> list[Entry]:
    side = Script(sidechain=True, agent="x")
    side.user("sub task", parent=None, uuid=f"side{number}")
    return side.entries


@settings(max_examples=200, deadline=None)
@given(_steps)
@example([("batch", 2), ("batch", 0), ("user", 0), ("snip", 41), ("user", 0), ("user", 0)])
def test_live_resumed_and_forked_views_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    script = play(steps)
    path = script.write(tmp_path_factory.mktemp("live"))
    live = view(script.entries, session_id=SESSION)
    loaded = load(path)
    assert loaded.messages == live
    assert_valid(valid_history(live))
    forked = fork_session(loaded, SessionId("fork"), timestamp="2026-11-15T12:00:00.000Z")
    assert view(forked.entries, session_id="fork") == live


@settings(max_examples=100, deadline=None)
@given(_steps, st.randoms())
def test_rs2_the_order_of_lines_does_not_matter_without_a_boundary(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], chance: random.Random
) -> None:
    kinds = {"boundary", "segment", "note", "side"}
    script = play([step for step in steps if step[0] not in kinds])
    script.user("last")
    lines = script.lines()
    body = lines[:-1]
    chance.shuffle(body)
    expected = build_chain(script.entries, session_id=SESSION).entries
    path = write_lines(tmp_path_factory.mktemp("order") / f"{SESSION}.jsonl", [*body, lines[-1]])
    assert load(path).chain == expected


@settings(max_examples=100, deadline=None)
@given(_steps, st.integers(0, 40))
def test_every_prefix_of_a_file_takes_a_next_turn(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], keep: int
) -> None:
    script = play(steps)
    path: Path = write_lines(tmp_path_factory.mktemp("prefix") / f"{SESSION}.jsonl", script.lines()[:keep])
    loaded = load(path)
    more = Script()
    more.user("next", parent=loaded.leaf, uuid="next")
    assert_valid(valid_history(view([*loaded.entries, *more.entries], session_id=SESSION)))
