"""Side queries: one attempt, stamped, single flight, capped, booked, switchable, silent to the user."""

import asyncio
from pathlib import Path

from clew.llm.errors import Overloaded
from clew.llm.model import Model
from clew.llm.scripted import Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.orient.daily_cap import DailyCap
from clew.orient.dialog import MAX_MESSAGES, dialog_of, recent
from clew.orient.side_query import THOUGHT_TOKENS, QueryStamp, SideQueries, SideQuery
from clew.protocol.entries import SideQueryEntry
from clew.protocol.messages import text_of
from clew.system.clock import ManualClock
from unit.ledger.talk import Talk


class Desk:
    """The path with its edges at hand."""

    def __init__(
        self,
        home: Path,
        model: Model | None,
        *,
        enabled: bool = True,
        cap_usd: float = 0.5,
        timeout_s: float | None = 60.0,
    ) -> None:
        self.stamp = QueryStamp("s1", "e1")
        self.booked: list[SideQueryEntry] = []
        self.logged: list[str] = []
        self.clock = ManualClock(1_800_000_000.0)
        self.cap = DailyCap(home, cap_usd, clock=self.clock)
        self.queries = SideQueries(
            model,
            cap=self.cap,
            current=lambda: self.stamp,
            book=self.booked.append,
            log=self.logged.append,
            enabled=enabled,
            timeout_s=timeout_s,
            clock=self.clock,
        )


QUERY = SideQuery(purpose="session-recap", system="be brief", text="hello", max_output_tokens=300)


async def test_the_request_is_small_and_the_reply_is_booked(tmp_path: Path) -> None:
    model = ScriptedModel([Say("words")])
    desk = Desk(tmp_path, model)
    assert await desk.queries.ask(QUERY) == "words"
    request = model.requests[0]
    assert (request.tools, request.max_output_tokens, request.temperature, request.purpose) == (
        (),
        300,
        0.3,
        "side-query:session-recap",
    )
    assert [(entry.purpose, entry.outcome, entry.session_id) for entry in desk.booked] == [
        ("session-recap", "ok", "s1")
    ]
    assert desk.cap.calls() == 1


async def test_a_model_that_always_thinks_has_room_for_thoughts_and_words(tmp_path: Path) -> None:
    model = ScriptedModel([Say("words")], thinks="always")
    await Desk(tmp_path, model).queries.ask(QUERY)
    assert model.requests[0].max_output_tokens == 300 + THOUGHT_TOKENS


async def test_secrets_do_not_leave(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    model = ScriptedModel([Say("x")])
    await Desk(tmp_path, model).queries.ask(QUERY._replace(text=f"token {secret}"))
    assert secret not in str(model.requests[0])


async def test_one_switch_turns_everything_off(tmp_path: Path) -> None:
    model = ScriptedModel([Say("x")])
    desk = Desk(tmp_path, model, enabled=False)
    assert await desk.queries.ask(QUERY) is None
    assert model.requests == []
    assert "switched off" in desk.logged[0]


async def test_no_fast_model_asks_nobody(tmp_path: Path) -> None:
    desk = Desk(tmp_path, None)
    assert await desk.queries.ask(QUERY) is None
    assert not desk.queries.available


async def test_the_daily_cap_holds_over_sessions_and_ends_with_the_day(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ScriptedModel([Say("x"), Say("y")]), cap_usd=0.01)
    desk.cap.add(0.02)
    assert await desk.queries.ask(QUERY) is None
    assert "daily cap" in desk.logged[0]
    desk.clock.advance(2 * 86400)
    assert await desk.queries.ask(QUERY) == "x"


def test_a_broken_cap_file_counts_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "side-queries.json").write_text("{broken")
    cap = DailyCap(tmp_path, 1.0)
    assert cap.allows()
    cap.add(0.25)
    assert cap.spent_usd() == 0.25


async def test_failure_is_silent_and_logged(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ScriptedModel([Fail(Overloaded("no capacity"))]))
    assert await desk.queries.ask(QUERY) is None
    assert "Overloaded" in desk.logged[0]
    assert desk.booked[0].outcome == "Overloaded"


