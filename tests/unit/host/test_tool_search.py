"""Tools that come and go: found by search, called through another, and judged as if they were called directly."""

import asyncio
import itertools
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from clew.engine.middleware.tool_news import ToolNews
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.presentation.story.passages import BatchPassage
from clew.presentation.story.telling import retold
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallChanged,
    CompactionEnded,
    CompactionUndone,
    Durable,
    PartCompleted,
    Recorded,
    ToolEnded,
    ToolStarted,
)
from clew.protocol.meant_calls import CALL_TOOL, SEARCH_TOOLS
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, ClearContext, UndoCompact
from clew.tools.builtin.search_tools import CallTool, SearchTools
from clew.tools.deferred.tool_news import CHANGE_HEAD, LIST_HEAD, is_note
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.reader import load
from engine.harness import Stage
from unit.host.hook_lab import decision, hook
from unit.host.late_lab import LateLab, ServerTool, array, eighty, late_session, search, through

SEND = "mcp__slack__send_message"
FREE = {"permissionMode": "bypassPermissions"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LateLab:
    return LateLab(tmp_path, monkeypatch)


def slack() -> list[ServerTool]:
    return [ServerTool("slack", "send_message", "Post a message"), ServerTool("slack", "list_channels")]


def notes(place: LateLab, request: int = -1) -> list[str]:
    """What a request tells of deferred tools."""
    found: list[str] = []
    for message in place.model.requests[request].messages:
        parts = [message.content] if isinstance(message.content, str) else message.content
        texts = [part if isinstance(part, str) else getattr(part, "text", "") for part in parts]
        found += [text for text in texts if text.startswith((LIST_HEAD, CHANGE_HEAD))]
    return found


async def test_ts_1_no_schema_of_eighty_tools_is_in_the_first_request(place: LateLab) -> None:
    async with late_session(place, Say("hi"), tools=eighty()):
        await place.say()
    request = place.model.requests[0]
    assert "parameter_" not in str(request)
    assert {SEARCH_TOOLS, CALL_TOOL} <= {spec.name for spec in request.tools}
    assert "tracker (20): " in notes(place)[0]


async def test_eighty_tools_of_servers_cost_less_than_two_kilobytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    for number, tools in enumerate(([], eighty(), eighty("_with_a_rather_long_name"))):
        base = tmp_path / str(number)
        base.mkdir()
        place = LateLab(base, monkeypatch)
        place.configured = bool(tools)
        async with late_session(place, Say("hi"), tools=tools):
            await place.say()
        sizes.append(len(msgspec.json.encode(place.model.requests[0])))
        told = {spec.name for spec in place.model.requests[0].tools}
        assert {SEARCH_TOOLS, CALL_TOOL} <= told, "clew's own deferred tools are searched for in every session"
    assert 0 < sizes[1] - sizes[0] <= sizes[2] - sizes[0] <= 1_900


async def test_ts_2_the_array_stays_the_same_over_discoveries_and_resumes(place: LateLab) -> None:
    script = [search("send message"), search("select:mcp__slack__list_channels"), search("+slack channels"), Say("ok")]
    async with late_session(place, *script, tools=slack()):
        await place.say()
        first = [array(request) for request in place.model.requests]
        name = place.session_id
    async with late_session(place, Say("ok"), resume=name):  # the server is not even there now
        await place.say()
        assert {*first, array(place.model.requests[0])} == {first[0]}
    place.configured = False
    async with late_session(place, search("slack"), Say("ok"), resume=name):
        await place.say()
        assert array(place.model.requests[0]) == first[0]
        assert "No tool found" in place.result()


async def test_ts_3_a_selected_tool_comes_with_its_schema(place: LateLab) -> None:
    async with late_session(place, search("select:send_message,mcp__slack__nothing"), Say("ok"), tools=slack()):
        await place.say()
        line = next(line for line in place.result().splitlines() if line.startswith("{"))
        told = msgspec.json.decode(line)
        assert told["name"] == SEND
        assert told["server"] == "slack"
        assert told["description"] == "Post a message"
        assert told["schema"]["required"] == ["text"]
        assert "no tool named 'mcp__slack__nothing'" in place.result()


async def test_ts_4_a_call_that_needs_a_yes_asks_by_the_name_of_the_tool(place: LateLab) -> None:
    tools = slack()
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=tools):
        turn = asyncio.create_task(place.say())
        asked: ApprovalRequested = await place.front.until(ApprovalRequested)
        assert asked.tool == SEND
        assert [offer.rule for offer in asked.offers] == [SEND]
        assert tools[0].ran == []
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="allow"))
        await turn
        assert tools[0].ran == [{"text": "hi"}]


