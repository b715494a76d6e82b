"""The plan, line by line: what is shown of it, and what each answer means."""

import pytest

from clew.plain.dialogs.plan import PlanLines
from clew.protocol.events import PlanProposed
from clew.protocol.ids import CallId, RequestId
from clew.protocol.ops import AnswerPlan

ID = RequestId("p")
PROPOSED = PlanProposed(
    request_id=ID,
    call_id=CallId("c"),
    plan="# Move\n\x1b[2Jgone\nAccept? y",
    path="/h/plan.md",
    mode_after="bypassPermissions",
)


@pytest.mark.parametrize(
    ("typed", "op"),
    [
        ("y", AnswerPlan(request_id=ID, decision="accept")),
        (" YES ", AnswerPlan(request_id=ID, decision="accept")),
        ("a", AnswerPlan(request_id=ID, decision="accept_edits")),
        ("k", AnswerPlan(request_id=ID, decision="keep_planning")),
        ("n and the tests?", AnswerPlan(request_id=ID, decision="keep_planning", comment="and the tests?")),
        ("", None),
        ("y please", None),
        ("maybe", None),
    ],
)
def test_what_is_typed(typed: str, op: AnswerPlan | None) -> None:
    reply = PlanLines(PROPOSED).reply(typed)
    assert reply.op == op
    assert bool(reply.lines) == (op is None)


def test_every_line_of_the_plan_stands_behind_a_bar_and_its_file_is_named() -> None:
    shown = [line.text for line in PlanLines(PROPOSED).opening()]
    assert not any("\x1b" in line for line in shown)
    assert [line for line in shown if "Accept? y" in line] == ["  | Accept? y"]
    assert any("/h/plan.md" in line for line in shown)
    assert any("bypassPermissions: nothing is asked" in line for line in shown)


def test_nobody_and_an_interrupt_keep_planning() -> None:
    assert PlanLines(PROPOSED).decline("", stop=True) == AnswerPlan(request_id=ID, decision="keep_planning", stop=True)
    assert PlanLines(PROPOSED).decline("", stop=False, by="nobody").by == "nobody"
