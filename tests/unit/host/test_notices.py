"""Which events are notices: every question, every end that is news, in words that are safe and hold no id."""

import typing

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.parts.notifications.part import MAX_CHARS, OWN_DOING, notice_of
from clew.protocol.base import leaves
from clew.protocol.event_kinds.turns import TurnEndReason
from clew.protocol.events import (
    ApprovalRequested,
    Ask,
    ElicitationRequested,
    Notified,
    PlanProposed,
    Question,
    QuestionAsked,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId, RequestId
from clew.protocol.standing import LIMITS

REQUEST, CALL = RequestId("0f0f-request"), CallId("0e0e-call")
KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2
ASKS: list[Ask] = [
    ApprovalRequested(request_id=REQUEST, call_id=CALL, tool="Bash", subject="git push", why="no rule"),
    QuestionAsked(request_id=REQUEST, call_id=CALL, questions=(Question(question="Which port?"),)),
    QuestionAsked(request_id=REQUEST, call_id=CALL, questions=()),
    PlanProposed(request_id=REQUEST, call_id=CALL, plan="first this, then that"),
    ElicitationRequested(request_id=REQUEST, server="tickets", message="Which project?", schema={}),
]


def end(reason: typing.Any, **more: typing.Any) -> TurnEnded:
    return TurnEnded(turn=1, reason=reason, steps=1, duration_ms=5_000, **more)


def test_whatever_waits_for_a_person_is_a_notice() -> None:
    assert {type(event) for event in ASKS} == {kind for kind in leaves(Ask) if kind.__module__.startswith("clew.")}
    for event in ASKS:
        notice = notice_of(event, "Parcels")
        assert notice is not None
        assert notice.kind in ("needs_approval", "asks")
        assert notice.title == "Parcels"


@pytest.mark.parametrize("event", ASKS, ids=lambda event: type(event).__name__)
def test_nothing_in_a_notice_could_answer(event: Ask) -> None:
    told = msgspec.json.encode(notice_of(event)).decode()
    assert REQUEST not in told
    assert CALL not in told


@pytest.mark.parametrize("reason", typing.get_args(TurnEndReason))
def test_every_end_of_a_turn_has_its_kind(reason: str) -> None:
    notice = notice_of(end(reason, error="it broke" if reason == "model_error" else ""))
    if reason in OWN_DOING:
        assert notice is None
        return
    assert notice is not None
    assert notice.kind == ("done" if reason == "completed" else "limit" if reason in LIMITS else "failed")
    assert reason != "model_error" or "it broke" in notice.text


def test_other_events_are_none() -> None:
    assert notice_of(TurnStarted(turn=1)) is None


def test_words_are_redacted_before_they_are_cut() -> None:
    for lead in range(MAX_CHARS + 10):
        command = f"{'x' * lead} curl -H 'x-api-key: {KEY}'"
        notice = notice_of(ApprovalRequested(request_id=REQUEST, call_id=CALL, tool="Bash", subject=command, why=""))
        assert notice is not None
        assert "Ab3d" not in notice.text
    failed = notice_of(end("model_error", error=f"refused {KEY}"), f"use {KEY}")
    assert failed is not None
    assert "Ab3d" not in failed.text + failed.title


HIDDEN = "\u202e\u2066\u2028\u2029"
TEXTS = st.text(max_size=400) | st.sampled_from(["\x1b]0;x\x07", "a\nb\rc", "\x9b31m", ";;", "\u202ex", "é" * 300])


@given(TEXTS, TEXTS, TEXTS)
def test_any_text_becomes_one_safe_line(tool: str, subject: str, title: str) -> None:
    for event in (
        ApprovalRequested(request_id=REQUEST, call_id=CALL, tool=tool, subject=subject, why=""),
        QuestionAsked(request_id=REQUEST, call_id=CALL, questions=(Question(question=subject),)),
        ElicitationRequested(request_id=REQUEST, server=tool, message=subject, schema={}),
        end("model_error", error=subject),
    ):
        notice = notice_of(event, title)
        assert isinstance(notice, Notified)
        for line in (notice.text, notice.title):
            assert len(line) <= 2 * MAX_CHARS + 60
            assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in HIDDEN for char in line)
