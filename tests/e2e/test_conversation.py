"""The first promise: however a session went, every way to go on goes on with it. `make soak` plays more of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conversation_check import Going, against_script, check
from e2e.conversation_fuzz import play, sweep
from e2e.conversation_plan import make_plan, make_view_plan
from fakes.fault_script import Delivery, Place
from fakes.model_server import Recorded

SEEDS = [
    seed for seed in range(7000, 7006) if all(turn.action != "interrupt-at-once" for turn in make_plan(seed).turns)
]
"""Without interrupts that race with the reply on purpose: what those come to depends on the machine. `make soak` has
them."""
VIEW_SEEDS = [103, 107, 116, 121, 123, 1029, 1062]
"""Each of them once failed: snips and kept tails in exports, what stands behind a boundary, call ids of the past."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_with_faults_goes_on_as_it_was(tmp_path: Path, seed: int) -> None:
    """Live, resumed, forked, and exported and read back, through the real command."""
    plan = make_plan(seed)
    wrong = play(plan, tmp_path / "session")
    assert not wrong, "\n".join([plan.describe(), *(f"! {line}" for line in wrong)])


@pytest.mark.parametrize("seed", VIEW_SEEDS)
def test_a_session_whose_view_changed_goes_on_as_it_was(tmp_path: Path, seed: int) -> None:
    """Compactions, clearings, snips, undos, pins, recalls and rewinds among the faults."""
    plan = make_view_plan(seed)
    wrong = play(plan, tmp_path / "session")
    assert not wrong, "\n".join([plan.describe(), *(f"! {line}" for line in wrong)])


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_interrupts_everywhere_leave_one_result_for_every_call(tmp_path: Path, dialect: str) -> None:
    wrong = sweep(dialect, tmp_path / "session")
    assert not wrong, "\n".join(wrong)


# The check itself: each way to lose something is noticed.

USED: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "ask001 do it"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "say001 on my way"},
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "echo fx002 >> trace.txt"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok-fx002"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "say003 done"}]},
    {"role": "user", "content": [{"type": "text", "text": "ask999 and now"}]},
]
FIRST = {
    "parts": [{"text": "say001 on my way", "word": "say001"}, {"call": "Bash", "word": "fx002", "kind": "effect"}],
}
CUT = {"parts": [{"text": "say009 and so", "word": "say009"}], "cut": Place("in-text")}
SECOND = {"parts": [{"text": "say003 done", "word": "say003"}]}


def delivered(reply: dict[str, Any], messages: list[dict[str, Any]], sent: str) -> Delivery:
    body = {"model": "m", "tools": [], "system": "s", "messages": messages}
    delivery = Delivery("live", Recorded("POST", "/live", {}, json.dumps(body).encode(), 0.0), reply)
    delivery.sent = sent
    return delivery


def went(messages: list[dict[str, Any]], other: list[dict[str, Any]] | None = None) -> Going:
    """A session of two steps, the second after a cut, that goes on with these messages."""
    bodies = {
        name: {"model": "m", "tools": [], "system": "s", "messages": said}
        for name, said in {"live": messages, "resumed": other or messages}.items()
    }
    return Going(
        dialect="anthropic",
        last=bodies,
        deliveries=[
            delivered(FIRST, USED[:1], "whole"),
            delivered(CUT, USED[:3], "cut"),
            delivered(SECOND, USED[:3], "whole"),
            delivered({"parts": []}, messages, "whole"),
        ],
        starts=[0],
        asked=[("ask001 do it", True), ("ask999 and now", True)],
        ran=["fx002"],
        answers={},
        dates=("2026-01-01", "2026-01-01"),
    )


def changed(at: int, message: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The conversation with one message replaced, or left out."""
    return [*USED[:at], *([message] if message else []), *USED[at + 1 :]]


def test_a_session_that_went_well_passes_the_check() -> None:
    assert check(went(USED)) == []


def test_cache_marks_are_no_part_of_the_conversation() -> None:
    block = {"type": "text", "text": "ask001 do it", "cache_control": {"type": "ephemeral"}}
    assert check(went(USED, changed(0, {"role": "user", "content": [block]}))) == []


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (changed(0, None), "the prompt 'ask001 do it' is there 0 times"),
        ([*USED, USED[0]], "the prompt 'ask001 do it' is there 2 times"),
        ([USED[4], *USED[1:4], USED[0]], "out of order"),
        ([USED[0], *USED[3:]], "fx002 ran, and the request has 0 calls of it"),
        ([*USED[:3], *USED[1:]], "fx002 ran, and the request has 2 calls of it"),
        (changed(3, None), "the answer say003 is there 0 times"),
        ([*USED[:4], USED[3], USED[4]], "the answer say003 is there 2 times"),
        (changed(3, {"role": "assistant", "content": "say003 done, say009 and"}), "say009 was withdrawn and is there"),
        (
            changed(2, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "no"}]}),
            "the call fx002 has the result",
        ),
    ],
)
def test_what_is_lost_doubled_or_brought_back_is_noticed(messages: list[dict[str, Any]], words: str) -> None:
    going = went(messages)
    assert any(words in line for line in against_script(going, going.last["live"]))


def test_a_call_without_a_result_is_noticed() -> None:
    assert any("a call has 0 results" in line for line in check(went(changed(2, None))))


def test_another_way_that_differs_is_noticed() -> None:
    other = changed(3, {"role": "assistant", "content": [{"type": "text", "text": "say003 done."}]})
    assert any(line.startswith("resumed: the messages differ: at 4") for line in check(went(USED, other)))


def test_bytes_that_change_after_they_were_sent_are_noticed() -> None:
    first = {"role": "user", "content": [{"type": "text", "text": "so ask001 do it"}]}
    assert any(line.startswith("prefix: request 4 changes") for line in check(went(changed(0, first))))
