"""Every type of the protocol survives JSON; events and ops are told apart by their tags."""

import types
import typing
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from clew.protocol import base as event_base
from clew.protocol import display, entries, events, invocables, meant_calls, messages, ops, state, tally, usage
from clew.protocol.event_kinds import agents as agent_events
from clew.protocol.event_kinds import asks as asking
from clew.protocol.event_kinds import context as context_events
from clew.protocol.event_kinds import programs as hook_events
from clew.protocol.event_kinds import programs as mcp_events
from clew.protocol.event_kinds import session as session_events
from clew.protocol.event_kinds import turns as shell_events
from clew.protocol.event_kinds import turns as turn_events
from clew.protocol.event_kinds import words as session_words
from clew.protocol.lookups import auth, catalog, hooks, mcp, place, rewind, rules_and_models, session, tasks
from clew.protocol.lookups import session as slash_names
from clew.protocol.op_kinds import answers as answer_ops
from clew.protocol.op_kinds import programs as hook_ops
from clew.protocol.op_kinds import programs as mcp_ops
from clew.protocol.op_kinds import slash_names as invocable_ops
from clew.streaming.shapes import control, control_answers, stream, stream_content

LOOKUP_MODULES = (auth, catalog, hooks, mcp, place, rewind, rules_and_models, session, slash_names, tasks)
EVENT_MODULES = (
    agent_events,
    asking,
    context_events,
    events,
    hook_events,
    invocables,
    mcp_events,
    session_events,
    session_words,
    shell_events,
    turn_events,
)
MODULES = (
    *EVENT_MODULES,
    *LOOKUP_MODULES,
    answer_ops,
    control,
    control_answers,
    display,
    entries,
    event_base,
    hook_ops,
    invocable_ops,
    mcp_ops,
    messages,
    ops,
    state,
    stream,
    stream_content,
    tally,
    meant_calls,
    usage,
)
STRUCTS = sorted(
    {
        value
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == module.__name__
    },
    key=lambda struct: f"{struct.__module__}.{struct.__name__}",
)


def sample(kind: Any) -> Any:
    """A value of a type that differs from every default, so that a lost field is seen."""
    origin = get_origin(kind)
    if kind is Any:
        return {"any": [1, "two"]}
    if isinstance(kind, typing.NewType):
        return sample(kind.__supertype__)
    if origin is Literal:
        return get_args(kind)[-1]
    if origin in (types.UnionType, typing.Union):
        return sample(next(arg for arg in get_args(kind) if arg is not types.NoneType))
    if origin is tuple:
        kinds = get_args(kind)
        return tuple(map(sample, kinds[:1] if kinds[-1] is ... else kinds))
    if origin is dict:
        return {"key": sample(get_args(kind)[1])}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return build(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1]
    return {str: "text é 中 \u2028", int: 7, float: 1.5, bool: True}[kind]


def build(struct: type[msgspec.Struct]) -> Any:
    hints = get_type_hints(struct)
    return struct(**{name: sample(hints[name]) for name in struct.__struct_fields__})


def survives_json(struct: type[msgspec.Struct]) -> bool:
    value = build(struct)
    encoded = msgspec.json.encode(value)
    return b"\n" not in encoded and msgspec.json.decode(encoded, type=struct) == value


def test_every_type_survives_json_on_one_line() -> None:
    assert [struct for struct in STRUCTS if not survives_json(struct)] == []


def test_every_type_is_frozen() -> None:
    assert [struct for struct in STRUCTS if not struct.__struct_config__.frozen] == []


@pytest.mark.parametrize(
    ("union", "modules"),
    [
        (events.Event, EVENT_MODULES),
        (ops.Op, (ops, answer_ops, hook_ops, invocable_ops, mcp_ops)),
        (entries.KnownEntry, (entries,)),
        (display.Block, (display,)),
    ],
    ids=["events", "ops", "entries", "blocks"],
)
def test_unions_hold_every_tagged_type_and_decode_by_tag(union: Any, modules: tuple[types.ModuleType, ...]) -> None:
    members = set(get_args(union))
    names = {module.__name__ for module in modules}
    here = [struct for struct in STRUCTS if struct.__module__ in names]
    tagged = {struct for struct in here if struct.__struct_config__.tag and not struct.__subclasses__()}
    assert tagged == members
    for struct in members:
        value = build(struct)
        assert msgspec.json.decode(msgspec.json.encode(value), type=union) == value


def test_every_event_is_either_live_or_durable_and_says_its_order() -> None:
    for event in get_args(events.Event):
        assert issubclass(event, events.LiveEvent) != issubclass(event, events.DurableEvent)
        assert event.__doc__


def test_names_of_events_are_past_tense_and_of_ops_are_not() -> None:
    for event in get_args(events.Event):
        tag = event.__struct_config__.tag
        assert isinstance(tag, str)
        assert tag not in {op.__struct_config__.tag for op in get_args(ops.Op)}
