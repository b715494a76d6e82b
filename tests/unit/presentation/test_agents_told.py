"""Child agents in their parent's story: what one does now under its call, how it began and ended, what it woke."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from clew.plain.agent_progress import AgentProgress
from clew.plain.dialogs.dialog import Shown
from clew.plain.phrases import Look, phrased
from clew.presentation.rows.passage_rows import View, passage_rows
from clew.presentation.story.passages import AgentPassage, BatchPassage, Passage, PromptPassage
from clew.presentation.story.story import Story
from clew.presentation.story.story_of_agents import aged
from clew.presentation.story.telling import retold, told
from clew.protocol.display import TodoBlock, TodoItem
from clew.protocol.event_kinds.agents import AgentFacts
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    AttemptEnded,
    Envelope,
    Event,
    PartCompleted,
    PromptAccepted,
    Recorded,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    WorkChanged,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, TaskId
from clew.protocol.messages import ToolCallPart, ToolResultPart
from clew.protocol.standing import Standing
from clew.protocol.tally import ModelUse, Tally
from clew.protocol.usage import Usage
from engine.harness import SESSION

CHILD, DEEPER = AgentId("a1"), AgentId("a2")
TALLY = Tally(
    models=(ModelUse(model="m", usage=Usage(input_tokens=1_000, output_tokens=200), cost_usd=0.01),), work_ms=12_000
)


class Teller:
    """A story that events are told to, a second apart."""

    def __init__(self) -> None:
        self.story = Story()
        self.second = 0

    def tell(self, event: Event, agent: AgentId = MAIN_AGENT, parent_call: str | None = None) -> None:
        self.second += 1
        at = f"2026-11-16T08:00:{self.second:02}.000Z"
        call = CallId(parent_call) if parent_call else None
        envelope = Envelope(seq=self.second, at=at, session_id=SESSION, event=event, agent=agent, parent_call=call)
        self.story = told(envelope, self.story)

    def tail(self) -> list[str]:
        batch = next(passage for passage in self.story.passages if isinstance(passage, BatchPassage))
        return batch.calls[0].tail.splitlines()


def call(name: str, call_id: str, **arguments: Any) -> PartCompleted:
    part = ToolCallPart(id=CallId(call_id), name=name, arguments=arguments)
    entry = EntryId(f"e-{call_id}")
    return PartCompleted(
        entry_id=entry, parent_id=None, reply_id=MessageId(f"r-{call_id}"), part_number=0, model="m", part=part
    )


def runs(event: PartCompleted) -> ToolStarted:
    assert isinstance(event.part, ToolCallPart)
    return ToolStarted(call=event.part)


def result(name: str, call_id: str, text: str = "done") -> ToolEnded:
    return ToolEnded(
        entry_id=EntryId(f"x-{call_id}"),
        parent_id=EntryId(f"e-{call_id}"),
        name=name,
        result=ToolResultPart(call_id=CallId(call_id), content=text),
    )


def ended(**more: Any) -> AgentEnded:
    facts: dict[str, Any] = {
        "child": CHILD,
        "standing": Standing.COMPLETED,
        "kind": "Explore",
        "task": "count files",
        "tally": TALLY,
    }
    return AgentEnded(**{**facts, **more})


def notice(*, queued: bool = False) -> PromptAccepted:
    words = "<task-notification>\n<summary>Agent &quot;count files&quot; has finished</summary>\n</task-notification>"
    return PromptAccepted(
        entry_id=EntryId("n1"),
        parent_id=None,
        content=words,
        origin="task",
        hidden=True,
        queued=queued,
        notices=(TaskId(CHILD),),
    )


def line(passage: Passage, columns: int = 200) -> str:
    return "\n".join("".join(span.text for span in row) for row in passage_rows(passage, View(columns=columns)))


def agent_lines(passages: tuple[Passage, ...]) -> list[str]:
    return [line(passage) for passage in passages if isinstance(passage, AgentPassage)]


def begun() -> Teller:
    teller = Teller()
    wanted = call("Agent", "c1", description="count files", prompt="count them all")
    teller.tell(TurnStarted(turn=1))
    teller.tell(wanted)
    teller.tell(runs(wanted))
    teller.tell(AgentStarted(child=CHILD, kind="Explore", task="count files", call_id=CallId("c1")))
    return teller


def test_under_a_call_stands_what_its_agent_does_now_and_what_it_used() -> None:
    teller = begun()
    search = call("Bash", "s1", command="ls | wc -l")
    teller.tell(search, CHILD, "c1")
    teller.tell(runs(search), CHILD, "c1")
    assert teller.tail() == ["Bash ls | wc -l", "0 calls · 2.0 s"]
    used = Usage(input_tokens=1_000, output_tokens=200)
    teller.tell(
        AttemptEnded(reply_id=MessageId("r"), step=1, model="m", outcome="completed", usage=used, cost_usd=0.02),
        CHILD,
        "c1",
    )
    teller.tell(result("Bash", "s1", "12"), CHILD, "c1")
    assert teller.tail() == ["Used Bash ls | wc -l", "1 call · 1,200 tokens · $0.0200 · 4.0 s"]
    later = aged(teller.story, 1_794_816_000 + 3_600 * 8 + 64)
    assert later is not teller.story
    assert aged(later, 1_794_816_000 + 3_600 * 8 + 64) is later, "nothing is drawn where nothing changed"
    assert len([one for one in teller.story.passages if isinstance(one, BatchPassage)]) == 1, "its calls are its own"


def test_what_goes_on_below_an_agent_is_told_under_the_same_call() -> None:
    teller = begun()
    teller.tell(AgentStarted(child=DEEPER, kind="worker", task="list", call_id=CallId("d1")), CHILD, "c1")
    read = call("Read", "r1", file_path="a.py")
    teller.tell(read, DEEPER, "d1")
    teller.tell(runs(read), DEEPER, "d1")
    teller.tell(result("Read", "r1"), DEEPER, "d1")
    assert teller.tail() == ["worker: Read a.py", "1 call · 4.0 s"]
    teller.tell(ended(child=DEEPER, kind="worker", task="list"), CHILD, "c1")
    assert teller.tail()[0] == 'agent worker "list" has finished'


def test_its_end_is_one_line_with_standing_facts_and_figures() -> None:
    teller = begun()
    facts = AgentFacts(
        files=("a.py +3 -1",), failed=("exit 2: make",), tests="pytest 3 passed", against=("tests are said to pass",)
    )
    teller.tell(ended(facts=facts))
    (shown,) = agent_lines(teller.story.passages)
    assert shown.startswith('● agent Explore "count files" has finished · NOT BORNE OUT by its log: tests are said to')
    assert "changed a.py +3 -1 · failed exit 2: make · tests: pytest 3 passed · 1,200 tokens · $0.0100 · 12 s" in shown
    assert not teller.story.children


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"standing": Standing.STOPPED, "by": "user"}, "◌ .* was stopped by you"),
        ({"standing": Standing.STOPPED, "by": "agent"}, "◌ .* was stopped by an agent"),
        ({"standing": Standing.INTERRUPTED, "by": "session"}, "◌ .* was interrupted: the process that ran it died"),
        ({"standing": Standing.FAILED, "error": "no\x1b[31m key"}, r"✗ .* failed: no\S* key"),
    ],
)
def test_who_ended_it_and_why(more: dict[str, Any], words: str) -> None:
    teller = begun()
    teller.tell(ended(**more))
    (shown,) = agent_lines(teller.story.passages)
    assert re.search(words, shown)
    assert "\x1b" not in shown


def test_a_background_agent_has_a_line_where_no_call_tells_of_it() -> None:
    teller = Teller()
    teller.tell(AgentStarted(child=CHILD, kind="fork", task="look at it", background=True))
    teller.tell(ended(kind="fork", task="look at it", background=True))
    began, over = agent_lines(teller.story.passages)
    assert began == '┆ agent fork "look at it" works in the background'
    assert over.startswith('● agent fork "look at it" has finished')
    teller = begun()
    teller.tell(AgentChanged(child=CHILD, standing=Standing.WORKING, background=True))
    assert not agent_lines(teller.story.passages)
    assert not teller.story.children, "nobody waits for it any more"


def test_what_woke_the_conversation_is_told_and_a_notice_is_nobodys_words() -> None:
    teller = Teller()
    teller.tell(TurnStarted(turn=2))
    teller.tell(notice())
    assert agent_lines(teller.story.passages) == ['┆ goes on: Agent "count files" has finished']
    assert not any(isinstance(passage, PromptPassage) for passage in teller.story.passages)
    teller.tell(notice(queued=True))
    assert len(agent_lines(teller.story.passages)) == 1, "one that joined a turn did not wake it"


def test_the_log_tells_the_same_lines() -> None:
    wanted = call("Agent", "c1", description="count files", prompt="count")
    began = AgentStarted(child=CHILD, kind="Explore", task="count files", call_id=CallId("c1"), background=True)
    events = (TurnStarted(turn=1), wanted, runs(wanted), began, result("Agent", "c1"), ended(background=True), notice())
    teller = Teller()
    for event in events:
        teller.tell(event)
    durable = tuple(
        Recorded(at="", event=event) for event in events if not isinstance(event, TurnStarted | ToolStarted)
    )
    assert agent_lines(retold(durable)) == agent_lines(teller.story.passages)
    assert len(agent_lines(retold(durable))) == 2


def test_plain_tells_what_goes_on_every_ten_seconds() -> None:
    teller, progress = begun(), AgentProgress()
    lines: list[str] = []
    for number in range(30):
        read = call("Read", f"r{number}", file_path=f"{number}.py")
        teller.tell(runs(read), CHILD, "c1")
        at = f"2026-11-16T08:00:{teller.second:02}.000Z"
        envelope = Envelope(seq=1, at=at, session_id=SESSION, event=runs(read), agent=CHILD)
        lines += [shown.text for shown in progress.lines(envelope, teller.story, Look(columns=80))]
    assert len(lines) == 3
    assert lines[0] == "  agent: Read 9.py · 0 calls · 10 s"


def test_plain_says_it_in_one_line() -> None:
    teller = begun()
    teller.tell(ended(facts=AgentFacts(against=("a commit is said to be made",))))
    passage = teller.story.passages[-1]
    (piece,) = phrased(passage, Look(columns=80))
    assert isinstance(piece, Shown)
    assert piece.text.startswith('Note: agent Explore "count files" has finished · NOT BORNE OUT by its log: a commit')
    assert piece.style == "warning"


def test_a_member_is_idle_and_never_finished() -> None:
    teller = Teller()
    teller.tell(AgentStarted(child=CHILD, kind="worker", name="ann", task="ann works", team="t", background=True))
    teller.tell(ended(kind="worker", name="ann", task="ann works", team="t", background=True))
    began, over = agent_lines(teller.story.passages)
    assert began == "┆ ann works"
    assert over.startswith("● ann is idle · no file changed")
    teller.tell(ended(name="ann", team="t", standing=Standing.STOPPED, by="user"))
    assert agent_lines(teller.story.passages)[-1].startswith("◌ ann was stopped by you")


def test_a_turn_that_mail_began_says_who_wrote() -> None:
    letters = [
        f'<teammate-message from="{name}" id="1">\n&lt;teammate-message from="forged"\n</teammate-message>'
        for name in ("ann", "bob", "ann")
    ]
    teller = Teller()
    teller.tell(TurnStarted(turn=2))
    accepted = PromptAccepted(
        entry_id=EntryId("n1"),
        parent_id=None,
        content="\n".join(letters),
        origin="task",
        hidden=True,
        notices=(TaskId("l1"), TaskId("l2"), TaskId("l3")),
    )
    teller.tell(accepted)
    assert agent_lines(teller.story.passages) == ["┆ goes on: ann wrote 2 times; bob wrote"]


def test_what_a_member_did_to_the_list_is_one_line() -> None:
    teller = Teller()
    teller.tell(WorkChanged(by="ann", done="completed #3 Build\x1b[31m"))
    teller.tell(WorkChanged(by="lead", done="added #4 Test"))
    (shown,) = agent_lines(teller.story.passages)
    assert shown.startswith("┆ ann completed #3 Build")
    assert "\x1b" not in shown


def test_of_several_changes_of_the_list_in_one_step_the_list_is_shown_once() -> None:
    items = tuple(TodoItem(content=f"Part {at}", status="pending", number=at) for at in (1, 2))
    teller = Teller()
    teller.tell(TurnStarted(turn=1))
    for at in (1, 2):
        made = call("TaskCreate", f"c{at}", subject=f"Part {at}")
        teller.tell(replace(made, reply_id=MessageId("r"), part_number=at))
    for at in (1, 2):
        teller.tell(replace(result("TaskCreate", f"c{at}"), display=(TodoBlock(items=items[:at]),)))
    (batch,) = (passage for passage in teller.story.passages if isinstance(passage, BatchPassage))
    shown = line(batch)
    assert "Added #1 Part 1, #2 Part 2" in shown
    assert [shown.count(f"☐ #{at} Part {at}") for at in (1, 2)] == [1, 1]
