"""What is sent is always valid, and a longer history never changes what was sent before."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.protocol.history import INTERRUPTED_RESULT, CallIds, is_interrupted_result, valid_history
from clew.protocol.ids import CallId, MessageId
from clew.protocol.messages import (
    AssistantMessage,
    ImagePart,
    MediaSource,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    parts_of,
    tool_calls,
)

PNG = ImagePart(source=MediaSource(type="base64", media_type="image/png", data="aGk="))
THOUGHT = ReasoningPart(text="hm", signature="s")


def user(*parts: Part | str) -> UserMessage:
    return UserMessage(content=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))


def reply(*parts: Part | str, name: str = "m", model: str = "m") -> AssistantMessage:
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return AssistantMessage(id=MessageId(name), model=model, content=content)


def call(name: str, tool: str = "Read") -> ToolCallPart:
    return ToolCallPart(id=CallId(name), name=tool, arguments={})


def result(name: str, text: str = "ok") -> ToolResultPart:
    return ToolResultPart(call_id=CallId(name), content=text)


def flat(messages: Sequence[Message]) -> list[tuple[str, Part]]:
    return [(message.role, part) for message in messages for part in parts_of(message)]


def assert_valid(messages: Sequence[Message]) -> None:
    """Written apart from the code it judges: what the APIs ask for, message by message.

    Roles alternate from the user on; the results of a reply's calls open the next message, in call order, and stand
    nowhere else; ids are not empty and never come twice; nothing is blank; a reply says or asks something.
    """
    ids: list[str] = []
    for number, message in enumerate(messages):
        assert isinstance(message, UserMessage if number % 2 == 0 else AssistantMessage)
        assert isinstance(message.content, tuple)
        assert message.content
        for part in message.content:
            if isinstance(part, TextPart):
                assert part.text.strip()
        if isinstance(message, AssistantMessage):
            assert all(
                isinstance(part, TextPart | ToolCallPart | ReasoningPart | RedactedReasoningPart)
                for part in message.content
            )
            assert any(isinstance(part, TextPart | ToolCallPart) for part in message.content)
            ids += [part.id for part in tool_calls(message.content)]
        else:
            assert not any(
                isinstance(part, ToolCallPart | ReasoningPart | RedactedReasoningPart) for part in message.content
            )
            wanted = [part.id for part in tool_calls(parts_of(messages[number - 1]))] if number else []
            opening = message.content[: len(wanted)]
            assert [part.call_id for part in opening if isinstance(part, ToolResultPart)] == wanted
            assert not any(isinstance(part, ToolResultPart) for part in message.content[len(wanted) :])
    assert all(ids)
    assert len(ids) == len(set(ids))
    assert not messages or not tool_calls(parts_of(messages[-1])), "a call at the end has no result"


def test_a_valid_history_stays_as_it_is() -> None:
    history = (user("go"), reply(call("a"), call("b")), user(result("a"), result("b")), reply("done"), user("thanks"))
    assert valid_history(history) == history


def test_bare_text_and_parts_come_out_alike() -> None:
    assert valid_history((UserMessage(content="go"),)) == valid_history((user("go"),)) == (user("go"),)


def test_missing_results_are_filled_and_marked() -> None:
    sent = valid_history((user("go"), reply(call("a"), call("b")), user(result("b")), user("next")))
    assert_valid(sent)
    first, second, words = parts_of(sent[2])
    assert is_interrupted_result(first)
    assert isinstance(first, ToolResultPart)
    assert first.is_error
    assert first.content == INTERRUPTED_RESULT
    assert second == result("b")
    assert words == TextPart(text="next")


def test_results_come_in_call_order_before_words() -> None:
    sent = valid_history(
        (user("go"), reply(call("a"), call("b")), user("typed meanwhile", PNG), user(result("b"), result("a")))
    )
    assert list(parts_of(sent[2])) == [result("a"), result("b"), TextPart(text="typed meanwhile"), PNG]


def test_orphan_late_and_double_results_are_left_out() -> None:
    sent = valid_history(
        (
            user("go", result("never asked")),
            reply(call("a")),
            user(result("a", "first"), result("a", "second")),
            reply("done"),
            user(result("a", "late"), "next"),
        )
    )
    assert_valid(sent)
    assert flat(sent)[2] == ("user", result("a", "first"))
    assert parts_of(sent[-1]) == (TextPart(text="next"),)


def test_replies_of_nothing_but_reasoning_are_not_sent() -> None:
    redacted = RedactedReasoningPart(data="x")
    sent = valid_history((user("go"), reply(THOUGHT, redacted), user("again"), reply(""), user("and again")))
    assert sent == (user("go", "again", "and again"),)


def test_a_history_that_starts_with_a_reply_gets_a_first_word() -> None:
    assert_valid(valid_history((reply("hello"), user("hi"))))
    assert valid_history(()) == ()


def test_replies_in_a_row_become_one_but_a_call_is_answered_before_the_next() -> None:
    assert valid_history((user("go"), reply("a"), reply("b"), user("c"))) == (user("go"), reply("a", "b"), user("c"))
    sent = valid_history((user("go"), reply(call("a")), reply("b"), user(result("a"))))
    assert_valid(sent)
    assert is_interrupted_result(parts_of(sent[2])[0])


def test_parts_that_the_side_cannot_say_are_left_out() -> None:
    sent = valid_history((user("go", THOUGHT, call("x")), reply("hm", PNG, result("x")), user("next")))
    assert sent == (user("go"), reply("hm"), user("next"))


def test_call_ids_used_twice_are_told_apart() -> None:
    history = (user("go"), reply(call("0")), user(result("0", "x")), reply(call("0"), name="n"), user(result("0", "y")))
    sent = valid_history(history)
    assert_valid(sent)
    results = [part for _, part in flat(sent) if isinstance(part, ToolResultPart)]
    assert [(part.call_id, part.content) for part in results] == [("0", "x"), ("0_2", "y")]


def test_calls_that_share_an_id_within_a_reply_get_their_results_in_order() -> None:
    calls = reply(call("", "A"), call("", "B"), call("c"))
    sent = valid_history((user("go"), calls, user(result("", "of A"), result("c"), result("", "of B"))))
    assert_valid(sent)
    assert [part.name for part in tool_calls(parts_of(sent[1]))] == ["A", "B", "Read"]
    texts = [part.content for part in parts_of(sent[2]) if isinstance(part, ToolResultPart)]
    assert texts == ["of A", "of B", "ok"]


def test_the_very_same_call_recorded_twice_is_one() -> None:
    sent = valid_history((user("go"), reply(call("a"), call("a")), user(result("a"))))
    assert sent == (user("go"), reply(call("a")), user(result("a")))


def test_only_reasoning_that_may_be_sent_is() -> None:
    asked: list[tuple[str, Part]] = []

    def keeps(message: AssistantMessage, part: Part) -> bool:
        asked.append((message.model, part))
        return message.model == "mine"

    redacted = RedactedReasoningPart(data="x")
    history = (
        user("go"),
        reply(THOUGHT, redacted, "a", model="mine"),
        user("b"),
        reply(THOUGHT, call("c"), model="other"),
        user(result("c")),
        reply(THOUGHT, redacted, model="other"),
        user("d"),
    )
    sent = valid_history(history, keeps=keeps)
    assert_valid(sent)
    assert sent[1] == history[1]
    assert sent[3] == reply(call("c"), model="other")
    assert sent[4:] == (user(result("c"), "d"),)
    assert [model for model, _ in asked] == ["mine", "mine", "other", "other", "other"]


def test_fresh_ids_are_the_given_ones_where_that_is_possible() -> None:
    ids = CallIds(["a"])
    ids.add("b_2")
    assert [ids.fresh(name) for name in ("a", "b", "b", "b", "", "", "a", "a_2")] == [
        "a_2",
        "b",
        "b_3",
        "b_4",
        "call",
        "call_2",
        "a_3",
        "a_2_2",
    ]


@given(st.lists(st.sampled_from(["", "call", "call_2", "a", "a_2", "a_2_2"]), max_size=30))
def test_fresh_ids_never_repeat_and_never_change_what_came_before(names: list[str]) -> None:
    ids, again = CallIds(), CallIds()
    given_out = [ids.fresh(name) for name in names]
    assert len(set(given_out)) == len(names)
    assert all(given_out)
    assert given_out[: len(names) // 2] == [again.fresh(name) for name in names[: len(names) // 2]]


_texts = st.sampled_from(["", " ", "words", "more words"]).map(lambda text: TextPart(text=text))
_thoughts = st.sampled_from([ReasoningPart(), THOUGHT, RedactedReasoningPart(data="x"), RedactedReasoningPart(data="")])
_calls = st.builds(call, st.sampled_from(["", "a", "b", "a_2", "call"]), st.sampled_from(["Read", "Bash"]))
_results = st.builds(result, st.sampled_from(["", "a", "b", "a_2", "call"]), st.sampled_from(["x", "y", ""]))
_user_parts = st.one_of(_texts, _results, st.just(PNG), _calls)
_reply_parts = st.one_of(_texts, _thoughts, _calls, _calls, _results)
_users = st.one_of(
    st.lists(_user_parts, max_size=4).map(lambda parts: user(*parts)),
    st.sampled_from(["", " ", "bare words"]).map(lambda text: UserMessage(content=text)),
)
_replies = st.builds(
    lambda parts, model: reply(*parts, model=model), st.lists(_reply_parts, max_size=5), st.sampled_from(["m", "n"])
)
_messages = st.lists(st.one_of(_users, _replies), max_size=12)


def mine(message: AssistantMessage, part: Part) -> bool:
    return message.model == "m" and isinstance(part, ReasoningPart)


@settings(max_examples=500)
@given(_messages, st.sampled_from([None, mine]))
def test_every_history_becomes_valid(messages: list[Message], keeps: object) -> None:
    sent = valid_history(messages, keeps=mine if keeps else None)
    assert_valid(sent)
    if keeps:
        assert not any(isinstance(part, RedactedReasoningPart) for _, part in flat(sent))


@settings(max_examples=500)
@given(_messages)
def test_what_is_valid_stays_the_same(messages: list[Message]) -> None:
    sent = valid_history(messages)
    assert valid_history(sent) == sent


@settings(max_examples=300)
@given(_messages)
def test_no_word_and_no_call_is_lost(messages: list[Message]) -> None:
    def words(history: Sequence[Message]) -> Counter[tuple[str, str]]:
        return Counter(
            (role, part.text) for role, part in flat(history) if isinstance(part, TextPart) and part.text.strip()
        )

    sent = valid_history(messages)
    extra = words(sent) - words(messages)
    assert sum(extra.values()) <= 1, "only an opening may be added"
    assert all(flat(sent)[0] == (role, TextPart(text=text)) for role, text in extra)
    assert words(messages) - words(sent) == Counter()
    replies = [message for message in messages if isinstance(message, AssistantMessage)]
    distinct = sum(len({(part.id, part.name) for part in tool_calls(message.content)}) for message in replies)
    assert sum(len(tool_calls(parts_of(message))) for message in sent) == distinct


@settings(max_examples=500)
@given(_messages, st.lists(_reply_parts, max_size=3), _messages, st.sampled_from([None, mine]))
def test_a_longer_history_only_adds(
    sent: list[Message], answer: list[Part], later: list[Message], keeps: object
) -> None:
    """A request goes out, a reply comes, more follows: the parts that were sent stand unchanged at the start."""
    chosen = mine if keeps else None
    if sent and isinstance(sent[-1], AssistantMessage):
        sent = [*sent, user("prompt")]
    before = flat(valid_history(sent, keeps=chosen))
    after = flat(valid_history([*sent, reply(*answer, name="answer"), *later], keeps=chosen))
    assert after[: len(before)] == before


@pytest.mark.parametrize("broken", range(7))
def test_the_checker_itself_finds_what_is_wrong(broken: int) -> None:
    wrong: list[tuple[Message, ...]] = [
        (reply("a"),),
        (user("a"), user("b")),
        (user("a"), reply(call("x"))),
        (user("a"), reply(call("x")), user("b", result("x"))),
        (user("a"), reply(call("x"), call("x", "Bash")), user(result("x"), result("x"))),
        (user("a"), reply(THOUGHT), user("b")),
        (user("a", result("x")),),
    ]
    with pytest.raises(AssertionError):
        assert_valid(wrong[broken])


def test_short_call_ids_are_marked_where_the_past_is_not_known() -> None:
    """After a resume that read no further than a boundary, `call_0` may stand for a call before it."""
    ids = CallIds()
    ids.mark("0703a2")
    assert [ids.fresh(name) for name in ("call_0", "call_0", "", "toolu_01A09q90qw90lq9")] == [
        "call_0_0703a2",
        "call_0_0703a2_2",
        "call_0703a2",
        "toolu_01A09q90qw90lq9",
    ]
