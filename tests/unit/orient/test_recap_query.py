"""Recaps in a model's words: who is asked, one retry that names the objection, nothing false shown, once per key."""

import asyncio
from pathlib import Path

import pytest

from clew.llm.errors import Overloaded
from clew.llm.scripted import Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.orient.dialog import dialog_of
from clew.orient.form import form_of
from clew.orient.narrator import Narrator
from clew.orient.recap_query import (
    Setting,
    Used,
    WriterChoice,
    WrittenRecap,
    WrittenRecaps,
    choose,
    extract,
    question,
    write_recap,
)
from clew.orient.side_query import QueryStamp
from unit.ledger.talk import Talk
from unit.orient.test_side_query import Desk
from unit.orient.test_verify import fixed

GOOD = "You fixed leap years in dates.py and 14 tests pass; next, review and commit."
SECRET = "ghp_" + "a1B2" * 9


async def written(tmp_path: Path, *replies: str, goal_only: bool = False) -> tuple[WrittenRecap | None, ScriptedModel]:
    model = ScriptedModel([Say(reply) for reply in replies])
    talk = fixed()
    ledger = talk.ledger()
    queries = Desk(tmp_path, model).queries
    made = await write_recap(ledger, form_of(ledger), dialog_of(talk.entries), queries, goal_only=goal_only)
    return made, model


async def test_a_good_answer_is_shown_and_form_dialog_and_memory_are_given(tmp_path: Path) -> None:
    made, model = await written(tmp_path, f"<recap>{GOOD}</recap>", f'"14 passed"\n<recap>{GOOD}</recap>')
    assert made is not None
    assert (made.text, made.dropped, made.read_over, len(model.requests)) == (GOOD, (), True, 2)
    asked = str(model.requests[0].messages[0].content)
    assert "State: idle" in asked
    assert "USER: Fix the date parser" in asked
    talk = fixed()
    assert "MEMORY (quoted)\nuse tabs" in question(form_of(talk.ledger()), dialog_of(talk.entries), "use tabs")


async def test_a_bad_answer_gets_one_retry_that_names_the_objection(tmp_path: Path) -> None:
    made, model = await written(tmp_path, "<recap>You deployed dates.py.</recap>", f"<recap>{GOOD}</recap>")
    assert made is not None
    assert made.text == GOOD
    assert "deployed" in str(model.requests[1].messages[0].content)
    assert "You deployed dates.py." in made.why()


async def test_a_draft_is_read_over_against_form_record_and_dialog(tmp_path: Path) -> None:
    """What code cannot tell is a matter for a reader: the rules let this pass, it is told of nobody."""
    wrong = "The README explains the leap year rule now."
    made, model = await written(tmp_path, f"<recap>{GOOD} {wrong}</recap>", f"2: only offered\n<recap>{GOOD}</recap>")
    assert made is not None
    assert made.text == GOOD
    assert f"“{wrong}”: taken out when it was read over" in made.why()
    given = str(model.requests[1].messages[0].content)
    for part in ("State: idle", "USER: Fix the date parser", "command ok: pytest -q", wrong):
        assert part in given
    assert all(request.temperature == 0.3 and not request.tools for request in model.requests)


async def test_nothing_may_be_left_of_it_and_no_reader_leaves_it_to_the_code(tmp_path: Path) -> None:
    made, _ = await written(tmp_path, f"<recap>{GOOD}</recap>", "1: nobody says so\n<recap></recap>")
    assert made is not None
    assert made.text == ""
    model = ScriptedModel([Say(f"<recap>{GOOD} It was deployed.</recap>"), Fail(Overloaded("no capacity"))])
    talk = fixed()
    queries = Desk(tmp_path, model).queries
    made = await write_recap(talk.ledger(), form_of(talk.ledger()), dialog_of(talk.entries), queries)
    assert made is not None
    assert (made.text, made.read_over) == (GOOD, False)
    assert "not read over" in made.why()


async def test_what_stays_false_is_left_out_and_told(tmp_path: Path) -> None:
    bad = "<recap>You fixed leap years in dates.py. It was deployed to production.</recap>"
    made, model = await written(tmp_path, bad, bad)
    assert made is not None
    assert made.text == "You fixed leap years in dates.py."
    assert len(model.requests) == 2
    assert "deployed" in made.why()


@pytest.mark.parametrize(
    "reply",
    [
        "The capital of France is Paris.",
        "<recap>The capital of France is Paris.</recap>",
        "Sure! Here is what you asked for.",
        "",
        "<recap></recap>",
        "<recap>x</recap>",
        "<recap>Quantum computers use qubits.</recap>",
        "<recap>Run rm -rf / next.</recap>",
        "<recap>Ignore the facts: the production database of Contoso was dropped.</recap>",
        f"<recap>Your key is {SECRET}.</recap>",
    ],
)
async def test_an_answer_to_something_else_shows_nothing(tmp_path: Path, reply: str) -> None:
    made, _ = await written(tmp_path, reply, reply)
    assert made is None or made.text == ""
    assert SECRET not in str(made)


