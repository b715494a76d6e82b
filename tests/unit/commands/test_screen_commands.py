"""The commands of the screen: what they ask for, what they say, and what an unknown one is answered with."""

import pytest

from clew.commands import intents, mode
from clew.commands.answers import ANSWERS, answer_lines
from clew.commands.base import KeyHelp, SessionFacts
from clew.commands.cost import agent_lines
from clew.commands.facts import facts_after
from clew.commands.registry import BY_NAME, COMMANDS
from clew.parts.skills.part import BUNDLED
from clew.protocol.display import DiffBlock, TodoItem
from clew.protocol.event_kinds.turns import PromptQueued
from clew.protocol.events import (
    EffortChanged,
    Event,
    PartCompleted,
    PromptAccepted,
    SessionStarted,
    ShellStarted,
    TaskRow,
    ThemeChanged,
)
from clew.protocol.ids import AgentId, EntryId, MessageId, OpId, PromptId, RequestId, SessionId, TaskId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import (
    CheckRow,
    ChecksShown,
    LineRemembered,
    ListMemory,
    MemoryListed,
    MemoryRow,
    Remember,
    RunChecks,
    SessionPreviewed,
)
from clew.protocol.lookups.rules_and_models import ModelRow, ModelsListed
from clew.protocol.lookups.session import (
    DiffShown,
    ExportSession,
    RequestStatus,
    SessionExported,
    ShowDiff,
    StatusRow,
    StatusShown,
)
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask, TaskShown, TasksListed
from clew.protocol.messages import TextPart
from clew.protocol.ops import SetEffort, SetPermissionMode, SetTheme
from clew.protocol.standing import Standing
from clew.protocol.state import AgentState, SessionState, session_state
from clew.protocol.tally import ModelUse, SideUse, Tally
from fakes.envelopes import sent
from unit.commands.test_commands import run

ASKED = OpId("1")


@pytest.mark.parametrize(
    ("typed", "op"),
    [
        ("/bashes", ListTasks()),
        ("/bashes bash_2", ShowTask(task_id="bash_2")),
        ("/bashes stop bash_2", StopTask(task_id="bash_2")),
        ("/diff", ShowDiff()),
        ("/diff src/a", ShowDiff(path="src/a")),
        ("/memory", ListMemory()),
        ("/memory add run make check first", Remember(line="run make check first")),
        ("/status", RequestStatus()),
        ("/doctor", RunChecks()),
        ("/theme light", SetTheme(theme="clew-light")),
        ("/theme terminal", SetTheme(theme="terminal")),
        ("/effort HIGH", SetEffort(effort="high", keep=True)),
        ("/mode plan", SetPermissionMode(mode="plan")),
        ("/mode acceptedits", SetPermissionMode(mode="acceptEdits")),
        ("/mode next", SetPermissionMode(mode="acceptEdits")),
        ("/export", ExportSession()),
        ("/export my notes.md", ExportSession(path="my notes.md")),
        ("/export log.jsonl", ExportSession(path="log.jsonl", to="jsonl")),
        ("/export --to json out", ExportSession(path="out", to="json")),
        ("/export out --to=claude-code", ExportSession(path="out", to="claude-code")),
    ],
)
def test_what_is_asked_for(typed: str, op: object) -> None:
    result = run(typed)
    assert (*result.ops, *result.lookups) == (op,)


@pytest.mark.parametrize(
    "typed", ["/bashes stop", "/memory add", "/theme pink", "/effort a lot", "/mode yolo", "/copy x"]
)
def test_what_makes_no_sense_asks_for_nothing(typed: str) -> None:
    result = run(typed)
    assert result.is_error
    assert not result.ops


def test_effort_and_mode_say_what_is_in_force() -> None:
    assert "auto" in run("/effort").lines[0]
    assert run("/effort auto").ops == run("/effort unset").ops == (SetEffort(effort="", keep=True),)
    assert run("/effort auto", effort="max").ops == (SetEffort(effort="", keep=True),)
    assert run("/mode").lines[0].startswith("Mode: default (asks")
    assert run("/mode default").ops == ()


def test_one_key_cycles_through_modes_and_never_into_the_one_that_asks_nothing() -> None:
    assert [mode.next_mode(now) for now in ("default", "acceptEdits", "plan")] == ["acceptEdits", "plan", "default"]
    assert mode.next_mode("bypassPermissions") == "default"
    assert mode.next_mode("plan", may_bypass=True) == "bypassPermissions"
    assert mode.next_mode("bypassPermissions", may_bypass=True) == "default"
    assert mode.next_mode("") == "default"


def test_quit_names_what_it_would_end_and_does_it_the_second_time() -> None:
    state = SessionState(
        working=True,
        queued=(PromptQueued(prompt_id=PromptId("p"), content="later"),),
        typed=(ShellStarted(request_id=RequestId("r"), command="make watch"),),
        tasks=(
            TaskRow(task_id=TaskId("bash_1"), kind="shell", title="npm run dev"),
            TaskRow(task_id=TaskId("bash_2"), kind="shell", title="true", standing=Standing.COMPLETED),
        ),
    )
    first = run("/quit", state)
    assert not first.leave
    assert not first.is_error
    told = "\n".join(first.lines)
    for words in ("the running turn", "1 prompt not sent yet", "make watch", "background command bash_1: npm run dev"):
        assert words in told
    assert len(first.ends) == 4
    assert run("/quit", state, again=True).leave
    assert run("/exit now", state).leave
    assert run("/quit").leave


