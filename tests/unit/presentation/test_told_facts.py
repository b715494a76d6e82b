"""The fold over events: figures for /stats, what waits, and what is forgotten when a turn ends."""

from functools import reduce
from typing import Literal

from msgspec.structs import replace

from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    Event,
    RecapReady,
    SideQueryBooked,
    StepStarted,
    TextDelta,
    TitleChanged,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import AgentId, CallId, MessageId, RequestId
from clew.protocol.messages import ToolCallPart
from clew.protocol.state import FileChange
from clew.protocol.tally import ModelUse, SideUse
from clew.protocol.usage import Usage
from unit.plain.play import STARTED, asks, call, ended, sent, turn


def folded(*events: Event) -> Story:
    return reduce(lambda state, event: told(sent(event), state), events, Story())


def test_a_delta_changes_no_facts() -> None:
    state = folded(STARTED)
    assert told(sent(TextDelta(reply_id=MessageId("m"), part=0, text="x")), state).facts == state.facts


def test_usage_is_summed_per_model_and_unknown_prices_are_counted() -> None:
    used = Usage(input_tokens=10, output_tokens=2)
    asked = AttemptEnded(
        reply_id=MessageId("m"), step=1, model="a", outcome="completed", usage=used, cost_usd=0.5, retries=2
    )
    other = AttemptEnded(reply_id=MessageId("n"), step=1, model="b", outcome="completed")
    refused = AttemptEnded(reply_id=MessageId("o"), step=1, model="b", outcome="failed")
    step = StepStarted(step=1, model="a")
    state = folded(STARTED, step, asked, step, other, refused, step, asked).facts.state
    assert state.tally.models == (
        ModelUse(model="a", requests=6, usage=used + used, cost_usd=1.0),
        ModelUse(model="b", requests=2, unpriced=1),
    )
    assert state.steps == 3


def test_files_are_summed_per_path_and_failed_edits_do_not_count() -> None:
    edit = DiffBlock(path="a", patch="", added=2, removed=1)
    made = DiffBlock(path="b", patch="", added=5, removed=0, created=True)
    state = folded(
        *(TurnStarted(turn=1), ended(1, "Edit", edit), ended(2, "Edit", edit), ended(3, "Write", made)),
        ended(4, "Edit", edit, is_error=True),
    )
    assert state.facts.state.files == (
        FileChange(path="a", added=4, removed=2),
        FileChange(path="b", added=5, removed=0, created=True),
    )
    assert (state.facts.state.calls, state.facts.state.failed_calls) == (4, 1)


def test_commands_and_time_add_up_over_turns() -> None:
    ran = TerminalBlock(command="x", output="", exit_code=0)
    state = folded(STARTED, *turn(1, ended(1, "Bash", ran)), *turn(2, ended(2, "Bash", ran))).facts.state
    assert (state.commands, state.turns, state.tally.work_ms, state.working) == (2, 2, 2400, False)


def test_turns_of_other_agents_are_not_ours() -> None:
    helper = AgentId("h")
    state = folded(STARTED, TurnStarted(turn=1))
    over = TurnEnded(turn=1, reason="completed", steps=1, duration_ms=9)
    state = told(sent(over, agent=helper), state)
    assert state.working
    assert state.facts.state.turns == 0


def test_what_another_agent_asks_waits_for_the_person_too() -> None:
    state = told(sent(asks(1), agent=AgentId("h")), folded(STARTED, TurnStarted(turn=1)))
    assert state.facts.state.waiting == ()
    assert state.facts.state.asks == ((AgentId("h"), asks(1)),)


def resolved(decision: Literal["allow", "allow_always", "deny"], rule: str = "") -> ApprovalResolved:
    return ApprovalResolved(
        request_id=RequestId("q1"),
        call_id=CallId("c1"),
        tool="Bash",
        subject="git push",
        decision=decision,
        rule=rule,
    )


def test_requests_wait_until_they_are_resolved_or_the_turn_ends() -> None:
    assert folded(asks(1), asks(1), asks(2)).facts.state.waiting == (asks(1), asks(2))
    assert folded(asks(1), asks(2), resolved("allow")).facts.state.waiting == (asks(2),)
    assert folded(TurnStarted(turn=1), asks(1), *turn(1)[1:]).facts.state.waiting == ()
    assert folded(asks(1), resolved("deny")).facts.state.denials == ("Bash: git push",)
    assert folded(asks(1), resolved("allow_always", "R")).facts.state.saved_rules == ("R",)


def test_calls_run_until_they_end() -> None:
    announced = call(1, command="x")
    assert isinstance(announced.part, ToolCallPart)
    story = folded(announced, ToolStarted(call=announced.part))
    assert story.call(CallId("c1")) == announced.part
    assert [call_id for call_id, _ in story.activity.running] == ["c1"]
    assert told(sent(ended(1)), story).activity.running == ()


def test_side_queries_are_booked_by_purpose() -> None:
    booked = SideQueryBooked(purpose="title", model="f", cost_usd=0.25)
    unknown = SideQueryBooked(purpose="label", model="f")
    assert folded(booked, unknown, booked).facts.state.tally.side == (
        SideUse(purpose="title", requests=2, cost_usd=0.5),
        SideUse(purpose="label", requests=1, unpriced=1),
    )


def test_title_and_recap_are_remembered_with_the_reason() -> None:
    facts = folded(STARTED, TitleChanged(title="t", source="facts"), RecapReady(text="r")).facts
    assert (facts.state.title, facts.state.recap, facts.recap_why) == (
        "t",
        "r",
        "It was shown because you asked for it.",
    )
    resumed = type(STARTED)(**{**{name: getattr(STARTED, name) for name in STARTED.__struct_fields__}, "resumed": True})
    shown = RecapReady(text="r", occasion="resumed")
    assert "resumed" in folded(resumed, shown, replace(shown, text="s", source="model")).facts.recap_why
    assert "came back" in folded(resumed, shown, RecapReady(text="s", occasion="returned")).facts.recap_why
    assert "asked" in folded(resumed, shown, RecapReady(text="s")).facts.recap_why
    assert folded(STARTED, RecapReady(text="r", why="No model.")).facts.recap_why.endswith(" No model.")
