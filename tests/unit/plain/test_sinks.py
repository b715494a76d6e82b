"""Every place where untrusted text meets the screen lets no control sequence through (U2)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clew.protocol.display import (
    DiffBlock,
    FileBlock,
    MatchesBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
    TodoItem,
)
from clew.protocol.event_kinds.context import FileRestore
from clew.protocol.events import (
    AttemptEnded,
    Choice,
    EffortChanged,
    ModelChanged,
    Notice,
    OpRejected,
    PermissionModeChanged,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    Question,
    QuestionAsked,
    ReasoningDelta,
    RecapReady,
    ReplyWithdrawn,
    RetryScheduled,
    Rewound,
    RuleOffer,
    SessionRow,
    SessionStarted,
    TitleChanged,
    ToolStarted,
    TurnStarted,
)
from clew.protocol.ids import AgentId, CallId, EntryId, MessageId, OpId, PromptId, RequestId, SessionId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import SessionsListed
from clew.protocol.lookups.rules_and_models import ModelsListed, RuleRow, RulesListed
from clew.protocol.lookups.session import RewindPreviewed
from clew.protocol.messages import ToolCallPart
from clew.text.terminal_text import display_width
from unit.plain.play import PlayedTerminal, ScriptedClient, Stage, asks, call, ended, says, turn

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "terminal_escape.jsonl"
CLASSES = {
    "ESC": r"\x1b",
    "C0": r"[\x00-\x08\x0b-\x1f\x7f]",
    "C1": r"[\x80-\x9f]",
    "BIDI": "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]",
    "ZW": "[\u00ad\u200b\u2060\ufeff\u115f\u3164]",
    "TAG": "[\U000e0000-\U000e007f]",
    "LSEP": "[\u2028\u2029]",
}
OWN = [
    "a\x1b]0;title\x07b",
    "x\x1b[2J\x1b[Hy",
    "\x9b31mz",
    "rm -rf src\rls",
    "a\u202eb\u2066c",
    "a\u200bb",
    "a\U000e0041b",
    "a\u2028b",
    "\x1bP1;2|data\x1b\\c",
]
ANYTHING = re.compile("|".join(CLASSES.values()))


def given() -> list[str]:
    if not CASES.exists():
        return []
    texts: list[str] = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        source: Any = case["input"]
        if isinstance(source, dict) and "parts" in source:
            source = "".join(text * count for text, count in source["parts"])
        elif isinstance(source, dict) and "hex" in source:
            source = bytes.fromhex(source["hex"]).decode("utf-8", "replace")
        elif isinstance(source, list):
            source = "".join(source)
        if isinstance(source, str) and case["kind"] == "attack" and case["must_not_emit"] != []:
            texts.append(source)
    return texts


TEXTS = [*OWN, *given()]


def test_the_shared_samples_are_used_where_present() -> None:
    if not CASES.exists():
        pytest.skip("the shared samples are not beside this checkout")
    assert len(TEXTS) > len(OWN) + 10


def restores(bad: str) -> tuple[FileRestore, ...]:
    return (FileRestore(path=bad, patch=f"+{bad}"), FileRestore(path=bad, patch=bad, conflict=bad))


def every_sink(bad: str) -> list[Any]:
    message = MessageId("m1")
    return [
        *says(bad, bad),
        ReasoningDelta(reply_id=message, part=0, text=bad),
        PromptAccepted(entry_id=EntryId("e"), parent_id=None, content=bad, queued=True),
        call(1, "Bash", command=bad),
        ended(1, "Bash", TerminalBlock(command=bad, output=bad, exit_code=1)),
        ended(2, "Edit", DiffBlock(path=bad, patch=bad, added=1, removed=1)),
        ended(3, "Read", FileBlock(path=bad)),
        ended(4, "Grep", MatchesBlock(pattern=bad, matches=1, files=(bad,))),
        ended(5, "TodoWrite", TodoBlock(items=(TodoItem(content=bad, status="in_progress"),))),
        ended(6, "X", TableBlock(columns=(bad,), rows=((bad,),))),
        ended(7, "X", TextBlock(text=bad)),
        ended(8, bad, text=bad, is_error=True),
        ReplyWithdrawn(reply_id=message, entry_ids=(), reason=bad),
        RetryScheduled(attempt=1, max_attempts=2, delay_s=1.0, reason=bad),
        Notice(level="error", text=bad),
        TitleChanged(title=bad, source="user"),
        RecapReady(text=bad, away=bad),
        ModelChanged(model=bad, reason=bad),
        PermissionModeChanged(mode=bad),
        EffortChanged(effort=bad),
        OpRejected(op_id=OpId(bad), op=bad, reason=bad),
        PromptQueued(prompt_id=PromptId("p"), content=bad),
        PromptWithdrawn(prompt_id=PromptId("p")),
        ModelsListed(models=(bad,)),
        RulesListed(mode=bad, rules=(RuleRow(decision=bad, rule=bad, scope=bad),)),
        SessionsListed(sessions=(SessionRow(session_id=bad, agent=bad, title=bad, project=bad),)),
        ToolStarted(call=ToolCallPart(id=CallId("c"), name=bad, arguments={bad: bad})),
        AttemptEnded(reply_id=message, step=1, model=bad, outcome="completed"),
        RewindPreviewed(to=None, prompts=(bad,)),
        RewindPreviewed(to=EntryId(bad), files=restores(bad), warnings=(bad,), prompts=(bad,)),
        Rewound(direction="undo", scope="both", to=EntryId(bad), files=restores(bad)),
    ]


@pytest.mark.parametrize("bad", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("is_editing", [True, False])
async def test_no_sink_lets_a_sequence_through(bad: str, is_editing: bool) -> None:
    client = ScriptedClient()
    started = SessionStarted(
        session_id=SessionId(bad), cwd=bad, model=bad, permission_mode=bad, tools=(), version=f"0.1{bad}"
    )
    client._queue.get_nowait()
    client.push(started)
    terminal = PlayedTerminal(editing=is_editing)
    async with Stage(client=client, terminal=terminal, show_reasoning=True, verbose=True) as stage:
        stage.client.push(TurnStarted(turn=1))
        for told in every_sink(bad):
            if isinstance(told, Answer):
                stage.session._looking.tell(told)
            else:
                stage.client.push(told)
        await stage.settled()
        offers = (RuleOffer(rule=bad, covers=bad),)
        stage.client.push(call(9, "Bash", command="x", **{bad: bad}))
        stage.client.push(asks(9, bad, why=bad, offers=offers, warnings=(bad,)), agent=AgentId(bad))
        await stage.shows("Allow?")
        stage.terminal.type("v\na\n")
        await stage.until(lambda: len(stage.ops) == 1)
        question = Question(question=bad, header=bad, choices=(Choice(label=bad, description=bad),))
        stage.client.push(QuestionAsked(request_id=RequestId("q7"), call_id=CallId("c"), questions=(question,)))
        await stage.shows("own words > ")
        stage.terminal.type("1\n")
        await stage.until(lambda: len(stage.ops) == 2)
        stage.client.push(*turn(1, reason="model_error", error=bad)[1:])
        await stage.shows("-- ")
        stage.terminal.type("/stats\n")
        stage.terminal.type("/permissions\n")
        stage.terminal.type("/title\n")
        stage.terminal.type(f"/{bad.split()[0] if bad.split() else 'x'}\n")
        stage.terminal.type("/version\n")
        await stage.until(lambda: stage.output.count("clew 0.1") >= 2)
        seen = re.sub(r"\x1b\[[0-9]*[ABCJ]|\r", "", stage.output) if is_editing else stage.output
        found = ANYTHING.search(seen)
        assert found is None, f"{found and found[0]!r} in {seen[max(0, found.start() - 60) : found.end() + 20]!r}"


async def test_a_title_or_reason_cannot_start_a_line_of_its_own() -> None:
    async with Stage() as stage:
        stage.client.push(
            TitleChanged(title="build\nApproval needed: Bash", source="user"),
            RecapReady(text="a\nAllow? y"),
            ended(1, "Read", FileBlock(path="a\n* Edited b")),
        )
        await stage.shows("* Read")
        lines = stage.output.splitlines()
        assert not [line for line in lines if line.startswith(("Approval", "Allow?", "* Edited"))]


async def test_colour_is_only_there_when_the_terminal_has_it_and_never_from_outside() -> None:
    for colour in (True, False):
        async with Stage(terminal=PlayedTerminal(colour=colour)) as stage:
            stage.client.push(Notice(level="error", text="a\x1b[31mb"))
            await stage.shows("Error: ")
            assert ("\x1b[31mError: ab\x1b[0m" in stage.output) is colour
            assert ("\x1b" in stage.output) is colour


async def test_an_error_of_another_width_fits_narrow_screens() -> None:
    async with Stage(terminal=PlayedTerminal(columns=40)) as stage:
        long = "漢字" * 40 + ".py"
        stage.client.push(
            ended(1, "Edit", DiffBlock(path=f"src/{long}", patch="", added=3, removed=1)),
            ended(2, "Bash", TerminalBlock(command="echo " + "🎉" * 60, output="", exit_code=2)),
        )
        await stage.shows("exit 2")
        labels = [line for line in stage.output.splitlines() if line.startswith("*")]
        assert labels[0].startswith("* Edited …")
        assert labels[0].endswith("字.py +3 -1")
        assert labels[1].endswith("…: exit 2")
        assert all(display_width(label) <= 39 for label in labels)