def test_cost_adds_up_and_says_what_is_not_known() -> None:
    tally = Tally(
        models=(ModelUse(model="a", requests=2, cost_usd=0.5), ModelUse(model="b", requests=1, unpriced=1)),
        side=(SideUse(purpose="title", requests=3, cost_usd=0.01, unpriced=1),),
    )
    lines = run("/cost", SessionState(tally=tally)).lines
    assert lines[0] == "Cost: $0.5100 + 1 request without a price"
    assert lines[-1] == "Side queries: 3 calls, $0.0100 + 1 call without a price"


def test_todos_as_a_list() -> None:
    items = (
        TodoItem(content="read", status="completed"),
        TodoItem(content="write it", status="in_progress", active_form="writing it"),
        TodoItem(content="test", status="pending"),
    )
    assert run("/todos", SessionState(todos=items)).lines == (
        "Tasks: 1 of 3 done",
        "  [x] read",
        "  [>] writing it",
        "  [ ] test",
    )
    assert "no task list" in run("/todos").lines[0]


def test_copy_takes_the_last_answers() -> None:
    assert run("/copy", answers=("one", "two")).copy == "two"
    assert run("/copy 2", answers=("one", "two")).copy == "one"
    assert run("/copy 3", answers=("one", "two")).is_error
    assert run("/copy").is_error


def test_keys_come_from_the_front_end() -> None:
    keys = (
        KeyHelp(keys="Enter", does="send", where="Prompt"),
        KeyHelp(keys="Ctrl-R", does="search history", where="Prompt"),
        KeyHelp(keys="?", does="help"),
    )
    assert run("/keys", keys=keys).lines == (
        "Prompt:",
        "  Enter   send",
        "  Ctrl-R  search history",
        "Everywhere:",
        "  ?       help",
    )
    assert len(run("/keys history", keys=keys).lines) == 2
    assert "no keys" in run("/keys").lines[0]


EXITED = TaskRow(
    task_id=TaskId("bash_1"), kind="shell", title="npm run dev", standing=Standing.FAILED, exit_code=3, tail=("bye",)
)
RUNNING = TaskRow(task_id=TaskId("bash_2"), kind="shell", title="watch", owner=AgentId("a1"), age_s=65)
STOPPED = TaskRow(task_id=TaskId("bash_3"), kind="shell", title="watch", standing=Standing.STOPPED, by="user")
GONE = TaskRow(task_id=TaskId("bash_4"), kind="shell", title="watch", standing=Standing.INTERRUPTED)
ANSWERED: list[tuple[Event | Answer, str]] = [
    (TasksListed(tasks=(EXITED,)), "bash_1  npm run dev  (exited with code 3)"),
    (TasksListed(tasks=(RUNNING,)), "bash_2 of agent a1  watch  (running for 1 min 5 s)"),
    (TasksListed(tasks=(STOPPED,)), "bash_3  watch  (stopped by you)"),
    (TasksListed(tasks=(GONE,)), "bash_4  watch  (interrupted: its process ended)"),
    (TasksListed(tasks=()), "Nothing runs"),
    (TaskShown(task=EXITED, output="all of it\n"), "all of it"),
    (
        MemoryListed(files=(MemoryRow(path="/p/A.md", scope="project", chars=7),), adds_to="/p/A.md"),
        "A.md",
    ),
    (MemoryListed(files=(), adds_to=""), "switched off"),
    (LineRemembered(line="be kind", path="/p/A.md", scope="project"), "Remembered in A.md"),
    (DiffShown(files=(DiffBlock(path="/p/x.py", patch="+one", added=1, removed=0),)), "x.py +1 -0"),
    (DiffShown(files=()), "changed no files"),
    (
        SessionExported(path="/p/s.md", to="markdown", bytes=1234),
        "Written: /p/s.md (markdown, 1,234 bytes)",
    ),
    (SessionPreviewed(session="s", lines=("> what", "that")), "> what"),
    (StatusShown(rows=(StatusRow(name="Model", value="a/b"),)), "Model  a/b"),
    (ChecksShown(checks=(CheckRow(name="model", state="ok", summary="answers"),)), "Everything works."),
    (ChecksShown(checks=(CheckRow(name="git", state="ok", summary="2.40"),)), "the model was not."),
    (ThemeChanged(theme="terminal", saved_in="/h/settings.json"), "Theme: terminal (saved in /h/settings.json)"),
    (ModelsListed(models=("a/b",), rows=(ModelRow(name="a/b", provider="A", aliases=("x",)),)), "also x"),
]


@pytest.mark.parametrize(("event", "words"), ANSWERED, ids=lambda value: type(value).__name__)
def test_every_answer_is_put_into_words(event: Event | Answer, words: str) -> None:
    assert isinstance(event, ANSWERS)
    assert words in "\n".join(answer_lines(event, SessionFacts(cwd="/p")))


