"""Side queries: one attempt, stamped, single flight, capped, booked, switchable, silent to the user."""

import asyncio
from pathlib import Path

import pytest

from clew.llm.errors import Overloaded
from clew.llm.model import Model
from clew.llm.scripted import Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.orient.daily_cap import DailyCap
from clew.orient.dialog import MAX_MESSAGES, dialog_of
from clew.orient.recap import recap
from clew.orient.rephrase import extract, rephrase
from clew.orient.side_query import Query, SideQueries, Stamp
from clew.orient.verify import objections
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
        self.stamp = Stamp("s1", "e1")
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


QUERY = Query(purpose="session-recap", system="be brief", text="hello", max_output_tokens=300)


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
    desk.stamp = Stamp("s2", "e9")
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
    desk.stamp = Stamp("s1", "e2")
    assert await desk.queries.ask(QUERY) == "two"
    assert await asking is None
    assert not gate.is_set()


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
    lines = dialog_of(talk.entries)
    assert [(line.by_user, line.text) for line in lines] == [(True, "Fix the parser"), (False, "Fixed it.")]
    long = Talk()
    for number in range(60):
        long.user(f"question number {number}").agent(f"answer {number}")
    assert len(dialog_of(long.entries)) <= MAX_MESSAGES
    assert dialog_of(long.entries)[0].by_user


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Let me think. <recap>You fix\nthe parser.</recap> bye", "You fix the parser."),
        ("<recap>You fix the parser, next", "You fix the parser, next"),
        ("You fix the parser.", ""),
        ("", ""),
        ("<RECAP>x</RECAP>", "x"),
    ],
)
def test_three_tier_extraction(reply: str, expected: str) -> None:
    assert extract(reply) == expected


def fixed() -> Talk:
    talk = Talk().user("Fix the date parser in dates.py for leap years").edit("/p/dates.py", "a", "b")
    return talk.bash("pytest -q", "14 passed in 0.1s").agent("I fixed the leap year case in dates.py.")


@pytest.mark.parametrize(
    "text",
    [
        "You fixed the date parser in dates.py and 14 tests pass; next, review and commit.",
        "Fixing leap years in `dates.py`; commit it next.",
    ],
)
def test_words_the_facts_bear_out(text: str) -> None:
    assert objections(text, fixed().ledger()) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("You fixed the date parser in calendar.py.", "file not in the facts: calendar.py"),
        ("You fixed dates.py and 15 tests pass.", "number not in the facts: 15"),
        ("You fixed dates.py and committed it.", "claim the facts do not hold: committed"),
        ("You fixed dates.py and pushed it.", "claim the facts do not hold: pushed"),
        ("You fixed dates.py; the build is green.", "claim the facts do not hold: build is green"),
        ("You fixed dates.py and deployed it.", "claim the facts do not hold: deployed"),
        ("You fixed dates.py with `terraform apply`.", "name not in the facts: terraform apply"),
        ("You fixed dates.py for Margaret.", "name not in the facts: Margaret"),
        ("You fixed parse_date in dates.py.", "name not in the facts: parse_date"),
        ("**Done**: dates.py", "markdown or several lines"),
        ("word " * 41, "more than 40 words"),
    ],
)
def test_what_the_facts_do_not_hold_is_found(text: str, part: str) -> None:
    assert part in objections(text, fixed().ledger())


def test_a_failed_run_denies_success() -> None:
    talk = fixed().bash("pytest -q", "1 failed, 13 passed in 0.1s", error=True).agent("Hm, one is left.")
    assert any("tests pass" in item for item in objections("You fixed dates.py and the tests pass.", talk.ledger()))


async def test_rephrasing_is_verified_and_falls_back(tmp_path: Path) -> None:
    talk = fixed()
    good = "<recap>You fixed leap years in dates.py and 14 tests pass; next, review and commit.</recap>"
    model = ScriptedModel([Say(good), Say("<recap>You deployed orders.py to production.</recap>"), Say("no tag")])
    desk = Desk(tmp_path, model)
    ledger = talk.ledger()
    made, dialog = recap(ledger), dialog_of(talk.entries)
    assert await rephrase(ledger, made, dialog, desk.queries, desk.logged.append) == extract(good)
    asked = str(model.requests[0].messages[0].content)
    assert "FACTS" in asked
    assert "14 tests pass" in asked
    assert await rephrase(ledger, made, dialog, desk.queries, desk.logged.append) is None
    assert "orders.py" in desk.logged[-1]
    assert await rephrase(ledger, made, dialog, desk.queries, desk.logged.append) is None
    assert "no recap tag" in desk.logged[-1]


async def test_too_little_dialog_asks_nobody(tmp_path: Path) -> None:
    model = ScriptedModel([Say("x")])
    desk = Desk(tmp_path, model)
    talk = Talk().user("Fix the parser please")
    assert (
        await rephrase(talk.ledger(), recap(talk.ledger()), dialog_of(talk.entries), desk.queries, desk.logged.append)
        is None
    )
    assert model.requests == []