async def test_ts_5_a_deny_rule_for_the_tool_refuses_it(place: LateLab) -> None:
    tools = slack()
    place.user({}, permissions={"deny": [SEND]}, **FREE)
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=tools):
        await place.say()
        ended: ToolEnded = place.front.of(ToolEnded)[0]
        assert ended.refused
        assert ended.name == SEND
        assert tools[0].ran == []


@pytest.mark.parametrize("rule", [CALL_TOOL, "mcp__slack", "mcp__slack__*", "*"])
async def test_a_deny_rule_for_the_way_or_for_the_server_refuses_it_too(place: LateLab, rule: str) -> None:
    tools = slack()
    place.user({}, permissions={"deny": [rule], "allow": [SEND]}, **FREE)
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=tools):
        await place.say()
        ended: ToolEnded = place.front.of(ToolEnded)[0]
        assert ended.refused
        assert ended.name == SEND
        assert place.front.of(ApprovalResolved)[0].rule == rule
        assert tools[0].ran == []


async def test_an_ask_rule_for_the_way_asks_and_no_allow_rule_for_it_allows(place: LateLab) -> None:
    tools = slack()
    place.user({}, permissions={"ask": [CALL_TOOL], "allow": [SEND]})
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=tools):
        turn = asyncio.create_task(place.say())
        asked: ApprovalRequested = await place.front.until(ApprovalRequested)
        assert (asked.tool, asked.subject) == (SEND, SEND)
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="deny"))
        await turn
        assert tools[0].ran == []


async def test_an_allow_rule_for_the_way_allows_nothing(place: LateLab) -> None:
    place.user({}, permissions={"allow": [CALL_TOOL]})
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=slack()):
        turn = asyncio.create_task(place.say())
        asked: ApprovalRequested = await place.front.until(ApprovalRequested)
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="deny"))
        await turn


async def test_a_plan_changes_nothing_through_a_proxy_either(place: LateLab) -> None:
    tools = slack()
    place.user({}, permissionMode="plan")
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=tools):
        await place.say()
        assert place.front.of(ToolEnded)[0].refused
        assert tools[0].ran == []


async def test_ts_6_a_hook_for_the_tool_is_asked_and_may_change_its_input(place: LateLab) -> None:
    tools = slack()
    command = place.says("hook", decision("allow", updatedInput={"text": "changed"}))
    place.user({"PreToolUse": [hook(command, matcher="mcp__slack__.*"), hook(place.says("no"), matcher=CALL_TOOL)]})
    place.env["CLEW_PERMISSION_MODE"] = "bypassPermissions"
    async with late_session(place, through(SEND, text="hi"), Say("ok"), tools=tools):
        await place.say()
        (asked,) = place.seen("hook")
        assert asked["tool_name"] == SEND
        assert asked["tool_input"] == {"text": "hi"}
        assert place.seen("no") == []
        assert tools[0].ran == [{"text": "changed"}]
        (changed,) = place.front.of(CallChanged)
        assert changed.tool == SEND
        assert changed.arguments == {"text": "changed"}
        written = [part.part for part in place.front.of(PartCompleted) if isinstance(part.part, ToolCallPart)]
        assert written[0].name == CALL_TOOL
        assert written[0].arguments == {"tool": SEND, "arguments": {"text": "hi"}}


async def test_ts_7_arguments_that_do_not_fit_are_listed(place: LateLab) -> None:
    shape = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["text", "count"],
        "additionalProperties": False,
    }
    tool = ServerTool("slack", "send_message", schema=shape)
    script = [through(SEND, text=1, more=2), Say("ok")]
    async with late_session(place, *script, tools=[tool], flags={"permissionMode": "bypassPermissions"}):
        await place.say()
        for word in ("count", "text", "more"):
            assert word in place.result()
        assert place.front.of(ToolEnded)[0].result.is_error
        assert tool.ran == []


async def test_ts_8_a_required_word_is_in_every_hit(place: LateLab) -> None:
    tools = [*slack(), ServerTool("mail", "send_message", "Send a message by mail"), *eighty()]
    async with late_session(place, search("+slack send", max_results=20), Say("ok"), tools=tools):
        await place.say()
        hits = [msgspec.json.decode(line) for line in place.result().splitlines() if line.startswith("{")]
        assert hits
        assert all("slack" in msgspec.json.encode(hit).decode() for hit in hits)
        assert hits[0]["name"] == SEND


