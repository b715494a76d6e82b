"""A stream that stands still says so after ten seconds and what happens next; the sums that are told agree."""

from clew.commands.base import SessionFacts
from clew.commands.cost import cost_lines
from clew.llm.retry import RetryPolicy
from clew.presentation.rows.spans import plain
from clew.presentation.status import SILENCE_S, activity_row, footer_row
from clew.presentation.story.activity import Activity
from clew.protocol.state import SessionState
from clew.protocol.tally import ModelUse, SideUse, Tally


def told(activity: Activity, now_s: float) -> str:
    return plain(activity_row(activity, 120, now_s=now_s, way_out=False))


def test_after_ten_seconds_without_a_sign_it_is_told_with_what_happens_next() -> None:
    writing = Activity(doing="writing", turn_since_s=50.0, since_s=90.0, heard_s=100.0, begun=True)
    assert "Writing" in told(writing, 109.0)
    assert "Nothing came for 12 s from the model: after 90 s the request is made again" in told(writing, 112.0)
    waiting = Activity(doing="waiting", turn_since_s=50.0, since_s=90.0, heard_s=100.0)
    assert "Nothing came for 12 s from the model: it has not begun to answer" in told(waiting, 112.0)


def test_a_command_that_takes_long_and_a_clock_that_was_set_are_no_silence() -> None:
    running = Activity(doing="running", what="make", turn_since_s=50.0, heard_s=100.0)
    assert "Running make" in told(running, 200.0)
    writing = Activity(doing="writing", turn_since_s=50.0, heard_s=100.0, begun=True)
    assert "Writing" in told(writing, 90_000.0)


def test_the_time_that_is_told_is_the_one_that_is_waited() -> None:
    assert RetryPolicy().idle_timeout_s == SILENCE_S


def test_waiting_for_an_answer_is_counted_from_the_question() -> None:
    asking = Activity(doing="asking", turn_since_s=50.0, asked_s=100.0)
    assert told(asking, 130.0).endswith("30 s")


def test_cost_and_footer_tell_the_same_sum() -> None:
    tally = Tally(
        models=(ModelUse(model="a", requests=2, cost_usd=0.5),),
        side=(SideUse(purpose="title", requests=3, cost_usd=0.0123),),
    )
    facts = SessionFacts(state=SessionState(tally=tally), permission_mode="default")
    assert next(iter(cost_lines(facts))) == "Cost: $0.5123"
    assert "$0.5123" in plain(footer_row(facts, 100))
