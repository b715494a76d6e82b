"""Which conversation: resume, continue, fork, cut; and what a run leaves behind."""

import pytest
from claude_agent_sdk import AssistantMessage, ClaudeSDKError, UserMessage, query

from sdk.conftest import MakeLab
from sdk.lab import collect, exchange, result_of, words


async def test_resume_by_id(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}])
    first = result_of(await collect(query(prompt="a", options=here.options())))
    second = result_of(await collect(query(prompt="b", options=here.options(resume=first.session_id))))
    assert second.session_id == first.session_id
    assert [message["role"] for message in here.sent()["messages"]] == ["user", "assistant", "user"]


async def test_continue_the_newest(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}])
    first = result_of(await collect(query(prompt="a", options=here.options())))
    second = result_of(await collect(query(prompt="b", options=here.options(continue_conversation=True))))
    assert second.session_id == first.session_id


async def test_fork_leaves_the_first_alone(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}, {"text": "three"}])
    first = result_of(await collect(query(prompt="a", options=here.options())))
    options = here.options(resume=first.session_id, fork_session=True)
    second = result_of(await collect(query(prompt="b", options=options)))
    assert second.session_id != first.session_id
    assert len(here.sent()["messages"]) == 3
    again = result_of(await collect(query(prompt="c", options=here.options(resume=first.session_id))))
    assert again.session_id == first.session_id
    assert "two" not in str(here.sent()["messages"])


async def test_resume_at_an_earlier_message(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}, {"text": "three"}])
    async with here.client() as client:
        first = await exchange(client, "a")
        second = await exchange(client, "b")
    at = next(message.uuid for message in first if isinstance(message, AssistantMessage))
    options = here.options(resume=result_of(second).session_id, fork_session=True, resume_session_at=at)
    assert words(await collect(query(prompt="c", options=options))) == "three"
    sent = here.sent()["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert "two" not in str(sent)


async def test_a_cut_that_would_drop_more_than_the_turn_it_names_is_refused(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "four"}])
    async with here.client(extra_args={"replay-user-messages": None}) as client:
        turns = [await exchange(client, text) for text in ("a", "b", "c")]
    session = result_of(turns[0]).session_id
    at = next(message.uuid for message in turns[0] if isinstance(message, AssistantMessage))
    second, third = [
        next(message.uuid for message in turn if isinstance(message, UserMessage) and isinstance(message.content, str))
        for turn in turns[1:]
    ]
    options = here.options(resume=session, fork_session=True, resume_session_at=at, resume_drops_turn=second)
    with pytest.raises(ClaudeSDKError):
        await collect(query(prompt="d", options=options))
    last = next(message.uuid for message in turns[1] if isinstance(message, AssistantMessage))
    options = here.options(resume=session, fork_session=True, resume_session_at=last, resume_drops_turn=third)
    assert words(await collect(query(prompt="d", options=options))) == "four"


async def test_a_session_that_a_client_had_can_be_resumed(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}])
    async with here.client() as client:
        first = result_of(await exchange(client, "a"))
    async with here.client(resume=first.session_id) as client:
        second = result_of(await exchange(client, "b"))
    assert second.session_id == first.session_id
    assert [entry["message"]["content"] for entry in here.place.entries() if entry["type"] == "user"] == ["a", "b"]