@pytest.mark.parametrize(("mode", "inline"), [("auto", True), ("auto:0", False), ("on", False), ("off", True)])
async def test_ts_9_auto_tells_small_definitions_in_full(place: LateLab, mode: str, inline: bool) -> None:
    tools = slack()
    async with late_session(place, Say("ok"), known=tools, tools=tools, flags={"toolSearch": mode}):
        await place.say()
        told = {spec.name for spec in place.model.requests[0].tools}
        assert ({tool.name for tool in tools} <= told) is inline
        assert (SEARCH_TOOLS in told) is (mode != "off")
        assert bool(notes(place)) is not inline


async def test_ts_9_auto_searches_among_large_definitions_and_a_resume_keeps_what_was_decided(place: LateLab) -> None:
    async with late_session(place, Say("ok"), known=eighty() * 30, flags={"toolSearch": "auto"}):
        await place.say()
        assert "parameter_" not in str(place.model.requests[0].tools)
    small = slack()
    async with late_session(place, Say("ok"), known=small, tools=small, flags={"toolSearch": "auto"}):
        await place.say()
        first, name = array(place.model.requests[0]), place.session_id
    grown = [*small, ServerTool("slack", "new_tool")]
    async with late_session(place, Say("ok"), known=grown, tools=grown, flags={"toolSearch": "auto"}, resume=name):
        await place.say()
        assert array(place.model.requests[0]) == first
        assert "slack (1): new_tool" in notes(place)[0]


async def test_ts_10_after_a_disconnect_only_a_note_is_new(place: LateLab) -> None:
    script = [Say("one"), Say("two"), Say("three")]
    async with late_session(place, *script, tools=[*slack(), ServerTool("mail", "send")]):
        await place.say()
        for tool in slack():
            place.servers.set.remove(tool.name)
        await place.say()
        await place.say()
    before, after, later = place.model.requests
    assert array(before) == array(after)
    assert before.system == after.system
    assert after.messages[: len(before.messages)] == before.messages
    assert notes(place, 1) == [*notes(place, 0), f"{CHANGE_HEAD}\nslack: gone]"]
    assert notes(place, 2) == notes(place, 1)
    assert later.messages[: len(after.messages)] == after.messages


async def test_what_was_told_is_known_after_a_resume(place: LateLab) -> None:
    async with late_session(place, Say("one"), tools=slack()):
        await place.say()
        name = place.session_id
    async with late_session(place, Say("two"), Say("three"), tools=slack(), resume=name):
        await place.say()
        assert len(notes(place)) == 1
        place.servers.came(ServerTool("slack", "add_reaction"))
        await place.say()
        assert notes(place)[1] == f"{CHANGE_HEAD}\nslack (3), new: add_reaction]"


async def test_what_left_the_view_is_told_again_and_what_came_back_is_not(place: LateLab) -> None:
    async with late_session(place, *[Say("ok")] * 4, tools=slack()):
        await place.say()
        place.servers.came(ServerTool("slack", "react"))
        await place.say()
        await place.front.submit(ClearContext())
        await place.front.until(CompactionEnded)
        await place.say()
        assert notes(place) == [f"{LIST_HEAD}\nslack (3): send_message, list_channels, react]"]
        await place.front.submit(UndoCompact())
        await place.front.until(CompactionUndone)
        await place.say()
        assert notes(place)[:2] == notes(place, 1)


async def test_people_see_the_call_that_is_meant_live_and_later(place: LateLab) -> None:
    free = {"permissionMode": "bypassPermissions"}
    shown: list[Any] = []
    for call in (Call(SEND, {"text": "hi"}), through(SEND, text="hi")):
        async with late_session(place, call, Say("ok"), tools=slack(), flags=free):
            await place.say()
            events = tuple(Recorded(at="", event=cast("Durable", item.event)) for item in place.front.seen)
            (path,) = place.home.glob(f"projects/*/{place.session_id}.jsonl")
        entries = load(path, session_id=place.session_id).entries
        later = tuple(Recorded(at="", event=event) for entry in entries for event in events_of(entry))
        for told in (events, later):
            (batch,) = [passage for passage in retold(told) if isinstance(passage, BatchPassage)]
            shown.append([(one.call.name, one.call.arguments, one.deeds, one.text) for one in batch.calls])
    assert shown[0][0][:2] == (SEND, {"text": "hi"})
    assert shown == [shown[0]] * 4


async def test_the_same_proxied_call_again_and_again_is_stopped(place: LateLab) -> None:
    reads = ServerTool("slack", "send_message")
    reads.effect = "none"  # pyright: ignore[reportAttributeAccessIssue] -- a tool of this test only
    script = [through(SEND, text="hi")] * 9
    async with late_session(place, *script, tools=[reads], flags={"permissionMode": "bypassPermissions"}):
        ended = await place.say()
        assert (ended.reason, len(reads.ran)) == ("repeating", 6)
        assert f"{SEND} was called 6 times" in ended.error


