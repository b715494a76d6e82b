"""Who is asked to write a recap, when, at whose cost, and what is sent: through the real command, with the requests of
one or two scripted providers on record."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from e2e.command import CLEW, Place
from e2e.screen_person import ScreenPerson
from e2e.test_plain import Person
from fakes.effort import not_hanging
from fakes.model_server import ModelServer, Recorded
from unit.catalog.test_find_session import second_session
from unit.foreign.samples_lines import codex
from unit.foreign.samples_text import aider
from unit.foreign.samples_trees import opencode_db

FAST, OTHER_FAST = "claude-haiku", "gpt-6-luna"
OTHER = "openai/gpt-6.1-sol"
PROMPTS = ("Explain what dates.py does with leap years", "and months?", "and days?")
ANSWER = "dates.py skips 29 February in leap years."
WORDS = "You asked what dates.py does with leap years: it skips 29 February."
READY = "sk for something"


def provider(fast: str = FAST, **reply: Any) -> ModelServer:
    """Answers every prompt, and its fast model writes recaps, or does what `reply` says."""
    said = {"match": fast, "repeat": 50, **(reply or {"text": f'"29 February"\n<recap>{WORDS}</recap>'})}
    return ModelServer({"replies": [said], "last": {"text": ANSWER}})


def session_of(place: Place, prompts: Sequence[str] = PROMPTS, *, resume: str = "", **env: str) -> str:
    """Made by runs that nobody watched."""
    for text in prompts:
        more = ("--resume", resume) if resume else ()
        done = place.run("-p", text, *more, "--output-format", "json", env=env)
        assert done.code == 0, done.err
        resume = str(done.result["session_id"])
    return resume


def settings(place: Place, **values: Any) -> None:
    place.clew_home.mkdir(parents=True, exist_ok=True)
    (place.clew_home / "settings.json").write_text(json.dumps(values))


def person(place: Place, *args: str) -> Person:
    env = {name: value for name, value in place.env.items() if name not in ("PATH", "LANG")}
    return Person([CLEW, "--plain", "--trust", *args], place.project, columns=200, **env)


def leaves(someone: Person) -> str:
    someone.type("/exit\r")
    assert someone.exits() == 0
    return someone.seen


def asked(server: ModelServer) -> list[Recorded]:
    """The side queries, not the conversation: those have tools."""
    return [sent for sent in server.requests if not sent.body.get("tools")]


def side_entries(place: Place) -> list[dict[str, Any]]:
    lines = [json.loads(line) for path in place.transcripts() for line in path.read_text().splitlines()]
    return [entry for entry in lines if entry["type"] == "side-query"]


def test_unasked_it_goes_only_to_the_provider_that_the_session_used(tmp_path: Path) -> None:
    with provider() as first, provider(OTHER_FAST) as second:
        place = Place(tmp_path, first.url)
        place.env |= {"OPENAI_API_KEY": "sk-second", "OPENAI_BASE_URL": f"{second.url}/v1"}
        here, there = session_of(place), session_of(place, CLEW_MODEL=OTHER)
        codex(place.home)
        session_of(place, resume="0199aaaa")
        assert asked(first) == asked(second) == [], "a run that nobody watches pays for no recap"
        someone = person(place, "--resume", here, "--model", OTHER)
        someone.sees("Recap:")
        someone.type("/recap why\r")
        someone.sees("the session used another provider than openai/gpt-6-luna")
        leaves(someone)
        assert asked(first) == asked(second) == []
        looking = ScreenPerson(place)
        looking.sees(READY)
        looking.type("/sessions\r")
        looking.sees("4 found")
        looking.until(lambda: any(WORDS[:40] in row for row in looking.rows))
        looking.type("\x1b")
        looking.sees(READY)
        looking.leave()
        for sent in asked(first):
            assert sent.body["model"].startswith(FAST)
            assert "fetch.py" not in sent.raw.decode(), "what was brought from another agent is not sent"
        assert asked(first)
        assert asked(second) == []
        someone = person(place, "--resume", there, "--model", OTHER)
        someone.sees(WORDS)
        leaves(someone)
        assert {sent.body["model"] for sent in asked(second)} == {OTHER_FAST}


def test_what_is_written_on_leaving_is_paid_once_told_once_and_booked(tmp_path: Path) -> None:
    with provider() as server:
        place = Place(tmp_path, server.url)
        someone = person(place)
        for number, text in enumerate(PROMPTS, 1):
            someone.type(f"{text}\r")
            someone.sees("-- ", times=number)
        assert asked(server) == []
        seen = leaves(someone)
        assert 'recaps are also written by anthropic/claude-haiku-5-5, for at most $0.5 a day; "recap": {' in seen
        paid = len(asked(server))
        assert paid >= 1
        (path,) = place.transcripts()
        someone = person(place, "--resume", path.stem)
        someone.sees(WORDS)
        someone.type("/recap --llm\r")
        someone.sees(WORDS, times=2)
        assert "recaps are also written" not in leaves(someone)
        assert WORDS in place.run("recap", path.stem, "--llm").out
        looking = ScreenPerson(place)
        looking.sees(READY)
        looking.type("/sessions\r")
        looking.until(lambda: any(WORDS[:40] in row for row in looking.rows))
        looking.leave()
        assert len(asked(server)) == paid, "nobody pays for the same words again"
        booked = side_entries(place)
        assert len(booked) == paid
        assert all(entry["costUsd"] > 0 for entry in booked)
        day = json.loads((place.clew_home / "side-queries.json").read_text())
        assert day["calls"] == paid
        assert day["usd"] == pytest.approx(sum(entry["costUsd"] for entry in booked))


def test_the_daily_cap_is_shown_and_honoured_and_the_facts_remain(tmp_path: Path) -> None:
    with provider() as server:
        place = Place(tmp_path, server.url)
        settings(place, sideQueries={"dailyCapUsd": 0.00001})
        session = session_of(place)
        done = place.run("recap", session, "--llm")
        assert "of <$0.0001 today" in done.err
        paid = len(asked(server))
        assert len(side_entries(place)) == paid >= 1
        session_of(place, ["and weeks?"], resume=session)
        done = place.run("recap", session, "--llm")
        assert "Task: Explain what dates.py does with leap years" in done.out
        assert "the daily cap of <$0.0001 is used up; shown from facts" in done.err
        someone = person(place, "--resume", session)
        someone.sees("Recap:")
        someone.type("/recap --llm\r")
        someone.sees("No model wrote it: the daily cap of <$0.0001 is used up")
        someone.type("/status\r")
        someone.sees("of <$0.0001 today")
        leaves(someone)
        assert len(asked(server)) == paid


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"fault": "server_error"}, "Internal server error"),
        ({"fault": "html"}, "a web page"),
        ({"fault": "unauthorized"}, "invalid api key"),
        ({"text": ""}, "empty reply"),
        ({"text": "I would rather talk about the weather."}, "no recap between the tags"),
    ],
)
def test_a_model_that_fails_leaves_the_facts_and_whoever_asked_is_told(
    tmp_path: Path, reply: dict[str, Any], reason: str
) -> None:
    with provider(**reply) as server:
        place = Place(tmp_path, server.url)
        someone = person(place, "--resume", session_of(place))
        someone.sees("Recap: project: Explain what dates.py does with leap years")
        someone.type("/recap --llm\r")
        someone.sees(reason)
        someone.type("and weeks?\r")
        someone.sees("-- ")
        leaves(someone)


def test_a_model_that_hangs_holds_up_neither_the_facts_nor_the_work_nor_the_leaving(tmp_path: Path) -> None:
    with provider(fault="hang") as server:
        place = Place(tmp_path, server.url)
        someone = person(place, "--resume", session_of(place))
        someone.sees("Recap: project: Explain what dates.py does with leap years")
        with not_hanging():
            while not asked(server):
                someone.read(0.05)
        someone.type("and weeks?\r")
        someone.sees("-- ")
        leaves(someone)
        assert {entry["outcome"] for entry in side_entries(place)} == {"aborted"}, "sent, so it is booked"


def test_without_a_fast_model_nothing_goes_to_the_main_one_unasked(tmp_path: Path) -> None:
    with provider() as server:
        place = Place(tmp_path, server.url)
        settings(place, fastModel="none", summaries={"toolBatches": "model"}, titles={"model": "on"})
        someone = person(place, "--resume", session_of(place))
        someone.sees("Recap:")
        leaves(someone)
        assert asked(server) == [], "never the main model for titles, labels and what nobody asked for"


def test_asked_for_it_goes_to_the_main_model_where_there_is_no_fast_one(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": f'"29 February"\n<recap>{WORDS}</recap>'}}) as server:
        place = Place(tmp_path, server.url)
        settings(place, fastModel="none")
        session = session_of(place)
        assert WORDS in place.run("recap", session, "--llm").out
        assert {sent.body["model"] for sent in asked(server)} == {"claude-sonnet-4-5"}


def test_a_local_model_writes_the_goal_and_only_when_asked(tmp_path: Path) -> None:
    goal = "You want to know what dates.py does with leap years."
    with provider("wants to achieve", text=f"<recap>{goal}</recap>") as server:
        place = Place(tmp_path)
        place.env |= {"CLEW_MODEL": "ollama/small", "OLLAMA_BASE_URL": f"{server.url}/v1"}
        someone = person(place, "--resume", session_of(place))
        someone.sees("Recap:")
        someone.type("/recap why\r")
        someone.sees("No model wrote it")
        assert asked(server) == []
        someone.type("/recap --llm\r")
        someone.sees(f"{goal} (finished")
        leaves(someone)


def test_a_local_model_that_was_switched_on_writes_the_goal_unasked(tmp_path: Path) -> None:
    goal = "You want to know what dates.py does with leap years."
    with provider("wants to achieve", text=f"<recap>{goal}</recap>") as server:
        place = Place(tmp_path)
        place.env |= {"CLEW_MODEL": "ollama/small", "OLLAMA_BASE_URL": f"{server.url}/v1"}
        settings(place, recap={"model": "on"})
        session = session_of(place)
        someone = person(place, "--resume", session)
        someone.sees(f"{goal} (finished")
        assert 'recaps are also written by ollama/small; "recap"' in leaves(someone)
        looking = ScreenPerson(place)
        looking.sees(READY)
        looking.type("/sessions\r")
        looking.until(lambda: any(goal[:30] in row for row in looking.rows))
        looking.leave()


WIRES = {
    "anthropic": ("anthropic/claude-opus-5-5", "ANTHROPIC", "", {"thinking": {"type": "disabled"}}),
    "responses": (OTHER, "OPENAI", "/v1", {"reasoning": {"effort": "none"}}),
    "gemini": (
        "gemini/gemini-3.1-pro",
        "GEMINI",
        "",
        {"thinkingConfig": {"includeThoughts": False, "thinkingLevel": "low"}},
    ),
    "chat": ("deepseek/deepseek-v4-pro", "DEEPSEEK", "", {"thinking": {"type": "disabled"}}),
}


@pytest.mark.parametrize("wire", WIRES)
def test_on_every_wire_it_neither_thinks_nor_marks_and_what_it_cost_is_told(tmp_path: Path, wire: str) -> None:
    model, stem, path, expected = WIRES[wire]
    with ModelServer({"replies": [], "last": {"text": f'"29 February"\n<recap>{WORDS}</recap>'}}) as server:
        place = Place(tmp_path)
        place.env |= {"CLEW_MODEL": model, f"{stem}_API_KEY": "sk-x", f"{stem}_BASE_URL": f"{server.url}{path}"}
        settings(place, providers={"openai": {"dialect": "openai-responses"}})
        session = session_of(place)
        before = len(server.requests)
        done = place.run("recap", session, "--llm")
        sent = server.requests[before:]
        assert WORDS in done.out, done.err
        assert "clew recap: side queries cost " in done.err
        assert sent
        for request in sent:
            body = request.body | request.body.get("generationConfig", {})
            assert "cache_control" not in request.raw.decode()
            assert "tools" not in body
            assert {name: body.get(name) for name in expected} == expected
        assert next(entry["purpose"] for entry in side_entries(place)) == "session-recap"
        assert len(side_entries(place)) == len(sent)


def answered(database: Path, session: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        message = json.dumps({"role": "assistant", "time": {"created": 1771000001000}})
        connection.execute("INSERT INTO message VALUES (?,?,1,?)", ("msg_z2", session, message))
        part = json.dumps({"type": "text", "text": "The world was greeted."})
        connection.execute("INSERT INTO part VALUES (?,?,?,1,?)", ("prt_z2", "msg_z2", session, part))


def test_of_a_store_with_several_sessions_the_model_is_told_of_the_one_that_is_named(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": "<recap>You asked for something.</recap>"}}) as server:
        place = Place(tmp_path, server.url)
        database = opencode_db(place.home)
        second_session(database)
        answered(database, "ses_second")
        history = aider(place.project)
        history = history.rename(place.project / ".aider.chat.history.md")
        held = {
            row["session_id"]: row["first_prompt"] or row["title"]
            for row in json.loads(place.run("sessions", "--json").out)
        }
        for file, session in ((database, "ses_second"), (history, "aider-2026-01-06-11-00-00")):
            others = [text for name, text in held.items() if name != session and text not in held[session]]
            for name in (session, f"{file}#{session}"):
                before = len(server.requests)
                assert place.run("recap", name, "--llm").code == 0
                question = "".join(str(sent.body["messages"]) for sent in server.requests[before:])
                if name == session:
                    assert held[session] in question, (name, question)
                assert [text for text in others if text in question] == [], (name, question)
