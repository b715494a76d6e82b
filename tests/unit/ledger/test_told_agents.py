"""Agents of our own logs: who runs, who ended, who waits, from the events; recap and away line tell them."""

from typing import Any

import pytest

from clew.orient.form import form_of, news
from clew.protocol.base import EventBase
from clew.protocol.entries import EventEntry
from clew.protocol.events import AgentChanged, AgentEnded, AgentStarted
from clew.protocol.ids import AgentId, CallId
from clew.protocol.standing import Standing
from unit.ledger.talk import SESSION, Talk

LAUNCHED = "Agent launched in the background; agentId: a1."


def told(talk: Talk, event: EventBase) -> Talk:
    assert isinstance(event, AgentStarted | AgentChanged | AgentEnded)
    return talk.add(EventEntry(session_id=SESSION, timestamp="2026-03-01T11:00:00.000Z", event=event))


def begun(**more: Any) -> Talk:
    talk = Talk().user("Count the files of the project").call("Agent", description="Count files")
    event = AgentStarted(child=AgentId("a1"), kind="worker", task="Count files", call_id=CallId("c1"), **more)
    return told(talk, event)


def end(**more: Any) -> AgentEnded:
    facts: dict[str, Any] = {"child": AgentId("a1"), "standing": Standing.COMPLETED, "background": True}
    return AgentEnded(**{**facts, **more})


def standings(talk: Talk) -> list[Standing]:
    return [agent.standing for agent in talk.folding().ledger(held=True).agents]


@pytest.mark.parametrize("standing", [Standing.COMPLETED, Standing.STOPPED, Standing.FAILED, Standing.INTERRUPTED])
def test_the_event_of_its_end_counts_and_not_the_words_of_the_notice(standing: Standing) -> None:
    talk = begun(background=True).result(LAUNCHED)
    assert standings(talk) == [Standing.WORKING]
    told(talk, end(standing=standing))
    talk.user("<task-notification>\n<task-id>a1</task-id>\n<status>killed</status>\n</task-notification>", meta=True)
    assert standings(talk) == [standing]


def test_one_that_was_moved_to_the_background_outlives_the_turn() -> None:
    talk = begun()
    told(talk, AgentChanged(child=AgentId("a1"), standing=Standing.WORKING, background=True))
    talk.result("It was moved to the background and goes on there; agentId: a1.").agent("It works.").user("And now?")
    assert standings(talk) == [Standing.WORKING]
    told(talk, end())
    told(talk, AgentStarted(child=AgentId("a1"), kind="worker", task="Count files", resumed=True, background=True))
    assert standings(talk) == [Standing.WORKING], "it goes on"


def test_a_fork_of_the_person_has_no_call_and_is_known() -> None:
    talk = Talk().user("Count the files of the project")
    told(talk, AgentStarted(child=AgentId("f1"), kind="fork", task="Look at the tests", background=True))
    (agent,) = talk.folding().ledger(held=True).running_agents
    assert (agent.task, agent.background) == ("Look at the tests", True)


def test_recap_and_away_line_say_who_waits_and_who_finished() -> None:
    talk = begun(background=True).result(LAUNCHED).agent("It works in the background.")
    before = form_of(talk.folding().ledger(held=True))
    told(talk, AgentChanged(child=AgentId("a1"), standing=Standing.WAITING))
    form = form_of(talk.folding().ledger(held=True))
    assert form.told("open") == "Agent “Count files”: waiting for approval"
    assert form.told("agents") == ""
    told(talk, end())
    after = form_of(talk.folding().ledger(held=True))
    assert after.told("agents") == "“Count files” finished"
    assert after.told("changed") == "", "the end of an agent changes no file"
    assert "“Count files” finished" in news(before, after)
    assert "“Count files” working" not in news(before, after)


def test_a_thousand_agents_are_told_in_a_line_and_nobody_at_work_is_forgotten() -> None:
    talk = Talk().user("Count the files of the project")
    for number in range(1000):
        child = AgentId(f"a{number}")
        told(talk, AgentStarted(child=child, kind="worker", task=f"Part {number}", background=True))
        if number % 2:
            told(talk, end(child=child, standing=Standing.FAILED if number % 4 == 1 else Standing.COMPLETED))
    told(talk, AgentChanged(child=AgentId("a0"), standing=Standing.WAITING))
    ledger = talk.folding().ledger(held=True)
    assert len(ledger.running_agents) == 500
    form = form_of(ledger)
    assert form.told("open") == "Agent “Part 0”: waiting for approval"
    assert form.told("agents").startswith("“Part 996” working; “Part 998” working; +497 working; ")
    assert len(form.text) < 400


def test_several_notices_of_one_message_all_count() -> None:
    """Of a log without events, such as another program's."""
    talk = Talk().user("Count the files of the project")
    for number in (1, 2):
        talk.call("Task", description=f"Part {number}").result(f"Async agent launched successfully. agentId: b{number}")
    notices = [f"<task-notification>\n<task-id>b{n}</task-id>\n<status>completed</status>\n" for n in (1, 2)]
    talk.user("\n".join(f"{one}</task-notification>" for one in notices), meta=True)
    assert standings(talk) == [Standing.COMPLETED, Standing.COMPLETED]