async def test_a_direct_call_of_a_deferred_tool_works_too(place: LateLab) -> None:
    tools = slack()
    async with late_session(
        place, Call(SEND, {"text": "hi"}), Say("ok"), tools=tools, flags={"permissionMode": "bypassPermissions"}
    ):
        await place.say()
        assert tools[0].ran == [{"text": "hi"}]


async def test_calls_that_lead_nowhere_say_what_to_do_next(place: LateLab) -> None:
    tools = slack()
    script = [
        Call(CALL_TOOL, {"tool": SEARCH_TOOLS, "arguments": {"query": "x"}}),
        Call(CALL_TOOL, {"tool": CALL_TOOL, "arguments": {"tool": SEND, "arguments": {}}}),
        Call(CALL_TOOL, {"arguments": {}}),
        Call(CALL_TOOL, {"tool": SEND, "text": "hi"}),
        through("send_messages"),
        through("mcp__other__send_message"),
        through("mcp__slack__list_channels", text="x"),
        Say("ok"),
    ]
    wanted = [
        "call SearchTools directly",
        "call CallTool directly",
        "say which tool",
        "into 'arguments'",
        "Find the right one with SearchTools",
        f"Did you mean {SEND}",
        "not there any more",
    ]
    async with late_session(place, *script, tools=tools, flags={"permissionMode": "bypassPermissions"}):
        place.servers.set.remove("mcp__slack__list_channels")
        await place.say()
        ended: list[ToolEnded] = place.front.of(ToolEnded)
        assert len(ended) == len(wanted)
        assert all(event.result.is_error for event in ended)
        for event, words in zip(ended, wanted, strict=True):
            assert words in str(event.result.content)
        assert tools[0].ran == []


async def test_safe_calls_through_the_proxy_overlap_and_others_do_not(place: LateLab) -> None:
    safe, alone = slack()
    safe.safe, safe.together = True, asyncio.Barrier(2)
    replies = [ReplyOf([through(SEND, text="a"), through(SEND, text="b")]), Say("ok")]
    async with late_session(place, *replies, tools=[safe, alone], flags={"permissionMode": "bypassPermissions"}):
        await place.say()  # would hang if they ran one after the other
        assert len(safe.ran) == 2


async def test_a_call_and_a_search_wait_for_a_server_that_is_connecting(place: LateLab) -> None:
    tools = slack()
    script = [search("send a slack message"), through(SEND, text="hi"), search("nothing fits this"), Say("ok")]
    async with late_session(place, *script, flags={"permissionMode": "bypassPermissions"}):
        servers = place.servers
        servers.on_the_way["slack"] = asyncio.Event()
        turn = asyncio.create_task(place.say())
        await place.front.until(ToolStarted)
        await servers.is_waited_for(1)
        servers.connected("slack", *tools)
        servers.on_the_way["slow"] = asyncio.Event()
        await place.front.until(ToolEnded, 2)
        assert SEND in place.result(0)
        assert "Still connecting: slow" in place.result(0)
        assert tools[0].ran == [{"text": "hi"}]
        await servers.is_waited_for(2)
        servers.connected("slow")
        await turn
        assert servers.waited == [(frozenset({"slack"}), 10.0), (frozenset({"slow"}), 10.0)]
        assert SEND not in place.result()


async def test_a_call_waits_for_its_own_server_only(place: LateLab) -> None:
    tools = slack()
    script = [through(SEND, text="hi"), Say("ok")]
    async with late_session(place, *script, flags={"permissionMode": "bypassPermissions"}):
        servers = place.servers
        servers.on_the_way |= {"slack": asyncio.Event(), "hangs": asyncio.Event()}
        turn = asyncio.create_task(place.say())
        await servers.is_waited_for(1)
        servers.connected("slack", *tools)
        await turn
        assert tools[0].ran == [{"text": "hi"}]
        assert servers.waited == [(frozenset({"slack"}), 10.0)]


async def test_the_prefix_is_the_same_over_a_thousand_turns_with_tools_coming_and_going() -> None:
    tools = eighty()
    stage = Stage(ScriptedModel([Say("ok")] * 1_000), [SearchTools(), CallTool()], middlewares=[ToolNews()])
    for number in range(1_000):
        tool = tools[number * 7 % 80]
        if stage.agent.tools.find(tool.name) is None:
            stage.agent.tools.add(tool)
        else:
            stage.agent.tools.remove(tool.name)
        await stage.play()
    requests = stage.model.requests
    assert len({array(request) for request in requests}) == 1
    for before, after in itertools.pairwise(requests):
        assert after.messages[: len(before.messages)] == before.messages
    assert sum(is_note(str(prompt.content)) for prompt in stage.prompts()) == 1_000
