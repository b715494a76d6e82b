"""Everything of a session that is no reply, as lines: each event once, in the words that readers know."""

import json
from typing import Any, get_args

import msgspec
import pytest

from clew.protocol.event_kinds.asks import ApprovalRequested, ApprovalResolved
from clew.protocol.events import (
    BatchLabelled,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Envelope,
    Event,
    HookRan,
    ModelChanged,
    Notice,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    RecapReady,
    ReplyBegan,
    RetryScheduled,
    TitleChanged,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, PromptId, RequestId
from clew.protocol.messages import TextPart, ToolCallPart
from clew.protocol.usage import Usage
from clew.streaming.lines import StreamLines
from clew.streaming.shapes.stream import SCHEMA_VERSION, StreamLine
from engine.harness import SESSION
from unit.host.room import STARTED

Json = dict[str, Any]
OWN = {"session_id", "uuid"}


def at(seconds: int) -> str:
    return f"2026-11-16T08:{seconds // 60:02}:{seconds % 60:02}.000Z"


def told(*events: Event, when: list[int] | None = None, agent: str = MAIN_AGENT, **how: Any) -> list[Json]:
    stream = StreamLines(**how)
    found: list[Json] = []
    for number, event in enumerate(events):
        parent = None if agent == MAIN_AGENT else CallId("call_1")
        envelope = Envelope(
            seq=number,
            at=at(when[number] if when else 0),
            session_id=SESSION,
            event=event,
            agent=AgentId(agent),
            parent_call=parent,
        )
        found += [json.loads(msgspec.json.encode(line)) for line in stream.lines(envelope)]
    assert all(line["session_id"] == SESSION and line["uuid"] for line in found)
    return found


def without_ids(lines: list[Json]) -> list[Json]:
    return [{name: value for name, value in line.items() if name not in OWN} for line in lines]


def test_the_first_line_tells_where_the_run_stands() -> None:
    started = msgspec.structs.replace(STARTED, key_source="SOME_KEY", tools=("Read",))
    (init,) = told(started, slash_commands=("context",))
    assert (init["type"], init["subtype"], init["schema_version"]) == ("system", "init", SCHEMA_VERSION)
    assert (init["apiKeySource"], init["tools"], init["slash_commands"]) == ("SOME_KEY", ["Read"], ["context"])
    assert "claude_code_version" not in init
    assert set(init) >= {"cwd", "model", "permissionMode", "mcp_servers", "output_style", "skills", "plugins"}
    (keyless,) = told(STARTED)
    assert keyless["apiKeySource"] == "none"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            RetryScheduled(attempt=1, max_attempts=5, delay_s=1.5, reason="busy"),
            {"subtype": "api_retry", "attempt": 1, "max_retries": 5, "retry_delay_ms": 1500, "error": "busy"},
        ),
        (Notice(level="warning", text="careful", code="x"), {"subtype": "notice", "level": "warning"}),
        (TitleChanged(title="A title", source="model"), {"subtype": "title", "title": "A title", "source": "model"}),
        (RecapReady(text="You were here", away="news"), {"subtype": "away_summary", "content": "You were here"}),
        (ModelChanged(model="a/b"), {"subtype": "status", "status": None, "model": "a/b"}),
        (PermissionModeChanged(mode="plan"), {"subtype": "status", "status": None, "permissionMode": "plan"}),
        (CompactionStarted(kind="auto"), {"subtype": "status", "status": "compacting"}),
    ],
)
def test_what_happens_beside_replies(event: Event, line: Json) -> None:
    (found,) = without_ids(told(event))
    assert found["type"] == "system"
    assert {name: found[name] for name in line} == line


def test_a_label_names_the_calls_that_it_sums_up() -> None:
    (line,) = without_ids(told(BatchLabelled(call_ids=(CallId("a"), CallId("b")), label="Read two files")))
    assert line == {
        "type": "tool_use_summary",
        "summary": "Read two files",
        "preceding_tool_use_ids": ["a", "b"],
        "source": "facts",
    }


def test_compaction_ends_with_a_boundary_or_with_the_reason_why_not() -> None:
    ended = CompactionEnded(
        entry_id=EntryId("b"), logical_parent_id=None, kind="predictive", tokens_before=100, tokens_after=10
    )
    status, boundary = told(ended)
    assert (status["status"], boundary["subtype"], boundary["uuid"]) == (None, "compact_boundary", "b")
    assert boundary["compact_metadata"] == {
        "trigger": "auto",
        "pre_tokens": 100,
        "post_tokens": 10,
        "kind": "predictive",
    }
    status, notice = told(CompactionFailed(kind="manual", reason="no model"))
    assert (status["status"], notice["text"]) == (None, "no model")


