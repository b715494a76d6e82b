"""The way to an agent from the state of a session: at any depth, with names, and for one that nobody tells of."""

from clew.cli.sub.answer_words import ask_line
from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.agent_path import path_words
from clew.protocol.events import AgentEnded, AgentStarted, ApprovalRequested, PartCompleted
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, RequestId
from clew.protocol.messages import ToolCallPart
from clew.protocol.standing import Standing
from clew.protocol.state import SessionState, after
from fakes.envelopes import sent

ONE, TWO, THREE = AgentId("a1"), AgentId("a2"), AgentId("a3")


def tree() -> SessionState:
    state = SessionState()
    for parent, child, kind, name, task in (
        (MAIN_AGENT, ONE, "Explore", "", "look around"),
        (ONE, TWO, "worker", "bob", "sort"),
        (TWO, THREE, "worker", "", "count\n files"),
    ):
        state = after(sent(AgentStarted(child=child, kind=kind, name=name, task=task), agent=parent), state)
    return state


def test_each_agent_is_reached_from_the_main_one() -> None:
    state = tree()
    assert path_words(state, MAIN_AGENT) == ""
    assert path_words(state, ONE) == 'main > Explore "look around"'
    assert path_words(state, TWO) == 'main > Explore > bob "sort"'
    assert path_words(state, THREE) == 'main > Explore > bob > worker "count files"'
    assert path_words(state, AgentId("zz")) == "agent zz"
    assert len(path_words(after(sent(AgentStarted(child=ONE, kind="x", task="t" * 500)), state), ONE)) < 90


def test_agents_that_name_each_other_make_no_endless_way() -> None:
    state = after(sent(AgentStarted(child=ONE, kind="worker", task="t"), agent=THREE), tree())
    assert path_words(state, ONE).startswith("main > ")


def test_one_that_ended_is_still_known_to_its_parent() -> None:
    state = after(sent(AgentEnded(child=THREE, standing=Standing.COMPLETED), agent=TWO), tree())
    assert path_words(state, THREE).endswith('worker "count files"')


def test_clew_answer_lists_the_way_and_the_real_input() -> None:
    story = Story()
    for parent, child in ((MAIN_AGENT, ONE), (ONE, TWO)):
        story = told(sent(AgentStarted(child=child, kind="worker", task="count"), agent=parent), story)
    call = ToolCallPart(id=CallId("c1"), name="Bash", arguments={"command": "rm -rf build", "timeout": 5})
    announced = PartCompleted(
        entry_id=EntryId("e1"), parent_id=None, reply_id=MessageId("r1"), part_number=0, model="m", part=call
    )
    ask = ApprovalRequested(
        request_id=RequestId("q1"), call_id=CallId("c1"), tool="Bash", subject="rm -rf build", why="no rule"
    )
    story = told(sent(ask, agent=TWO), told(sent(announced, agent=TWO), story))
    (asked,) = story.facts.state.asks
    line = ask_line(asked, story.asked_call(asked), path_words(story.facts.state, asked.agent))
    assert '{"command":"rm -rf build","timeout":5}' in line
    assert line.endswith('[main > worker > worker "count"]')