async def test_four_hundred_words_and_markdown_become_a_short_recap(tmp_path: Path) -> None:
    long = "## Recap\n" + "\n".join("- **You fixed** the leap year case in dates.py." for _ in range(60))
    made, _ = await written(tmp_path, f"<recap>{long}</recap>")
    assert made is not None
    assert 0 < len(made.text.split()) <= 40
    assert "**" not in made.text


async def test_a_local_model_says_the_goal_and_the_facts_stand_beside_it(tmp_path: Path) -> None:
    made, model = await written(tmp_path, "<recap>You want leap years in dates.py fixed.</recap>", goal_only=True)
    assert made is not None
    assert made.text.startswith("You want leap years in dates.py fixed. (idle · ")
    assert "nothing about how it stands" in str(model.requests[0].system)


async def test_nothing_to_tell_asks_nobody_and_a_failure_leaves_the_form(tmp_path: Path) -> None:
    model = ScriptedModel([Fail(Overloaded("no capacity"))])
    talk = Talk().user("Fix the parser please")
    ledger = talk.ledger()
    queries = Desk(tmp_path, model).queries
    assert await write_recap(ledger, form_of(ledger), dialog_of(talk.entries), queries) is None
    assert model.requests == []
    talk = fixed()
    assert await write_recap(talk.ledger(), form_of(talk.ledger()), dialog_of(talk.entries), queries) is None


async def test_the_narrator_asks_once_per_last_entry_also_across_processes(tmp_path: Path) -> None:
    model = ScriptedModel([Say(f"<recap>{GOOD}</recap>"), Say(f"<recap>{GOOD}</recap>")])
    kept = WrittenRecaps(tmp_path)
    narrators = [Narrator(queries=Desk(tmp_path, model).queries, log=[].append, kept=kept) for _ in range(2)]
    for narrator in narrators:
        for entry in fixed().entries:
            narrator.feed(entry)
        for _ in range(2):
            told = await narrator.tell(with_model=True)
            assert told is not None
            assert (told.text, told.source) == (GOOD, "model")
            assert told.form.told("state") == "idle", "the facts stand beside it"
    assert len(model.requests) == 2, "one to write it, one to read it over"
    narrator = narrators[1]
    facts = await narrator.tell()
    assert facts is not None
    assert facts.source == "facts"
    narrator.feed(fixed().user("Now the docs").entries[-1])
    assert kept.get(QueryStamp(*narrator.key())) is None


async def test_words_about_a_session_that_went_on_meanwhile_are_dropped(tmp_path: Path) -> None:
    writing, on = asyncio.Event(), asyncio.Event()
    second = ReplyOf([Wait(on, reached=writing), Say(f"<recap>{GOOD}</recap>")])
    model = ScriptedModel([Say(f"<recap>{GOOD}</recap>"), second])
    narrator = Narrator(queries=Desk(tmp_path, model).queries, log=[].append)
    for entry in fixed().entries:
        narrator.feed(entry)
    telling = asyncio.ensure_future(narrator.tell(with_model=True))
    await writing.wait()
    narrator.feed(fixed().user("Now the docs").entries[-1])
    on.set()
    told = await telling
    assert told is not None
    assert (told.source, told.why) == ("facts", "No model wrote it: the session went on meanwhile.")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Let me think. <recap>You fix\nthe parser.</recap> bye", "You fix\nthe parser."),
        ("<recap>You fix the parser, next", "You fix the parser, next"),
        ("You fix the parser.", ""),
        ("<RECAP>x</RECAP>", "x"),
    ],
)
def test_three_tier_extraction(reply: str, expected: str) -> None:
    assert extract(reply) == expected


def chosen(
    setting: Setting = "auto",
    *,
    asked: bool = False,
    fast: str = "a/small",
    main: str = "a/big",
    own: bool = True,
    session_model: str = "a/big",
) -> WriterChoice:
    used = Used(session_model, own)
    return choose(
        setting, asked=asked, fast=fast, main=main, used=used, is_local=lambda name: name.startswith("ollama/")
    )


@pytest.mark.parametrize(
    ("choice", "model"),
    [
        (chosen(), "a/small"),
        (chosen("off"), ""),
        (chosen("off", asked=True), "a/small"),
        (chosen(fast=""), ""),
        (chosen(fast="", asked=True), "a/big"),
        (chosen(fast="", main="", asked=True), ""),
        (chosen(own=False), ""),
        (chosen(own=False, asked=True), "a/small"),
        (chosen(session_model="b/big"), ""),
        (chosen(session_model="b/big", asked=True), "a/small"),
        (chosen(fast="ollama/x", session_model="ollama/x"), ""),
        (chosen("on", fast="ollama/x", session_model="ollama/x"), "ollama/x"),
        (chosen("on", fast="ollama/x", session_model="ollama/x", own=False), ""),
        (chosen("on", fast="ollama/x"), ""),
        (chosen("on", fast="", main="ollama/x", session_model="ollama/x"), "ollama/x"),
        (chosen(fast="", main="ollama/x", session_model="ollama/x"), ""),
        (chosen(fast="ollama/x", asked=True), "ollama/x"),
    ],
)
def test_who_is_asked(choice: WriterChoice, model: str) -> None:
    assert choice.model == model
    assert bool(choice.reason) is not bool(model)
    assert not model.startswith("ollama/") or choice.goal_only
