"""Repair: what is sent is always valid, and a longer history never changes what was sent before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.protocol.history import INTERRUPTED_RESULT, is_interrupted_result, valid_history
from clew.protocol.ids import CallId, MessageId
from clew.protocol.messages import (
    AssistantMessage,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    parts_of,
    tool_calls,
)


def user(*parts: Part | str) -> UserMessage:
    return UserMessage(content=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))


def reply(*parts: Part | str, name: str = "m") -> AssistantMessage:
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return AssistantMessage(id=MessageId(name), model="m", content=content)


def call(name: str) -> ToolCallPart:
    return ToolCallPart(id=CallId(name), name="Read", arguments={})


def result(name: str, text: str = "ok") -> ToolResultPart:
    return ToolResultPart(call_id=CallId(name), content=text)


def flat(messages: tuple[Message, ...]) -> list[tuple[str, Part]]:
    return [(message.role, part) for message in messages for part in parts_of(message)]


def assert_valid(messages: tuple[Message, ...]) -> None:
    """V6: roles alternate from the user on, one result for each call right after it, nothing empty."""
    seen: set[str] = set()
    for number, message in enumerate(messages):
        assert message.role == ("user" if number % 2 == 0 else "assistant")
        parts = parts_of(message)
        assert parts
        assert not any(isinstance(part, TextPart) and not part.text.strip() for part in parts)
        asked = [part.id for part in tool_calls(parts)]
        assert not seen.intersection(asked)
        seen.update(asked)
        answers = [part.call_id for part in parts if isinstance(part, ToolResultPart)]
        before = [part.id for part in tool_calls(parts_of(messages[number - 1]))] if number else []
        assert answers == before
        if asked:
            assert number + 1 < len(messages)


def test_a_valid_history_stays_as_it_is() -> None:
    history = (user("go"), reply(call("a"), call("b")), user(result("a"), result("b")), reply("done"), user("thanks"))
    assert valid_history(history) == history


def test_missing_results_are_filled_and_marked() -> None:
    repaired = valid_history((user("go"), reply(call("a"), call("b")), user(result("b")), user("next")))
    assert_valid(repaired)
    first, second, words = parts_of(repaired[2])
    assert is_interrupted_result(first)
    assert isinstance(first, ToolResultPart)
    assert first.is_error
    assert first.content == INTERRUPTED_RESULT
    assert second == result("b")
    assert words == TextPart(text="next")


def test_results_come_in_call_order_before_words() -> None:
    repaired = valid_history(
        (user("go"), reply(call("a"), call("b")), user("typed meanwhile"), user(result("b"), result("a")))
    )
    assert list(parts_of(repaired[2])) == [result("a"), result("b"), TextPart(text="typed meanwhile")]


def test_orphan_late_and_double_results_are_left_out() -> None:
    repaired = valid_history(
        (
            user("go", result("never asked")),
            reply(call("a")),
            user(result("a", "first"), result("a", "second")),
            reply("done"),
            user(result("a", "late"), "next"),
        )
    )
    assert_valid(repaired)
    assert flat(repaired)[2] == ("user", result("a", "first"))
    assert parts_of(repaired[-1]) == (TextPart(text="next"),)


def test_replies_of_nothing_but_reasoning_are_not_sent() -> None:
    thought = ReasoningPart(text="hm", signature="s")
    repaired = valid_history((user("go"), reply(thought), user("again"), reply(""), user("and again")))
    assert repaired == (user("go", "again", "and again"),)


def test_a_history_that_starts_with_a_reply_gets_a_first_word() -> None:
    assert_valid(valid_history((reply("hello"), user("hi"))))


def test_call_ids_used_twice_are_told_apart() -> None:
    history = (user("go"), reply(call("0")), user(result("0", "x")), reply(call("0"), name="n"), user(result("0", "y")))
    repaired = valid_history(history)
    assert_valid(repaired)
    assert [part.content for _, part in flat(repaired) if isinstance(part, ToolResultPart)] == ["x", "y"]


_parts = st.one_of(
    st.sampled_from(["", " ", "words", "more words"]).map(lambda text: TextPart(text=text)),
    st.sampled_from("abc").map(call),
    st.sampled_from("abc").map(result),
    st.just(ReasoningPart(text="hm")),
)
_user_parts = _parts.filter(lambda part: not isinstance(part, ToolCallPart | ReasoningPart))
_reply_parts = _parts.filter(lambda part: not isinstance(part, ToolResultPart))
_messages = st.lists(
    st.one_of(
        st.lists(_user_parts, max_size=4).map(lambda parts: user(*parts)),
        st.lists(_reply_parts, max_size=4).map(lambda parts: reply(*parts)),
    ),
    max_size=10,
)


@settings(max_examples=400)
@given(_messages)
def test_every_history_becomes_valid_and_stays_so(messages: list[Message]) -> None:
    repaired = valid_history(messages)
    assert_valid(repaired)
    assert valid_history(repaired) == repaired


@settings(max_examples=400)
@given(_messages, st.lists(_reply_parts, max_size=3), _messages)
def test_a_longer_history_only_adds(sent: list[Message], answer: list[Part], later: list[Message]) -> None:
    """A request goes out, a reply comes, more follows: the parts that were sent stand unchanged at the start."""
    if sent and isinstance(sent[-1], AssistantMessage):
        sent = [*sent, user("prompt")]
    before = flat(valid_history(sent))
    after = flat(valid_history([*sent, reply(*answer, name="answer"), *later]))
    assert after[: len(before)] == before