async def test_a_late_result_is_dropped(tmp_path: Path) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()
    desk = Desk(tmp_path, ScriptedModel([ReplyOf([Wait(gate, reached), Say("about the old state")])]))
    asking = asyncio.create_task(desk.queries.ask(QUERY))
    await reached.wait()
    desk.stamp = QueryStamp("s2", "e9")
    gate.set()
    assert await asking is None
    assert desk.booked[0].outcome == "stale"
    assert "dropped" in desk.logged[-1]


async def test_single_flight_and_abort_of_stale_keys(tmp_path: Path) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()
    desk = Desk(tmp_path, ScriptedModel([ReplyOf([Wait(gate, reached), Say("one")]), Say("two")]))
    asking = asyncio.create_task(desk.queries.ask(QUERY))
    await reached.wait()
    assert await desk.queries.ask(QUERY) is None
    assert "in flight" in desk.logged[-1]
    desk.stamp = QueryStamp("s1", "e2")
    assert await desk.queries.ask(QUERY) == "two"
    assert await asking is None
    assert not gate.is_set()


async def test_what_is_given_up_on_the_way_was_sent_all_the_same_and_is_booked(tmp_path: Path) -> None:
    reached = asyncio.Event()
    desk = Desk(tmp_path, ScriptedModel([ReplyOf([Wait(asyncio.Event(), reached=reached), Say("late")])]))
    asking = asyncio.ensure_future(desk.queries.ask(QUERY))
    await reached.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert asking.cancelled()
    assert [(entry.outcome, entry.cost_usd) for entry in desk.booked] == [("aborted", None)]


async def test_abort_keeps_what_is_about_the_current_key(tmp_path: Path) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()
    desk = Desk(tmp_path, ScriptedModel([ReplyOf([Wait(gate, reached), Say("kept")])]))
    asking = asyncio.create_task(desk.queries.ask(QUERY))
    await reached.wait()
    desk.queries.abort(unless=desk.stamp)
    gate.set()
    assert await asking == "kept"


async def test_a_slow_model_times_out(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ScriptedModel([ReplyOf([Wait(asyncio.Event()), Say("never")])]), timeout_s=0.01)
    assert await desk.queries.ask(QUERY) is None
    assert "timeout" in desk.logged[0]


async def test_the_model_says_how_long_and_how_much_unless_the_user_does(tmp_path: Path) -> None:
    never = ReplyOf([Wait(asyncio.Event()), Say("never")])
    slow = ScriptedModel([never, never], side_query_timeout_s=0.02, side_query_chars=100)
    desk = Desk(tmp_path, slow, timeout_s=None)
    assert await desk.queries.ask(QUERY._replace(text="facts " + "x" * 500 + " newest")) is None
    assert "timeout after 0.02 s" in desk.logged[0]
    asked = text_of(slow.requests[0].messages[0].content)
    assert len(asked) <= 100
    assert asked.startswith("facts ")
    assert asked.endswith(" newest")
    desk = Desk(tmp_path, slow, timeout_s=0.01)
    assert await desk.queries.ask(QUERY) is None
    assert "timeout after 0.01 s" in desk.logged[0]


async def test_a_secret_at_the_cut_does_not_leave_in_halves(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    model = ScriptedModel([Say("x")], side_query_chars=120)
    await Desk(tmp_path, model).queries.ask(QUERY._replace(text="a " * 20 + secret + " b" * 200))
    assert "a1B2" not in str(model.requests[0])


def test_the_dialog_has_words_only() -> None:
    talk = (
        Talk()
        .agent("Hello, I am ready.")
        .user("<system-reminder>mcp</system-reminder>Fix the parser")
        .user("hidden", meta=True)
    )
    talk.call("Bash", command="cat secret").result("PAYLOAD").agent("Fixed it.")
    lines = recent(dialog_of(talk.entries))
    assert [(line.by_user, line.text) for line in lines] == [(True, "Fix the parser"), (False, "Fixed it.")]
    long = Talk()
    for number in range(60):
        long.user(f"question number {number}").agent(f"answer {number}")
    assert len(recent(dialog_of(long.entries))) <= MAX_MESSAGES
    assert recent(dialog_of(long.entries))[0].by_user
