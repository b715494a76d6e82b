"""Calls written as text: found only when nothing else is said, lifted only where the provider's row allows it."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.config.schema import Provider
from clew.llm.models.connect import all_rows, connect
from clew.llm.remote import RemoteModel
from clew.llm.reply import PartDone, ReasoningChunk, ReplyDone, ReplyEvent, TextChunk, reply_of
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy
from clew.llm.scripted import Say, ScriptedModel, Think
from clew.llm.text_calls import TextCallLift, find_text_call, find_text_calls, may_become_call
from clew.protocol.messages import ReasoningPart, TextPart, ToolCallPart
from fakes.model_server import ModelServer
from wires.support import KEYS, READ, Sleeps, ask, collect, parts_in

NAMES = ("Read", "Bash", "ReadAll")
INPUT = {"file_path": 'a {b} "c".py', "n": [1, {"deep": None}]}
PLAIN = json.dumps({"name": "Read", "arguments": INPUT})
WRAPPINGS = {
    "plain": "{}",
    "fence": "```json\n{}\n```",
    "bare fence": "```\n{}\n```",
    "fence with another word": "```tool_call\n{}\n```",
    "fence on one line": "```json {}```",
    "fence left open": "```json\n{}",
    "tags": "<tool_call>\n{}\n</tool_call>",
    "tags on one line": "<tool_call>{}</tool_call>",
    "tag left open": "<tool_call>\n{}",
    "fence in tags": "<tool_call>\n```json\n{}\n```\n</tool_call>",
    "tags in fence": "```xml\n<tool_call>\n{}\n</tool_call>\n```",
    "blank around": "\n\n  {}  \n",
    "a list of one": "[{}]",
}


def wrapped(kind: str, body: str = PLAIN) -> str:
    return WRAPPINGS[kind].replace("{}", body)


@pytest.mark.parametrize("kind", WRAPPINGS)
def test_a_call_is_found_in_every_wrapping(kind: str):
    call = find_text_call(wrapped(kind), NAMES)
    assert call is not None
    assert (call.name, call.arguments, call.raw_arguments) == ("Read", INPUT, None)
    assert call.id


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Read", "parameters": INPUT},
        {"name": "Read", "input": INPUT},
        {"arguments": INPUT, "name": "Read"},
        {"name": "Read", "arguments": json.dumps(INPUT)},
        {"type": "function", "id": "x", "name": "Read", "arguments": INPUT},
        {"type": "function", "function": {"name": "Read", "arguments": INPUT}},
        {"function": {"name": "Read", "parameters": INPUT}},
    ],
)
def test_every_spelling_of_a_call(value: dict[str, Any]):
    call = find_text_call(json.dumps(value, indent=2), NAMES)
    assert call is not None
    assert call.arguments == INPUT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Read",
        "I will read it.\n" + PLAIN,
        PLAIN + "\nThat is all.",
        "```json\n" + PLAIN + "\n```\nDone.",
        "Like this: ```json\n" + PLAIN + "\n```",
        "```not a word! \n" + PLAIN + "\n```",
        '{"name": "Unknown", "arguments": {}}',
        '{"name": "read", "arguments": {}}',
        '{"name": "Read"}',
        '{"name": "Read", "arguments": [1]}',
        '{"name": "Read", "arguments": "some words"}',
        '{"name": "Read", "arguments": ""}',
        '{"name": "Read", "arguments": null}',
        '{"name": "Read", "arguments": {}, "input": {}}',
        '{"name": "Read", "arguments": {}, "version": "1.0"}',
        '{"name": ["Read"], "arguments": {}}',
        '{"name": "Read", "arguments": {}',
        "{'name': 'Read', 'arguments': {}}",
        "<tool_call></tool_call>",
        "<tool_call>" + PLAIN + "</tool_call> and <tool_call>" + PLAIN + "</tool_call>",
        "[" + PLAIN + ', "words"]',
        "[]",
        "null",
        "7",
    ],
)
def test_what_is_not_only_a_call_of_a_known_tool_stays_text(text: str):
    assert find_text_call(text, NAMES) is None
    assert find_text_calls(text, NAMES) == ()


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{PLAIN}</tool_call>\n<tool_call>{PLAIN}</tool_call>",
        f"[{PLAIN}, {PLAIN}]",
        f"```json\n[{PLAIN}, {PLAIN}]\n```",
        f"{PLAIN}\n\n{PLAIN}",
    ],
)
def test_several_calls_one_after_the_other(text: str):
    calls = find_text_calls(text, NAMES)
    assert [call.name for call in calls] == ["Read", "Read"]
    assert calls[0].id != calls[1].id
    assert find_text_call(text, NAMES) is None


@settings(deadline=None)
@given(st.sampled_from(sorted(WRAPPINGS)), st.integers(0, 400))
def test_text_that_becomes_a_call_is_never_given_up_on_the_way(kind: str, cut: int):
    assert may_become_call(wrapped(kind)[:cut], NAMES) is not False


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("", None),
        ("  ", None),
        ("<", None),
        ("<tool", None),
        ("<tool_call>", None),
        ("`", None),
        ("```", None),
        ("```json", None),
        ("```python\n", None),
        ("```python\np", False),
        ("```json\n{", None),
        ("{", None),
        ('{"', None),
        ('{"na', None),
        ('{"nam":', False),
        ('{"nx', False),
        ('{"name": "R', None),
        ('{"name": "clew"', False),
        ('{"name": "X', False),
        ('{"name": "Read"', True),
        ('{"name": 7', False),
        ('{"name" "', False),
        ('{"arguments": {', True),
        ('{"arguments": 7', False),
        ('{"result"', False),
        ("{1", False),
        ("[", None),
        ("[1", False),
        ("H", False),
        ("<b>", False),
        ("`code`", False),
    ],
)
def test_it_is_decided_as_early_as_possible(text: str, judged: bool | None):
    assert may_become_call(text, NAMES) is judged


def fed(events: Iterable[ReplyEvent], names: Iterable[str] = NAMES) -> list[ReplyEvent]:
    lift = TextCallLift(frozenset(names))
    return [event for one in events for event in lift.feed(one)]


def spoken(text: str, cuts: Iterable[int] = (), part: int = 0) -> list[ReplyEvent]:
    edges = [0, *sorted(cuts), len(text)]
    chunks: list[ReplyEvent] = [TextChunk(text=text[a:b], part=part) for a, b in pairwise(edges) if text[a:b]]
    return [*chunks, PartDone(part=TextPart(text=text), index=part)]


DONE = ReplyDone(stop_reason="end_turn", usage=None)


@settings(deadline=None)
@given(st.sampled_from(sorted(WRAPPINGS)), st.lists(st.integers(0, 200), max_size=8))
def test_a_call_is_lifted_wherever_the_stream_is_cut(kind: str, cuts: list[int]):
    text = wrapped(kind)
    events = fed([*spoken(text, [min(cut, len(text)) for cut in cuts]), DONE])
    assert not any(isinstance(event, TextChunk) for event in events)
    (part,) = parts_in(events)
    assert isinstance(part, ToolCallPart)
    assert part.arguments == INPUT
    assert isinstance(events[-1], ReplyDone)
    assert events[-1].stop_reason == "tool_use"


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(alphabet='{}"`<tool_call>nameRead: ,\n[]', max_size=40),
        st.sampled_from([PLAIN + " and more", "```python\nprint(1)\n```", '{"name": "clew"}', "<tool_call> hm"]),
    ),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_everything_else_comes_out_as_it_went_in(text: str, cuts: list[int]):
    if find_text_calls(text, NAMES) or not text:
        return
    events = [*spoken(text, [min(cut, len(text)) for cut in cuts]), DONE]
    assert fed(events) == events
    assert fed(events, names=()) == events


def test_words_flow_again_as_soon_as_it_is_clear():
    lift = TextCallLift(frozenset(NAMES))
    assert lift.feed(TextChunk(text="```py")) == []
    assert [e.text for e in lift.feed(TextChunk(text="thon\nx = 1")) if isinstance(e, TextChunk)] == [
        "```py",
        "thon\nx = 1",
    ]
    assert lift.feed(TextChunk(text="\n")) == [TextChunk(text="\n")]


def test_thoughts_pass_and_count():
    thought = [ReasoningChunk(text="hm", part=0), PartDone(part=ReasoningPart(text="hm"), index=0)]
    events = fed([*thought, *spoken(f"[{PLAIN}, {PLAIN}]", part=1), DONE])
    assert events[:2] == thought
    assert [event.index for event in events if isinstance(event, PartDone)] == [0, 1, 2]


def test_words_beside_a_real_call_or_beside_other_words_stay_words():
    native = PartDone(part=ToolCallPart(id=call_id(), name="Read", arguments={}), index=1)
    for events in (
        [*spoken(PLAIN), native, DONE],
        [native, *spoken(PLAIN, part=2), DONE],
        [*spoken(PLAIN), *spoken("and more", part=1), DONE],
        [*spoken("I look."), *spoken(PLAIN, part=1), DONE],
    ):
        assert fed(events) == events


def call_id() -> Any:
    return "native"


LOCAL = ("ollama", "llamacpp", "vllm", "lmstudio", "local")


def local(url: str, provider: str = "ollama", **fields: Any) -> RemoteModel:
    model = connect(f"{provider}/small", providers={provider: Provider(base_url=f"{url}/v1", **fields)}, env=KEYS)
    return RemoteModel(model.target, RetryPolicy(), sleep=Sleeps())


def with_tools() -> ModelRequest:
    return ask("read it", tools=(READ,))


@pytest.mark.parametrize("whole", [False, True])
async def test_a_local_server_that_answers_with_a_call_as_text_makes_a_call(whole: bool):
    with ModelServer([{"text": wrapped("fence")}, {"text": "Here it is."}]) as server:
        model = local(server.url)
        events = [event async for event in model.stream(with_tools(), whole=whole)]
        words = [event async for event in model.stream(with_tools(), whole=whole)]
        await model.close()
    reply = reply_of(events)
    assert [type(part) for part in reply.parts] == [ToolCallPart]
    assert reply.stop_reason == "tool_use"
    assert not any(isinstance(event, TextChunk) for event in events)
    assert reply_of(words).parts == (TextPart(text="Here it is."),)


async def test_a_stream_that_breaks_while_the_words_are_held_back_is_tried_again_unseen():
    cut = {"fault": "cut", "text": wrapped("fence"), "after": 5}
    with ModelServer([cut, {"text": wrapped("fence")}]) as server:
        model = local(server.url)
        events = await collect(model, with_tools())
        await model.close()
        assert len(server.requests) == 2
    assert [type(part) for part in parts_in(events)] == [ToolCallPart]


async def test_without_tools_nothing_is_lifted():
    with ModelServer([{"text": PLAIN}]) as server:
        model = local(server.url)
        assert parts_in(await collect(model, ask("hi"))) == [TextPart(text=PLAIN)]
        await model.close()


def test_only_local_rows_lift():
    lifting = {name for name, row in all_rows({}).items() if row.quirks.text_calls}
    assert lifting == set(LOCAL)
    assert local("http://127.0.0.1:9").lifts_text_calls
    assert local("http://127.0.0.1:9", "corp").lifts_text_calls, "a server of one's own on this machine"
    assert not local("https://llm.corp.example", "corp").lifts_text_calls
    assert not connect("openai/gpt-6.1-sol", providers={}, env=KEYS).lifts_text_calls


async def test_the_scripted_model_lifts_like_a_wire():
    lifting = ScriptedModel([Say(PLAIN)], lifts_text_calls=True)
    assert [type(part) for part in parts_in(await collect(lifting, with_tools()))] == [ToolCallPart]
    plain = ScriptedModel([Say(PLAIN), Think("hm")])
    assert parts_in(await collect(plain, with_tools())) == [TextPart(text=PLAIN)]