def test_hooks_are_told_only_to_those_who_ask() -> None:
    ran = HookRan(hook="lint.sh", moment="PreToolUse", outcome="blocked", detail="no", duration_ms=3)
    assert told(ran) == []
    (line,) = told(ran, hooks=True)
    assert (line["subtype"], line["hook_event"], line["hook_name"]) == ("hook_response", "PreToolUse", "lint.sh")
    assert (line["outcome"], line["output"]) == ("blocked", "no")


def prompt(number: int, **more: Any) -> PromptAccepted:
    return PromptAccepted(
        entry_id=EntryId(f"p{number}"), parent_id=None, content="words", prompt_id=PromptId(f"i{number}"), **more
    )


def test_input_is_repeated_only_when_it_is_not_the_readers_own_or_when_asked_for() -> None:
    assert told(prompt(1)) == []
    (hidden,) = told(prompt(2, hidden=True, origin="clew"))
    assert (hidden["type"], hidden["isMeta"], hidden["uuid"]) == ("user", True, "p2")
    (joined,) = told(prompt(3, queued=True))
    assert joined["isMeta"] is False
    (again,) = told(prompt(4), replay_prompts=True)
    assert (again["isReplay"], again["prompt_id"], again["message"]) == (
        True,
        "i4",
        {"content": "words", "role": "user"},
    )


def test_a_running_call_is_told_now_and_then_and_in_pieces_when_partial() -> None:
    call = ToolCallPart(id=CallId("c"), name="Bash", arguments={})
    started, piece = ToolStarted(call=call), ToolProgress(call_id=CallId("c"), text="out")
    lines = told(started, *[piece] * 6, when=[0, 1, 9, 10, 11, 19, 21])
    assert [(line["elapsed_time_seconds"], line["text"]) for line in lines] == [(10.0, ""), (21.0, "")]
    assert {line["tool_name"] for line in lines} == {"Bash"}
    pieces = told(started, *[piece] * 3, when=[0, 1, 2, 3], partial=True)
    assert [(line["elapsed_time_seconds"], line["text"]) for line in pieces] == [(1, "out"), (2, "out"), (3, "out")]


def reply_events() -> list[Event]:
    part = PartCompleted(
        entry_id=EntryId("e"),
        parent_id=None,
        reply_id=MessageId("m"),
        part_number=0,
        model="m",
        part=TextPart(text="inner"),
    )
    return [ReplyBegan(reply_id=MessageId("m"), model="m", usage=Usage()), part]


def test_an_agent_that_a_call_started_speaks_under_that_call_and_nothing_else_of_it_is_told() -> None:
    ended = TurnEnded(turn=1, reason="completed", steps=1, duration_ms=1)
    title = TitleChanged(title="inner", source="facts")
    lines = told(*reply_events(), title, ended, prompt(1, hidden=True), agent="helper", partial=True)
    assert {line["parent_tool_use_id"] for line in lines} == {"call_1"}
    assert [line["type"] for line in lines][-2:] == ["assistant", "user"]


def test_the_call_is_told_before_anybody_is_asked_about_it() -> None:
    asked = ApprovalRequested(
        request_id=RequestId("r"), call_id=CallId("c"), tool="Bash", subject="rm x", why="no rule"
    )
    lines = told(*reply_events(), asked)
    assert [line["type"] for line in lines] == ["assistant"]


def states(*events: Event) -> list[str]:
    return [line["state"] for line in told(*events, session_state=True)]


def test_the_session_rests_only_when_no_input_waits() -> None:
    queued = [PromptQueued(prompt_id=PromptId(f"i{number}"), content="words") for number in (1, 2)]
    ended = TurnEnded(turn=1, reason="completed", steps=1, duration_ms=1)
    asked = ApprovalRequested(request_id=RequestId("r"), call_id=CallId("c"), tool="Bash", subject="x", why="")
    no = ApprovalResolved(
        request_id=RequestId("r"), call_id=CallId("c"), tool="Bash", subject="x", decision="deny", by="user"
    )
    first = [queued[0], TurnStarted(turn=1), prompt(1), asked, no]
    assert states(*first, ended) == ["running", "requires_action", "running", "idle"]
    assert states(*first, queued[1], ended, TurnStarted(turn=2), prompt(2), ended)[-2:] == ["running", "idle"]
    assert states(*first, queued[1], ended, PromptWithdrawn(prompt_id=PromptId("i2")))[-1] == "idle"
    assert told(*first, ended) == []
    (line,) = told(queued[0], session_state=True)
    assert line["sdk_host_only"] is True


def test_every_line_has_a_name_of_its_own() -> None:
    names = [(struct.__struct_config__.tag, subtype_of(struct)) for struct in get_args(StreamLine)]
    assert len(set(names)) == len(names)


def subtype_of(struct: Any) -> str:
    defaults = dict(zip(reversed(struct.__struct_fields__), reversed(struct.__struct_defaults__), strict=False))
    return str(defaults.get("subtype", ""))