def test_a_long_diff_is_cut_with_a_count() -> None:
    block = DiffBlock(path="/p/x", patch="\n".join(f"+{number}" for number in range(500)), added=500, removed=0)
    lines = list(answer_lines(DiffShown(files=(block, block), left_out=3), SessionFacts(cwd="/p")))
    assert len(lines) < 220
    assert "300 more lines" in "\n".join(lines)
    assert lines[-1] == "5 files +1000 -0"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/settings", "/config"),
        ("/history", "/sessions"),
        ("/planning", "/plan"),
        ("/continue", "/resume"),
        ("/reset", "/clear"),
        ("/jobs", "/tasks"),
        ("/colours", "/theme"),
        ("/shortcuts", "/keys"),
        ("/remember", "/memory"),
        ("/bye", "/quit"),
        ("/login", "/doctor"),
        ("/setup", "/init"),
    ],
)
def test_a_word_of_another_agent_finds_what_means_the_same(typed: str, meant: str) -> None:
    result = run(typed, invocables=BUNDLED)
    assert result.is_error
    assert meant in result.lines[0]


@pytest.mark.parametrize("typed", ["/plugin", "/share"])
def test_what_is_not_there_is_called_so_and_suggests_nothing_by_its_letters(typed: str) -> None:
    told = run(typed).lines[0]
    assert "not there" in told or "There is no" in told
    assert "Did you mean" not in told
    assert "/quit" not in told


@pytest.mark.parametrize("typed", ["/unit", "/edit", "/wait", "/stack", "/pint", "/fig", "/modern", "/fort"])
def test_letters_alone_suggest_only_a_slip_of_one_with_the_same_beginning(typed: str) -> None:
    told = run(typed).lines[0]
    for command in COMMANDS:
        about = command.help
        if f"/{about.name}?" in told or f"/{about.name} or" in told:
            same = [name for name in (about.name, *about.aliases) if name[0] == typed[1]]
            assert any(intents.one_edit(typed[1:], name) or name.startswith(typed[1:]) for name in same)


def test_the_tables_name_only_what_there_is_and_shadow_nothing() -> None:
    assert set(intents.COMMANDS_MEANT) <= {*BY_NAME, *(row.name for row in BUNDLED)}
    assert not set(intents.MEANT) & set(BY_NAME)
    assert not set(intents.MISSING) & set(BY_NAME)
    assert not set(intents.MISSING) & set(intents.MEANT)
    assert set(intents.SAME) == set(intents.NOT_THERE)


@pytest.mark.parametrize(
    ("left", "right", "near"),
    [
        ("copy", "cpoy", True),
        ("diff", "dif", True),
        ("diff", "difff", True),
        ("diff", "daff", True),
        ("diff", "diff", False),
        ("diff", "daft", False),
        ("ab", "ba", True),
        ("abc", "cba", False),
        ("", "a", True),
    ],
)
def test_one_edit(left: str, right: str, near: bool) -> None:
    assert intents.one_edit(left, right) is near
    assert intents.one_edit(right, left) is near


def test_facts_follow_the_events() -> None:
    facts = SessionFacts()
    started = SessionStarted(
        session_id=SessionId("s"),
        cwd="/p",
        model="m",
        permission_mode="plan",
        tools=(),
        version="1",
        effort="low",
        may_bypass=True,
    )
    for event in (started, EffortChanged(effort="max"), ThemeChanged(theme="terminal")):
        facts = facts_after(sent(event), facts)
    assert (facts.effort, facts.may_bypass, facts.permission_mode, facts.theme) == ("max", True, "plan", "terminal")


def said(text: str) -> PartCompleted:
    return PartCompleted(
        entry_id=EntryId("e"),
        parent_id=None,
        reply_id=MessageId("m"),
        part_number=0,
        model="m",
        part=TextPart(text=text),
    )


def test_the_last_words_before_the_next_prompt_are_the_answer() -> None:
    asked = PromptAccepted(entry_id=EntryId("e"), parent_id=None, content="q")
    facts = SessionFacts()
    for event in (asked, said("I look first."), said("It is 7."), asked, said(" "), said("And 8.")):
        facts = facts_after(sent(event), facts)
    assert facts.answers == ("It is 7.", "And 8.")


def test_cost_names_agents_the_dearest_first() -> None:
    rows = (
        TaskRow(
            task_id=TaskId("a1"), kind="agent", title="count\nfiles", agent_kind="Explore", cost_usd=0.01, tokens=900
        ),
        TaskRow(task_id=TaskId("a2"), kind="agent", title="write", name="scout", cost_usd=0.25, tokens=9_000),
        TaskRow(task_id=TaskId("bash_1"), kind="shell", title="make"),
    )
    state = session_state(AgentState(tasks=rows))
    lines = list(agent_lines(state))
    assert lines[0] == "Agents: 2 agents, in the sum above"
    assert lines[1].startswith('  scout "write": $0.2500, 9,000 tokens')
    assert lines[2].startswith('  Explore "count files": $0.0100')
    assert list(agent_lines(session_state(AgentState()))) == []
