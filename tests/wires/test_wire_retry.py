"""The one retry layer: PR-5, PR-6, PR-8, L25, L27, L32, and when to give up."""

from calendar import timegm
from typing import Any

import pytest

from clew.llm.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    InvalidRequest,
    LLMError,
    Overloaded,
    PromptTooLong,
    RateLimited,
    ServerFailed,
    StreamBroken,
)
from clew.llm.failures import failure_of, retry_after_s
from clew.llm.models.target import Secret
from clew.llm.reply import PartDone, ReplyEvent, ReplyStarted, Retrying
from clew.llm.retry import RetryPolicy, Schedule
from clew.protocol.messages import TextPart
from fakes.model_server import ModelServer
from wires.support import DIALECTS, KEY, Sleeps, ask, collect, failure, parts_in, remote, target

FALLBACK = RetryPolicy(overload_limit=3)


def base(dialect: str, server: ModelServer) -> str:
    return server.url if dialect in ("anthropic", "gemini") else f"{server.url}/v1"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_pr_5_retry_after_is_waited_for_and_seen(dialect: str):
    sleeps = Sleeps()
    with ModelServer([{"fault": "rate_limited", "retry_after": 2}, {"text": "ok"}]) as server:
        model = remote(dialect, base(dialect, server), sleep=sleeps)
        events = await collect(model, ask("hi"))
        await model.close()
    notice = events[0]
    assert isinstance(notice, Retrying)
    assert notice.delay_s >= 2
    assert sleeps.seconds == [notice.delay_s]
    assert (notice.attempt, notice.max_attempts) == (2, 10)
    assert "429" in notice.reason
    assert "lower the rate" not in notice.reason
    assert parts_in(events) == [TextPart(text="ok")]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_pr_6_l32_a_refused_key_is_told_once_and_never_printed(dialect: str):
    variable = {"anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}.get(dialect, "OPENAI_API_KEY")
    words = f"Incorrect API key provided: {KEY}"
    with ModelServer([{"fault": "unauthorized", "message": words}] * 3) as server:
        model = remote(dialect, base(dialect, server))
        error = await failure(model, ask("hi"))
        await model.close()
        assert len(server.requests) == 1
    assert isinstance(error, AuthenticationFailed)
    assert variable in str(error)
    assert KEY not in str(error)
    assert KEY not in repr(error)
    assert KEY not in repr(model.target)


@pytest.mark.parametrize(
    ("key", "echoed"),
    [
        ("corp.token.of.another.shape", "corp.token.of.another.shape"),
        ("k", "sk-somebody-elses-0123456"),
        ("k", "AIzaSyA0123456789"),
    ],
)
def test_a_key_that_a_server_repeats_is_cut_out(key: str, echoed: str):
    where = target("anthropic", key=Secret(key))
    body = f'{{"error": {{"message": "bad key\\n {echoed} given"}}}}'.encode()
    error = failure_of(401, {}, body, where, now_s=0)
    assert "bad key" in str(error)
    assert echoed not in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize("fault", ["overloaded", "rate_limited", "server_error"])
async def test_pr_8_a_side_query_gives_up_at_once(fault: str):
    with ModelServer([{"fault": fault}] * 3) as server:
        model = remote("anthropic", server.url)
        with pytest.raises(LLMError):
            await model.complete(ask("title?", purpose="side-query:title"))
        await model.close()
        assert len(server.requests) == 1


async def test_l25_ten_refusals_in_a_row_wait_longer_and_longer_and_then_name_the_limit():
    sleeps = Sleeps()
    rolls = iter([0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 0.3, 0.9, 0.1, 0.2])
    with ModelServer([{"fault": "rate_limited"}] * 12) as server:
        model = remote("anthropic", server.url, sleep=sleeps, random=lambda: next(rolls))
        error = await failure(model, ask("hi"))
        await model.close()
        assert len(server.requests) == 10
    assert isinstance(error, RateLimited)
    assert error.status == 429
    assert "gave up after 10 attempts" in str(error)
    assert "limits the rate" in str(error)
    assert len(sleeps.seconds) == 9
    assert sleeps.seconds[:7] == sorted(sleeps.seconds[:7])
    assert max(sleeps.seconds) <= 60
    assert sleeps.seconds[0] == 0.5


async def test_three_overloads_in_a_row_hand_over_to_the_fallback():
    with ModelServer([{"fault": "overloaded"}] * 5) as server:
        model = remote("anthropic", server.url, policy=FALLBACK)
        assert isinstance(await failure(model, ask("hi")), Overloaded)
        await model.close()
        assert len(server.requests) == 3


async def test_overloads_that_are_not_in_a_row_do_not():
    script = [{"fault": "overloaded"}, {"fault": "overloaded"}, {"fault": "server_error"}, {"fault": "overloaded"}]
    with ModelServer([*script, {"text": "ok"}]) as server:
        model = remote("anthropic", server.url, policy=FALLBACK)
        events = await collect(model, ask("hi"))
        await model.close()
    assert parts_in(events) == [TextPart(text="ok")]


async def test_without_a_fallback_overloads_are_waited_out():
    with ModelServer([*[{"fault": "overloaded"}] * 5, {"text": "ok"}]) as server:
        model = remote("anthropic", server.url)
        reply = await model.complete(ask("hi"))
        await model.close()
    assert reply.parts == (TextPart(text="ok"),)


@pytest.mark.parametrize(
    ("status", "tries", "kind"),
    [
        (408, 2, ServerFailed),
        (409, 2, ServerFailed),
        (429, 2, RateLimited),
        (500, 2, ServerFailed),
        (502, 2, ServerFailed),
        (503, 2, ServerFailed),
        (529, 2, Overloaded),
        (400, 1, InvalidRequest),
        (403, 1, AuthenticationFailed),
        (404, 1, InvalidRequest),
        (413, 1, PromptTooLong),
        (422, 1, InvalidRequest),
    ],
)
async def test_which_statuses_are_tried_again(status: int, tries: int, kind: type[LLMError]):
    with ModelServer([{"fault": "status", "status": status, "message": "scripted"}] * 3) as server:
        model = remote("openai-chat", f"{server.url}/v1", policy=RetryPolicy(max_attempts=2))
        error = await failure(model, ask("hi"))
        await model.close()
        assert len(server.requests) == tries
    assert type(error) is kind
    assert "\n" not in str(error)


@pytest.mark.parametrize(("header", "status", "tries"), [("true", 400, 2), ("false", 500, 1), ("maybe", 400, 1)])
async def test_the_servers_word_on_retrying_wins(header: str, status: int, tries: int):
    fault = {"fault": "status", "status": status, "headers": {"x-should-retry": header, "x-request-id": "req_77"}}
    with ModelServer([fault] * 3) as server:
        model = remote("anthropic", server.url, policy=RetryPolicy(max_attempts=2))
        error = await failure(model, ask("hi"))
        await model.close()
        assert len(server.requests) == tries
    assert error.request_id == "req_77"
    assert "req_77" in str(error)


async def test_an_empty_account_is_not_waited_for():
    fault = {"fault": "rate_limited", "message": "You exceeded your current quota, please check your plan"}
    with ModelServer([fault] * 2) as server:
        model = remote("openai-responses", f"{server.url}/v1")
        error = await failure(model, ask("hi"))
        await model.close()
        assert len(server.requests) == 1
    assert "balance" in str(error)


async def test_a_wait_beyond_patience_is_told_instead():
    with ModelServer([{"fault": "rate_limited", "retry_after": 3600}] * 2) as server:
        model = remote("anthropic", server.url)
        error = await failure(model, ask("hi"))
        await model.close()
        assert len(server.requests) == 1
    assert "60 min" in str(error)


def test_retry_after_as_seconds_milliseconds_and_date():
    noon = 1_792_567_680.0
    assert retry_after_s({"retry-after": "7"}, noon) == 7
    limits = {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-tokens-remaining": "12"}
    later = {"anthropic-ratelimit-requests-reset": "2026-10-21T12:00:30Z", "anthropic-ratelimit-tokens-reset": "bad"}
    assert retry_after_s({**limits, **later}, timegm((2026, 10, 21, 12, 0, 0))) == 30
    assert retry_after_s({**later, "anthropic-ratelimit-requests-remaining": "3"}, noon) is None
    unified = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": f"{noon + 90:.0f}",
    }
    assert retry_after_s(unified, noon) == pytest.approx(90, abs=1)
    theirs = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h6m0.5s"}
    assert (
        retry_after_s({**theirs, "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, noon)
        == 3960.5
    )
    assert retry_after_s({**theirs, "retry-after": "7"}, noon) == 7
    assert retry_after_s({"retry-after": "0.5"}, noon) == 0.5
    assert retry_after_s({"retry-after-ms": "1500", "retry-after": "9"}, noon) == 1.5
    assert retry_after_s({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, noon - 90) == 90
    assert retry_after_s({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, noon + 90) == 0
    for odd in (
        "soon",
        "²",
        "-1",
        ".",
        "9" * 400,
        "inf",
        "Wed, 21 Oct 0000 07:28:00 GMT",
        "Wed, 21 Xxx 2026 07:28:00 GMT",
    ):
        assert retry_after_s({"retry-after": odd, "retry-after-ms": odd}, noon) is None
    assert retry_after_s({}, noon) is None


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_cut_before_any_part_is_tried_again_unseen(dialect: str):
    after = 0 if dialect == "gemini" else 1  # its first event carries words already
    faults = [{"fault": "cut", "after": after}, {"fault": "reset"}, {"fault": "empty"}]
    with ModelServer([*faults, {"text": "ok"}]) as server:
        model = remote(dialect, base(dialect, server))
        events = await collect(model, ask("hi"))
        await model.close()
    assert [type(event) for event in events].count(ReplyStarted) == 1
    assert len([event for event in events if isinstance(event, Retrying)]) == 3
    assert parts_in(events) == [TextPart(text="ok")]


@pytest.mark.parametrize("mid_event", [False, True])
async def test_a_stream_cut_after_a_part_is_broken_and_not_tried_again(mid_event: bool):
    parts: list[dict[str, Any]] = [{"call": "Read", "arguments": {}}, {"text": "and a long text that is cut off"}]
    with ModelServer([{"fault": "cut", "parts": parts, "after": 8, "mid_event": mid_event}, {"text": "ok"}]) as server:
        model = remote("anthropic", server.url)
        seen: list[ReplyEvent] = []
        with pytest.raises(StreamBroken, match="complete"):
            await collect(model, ask("hi"), seen)
        assert any(isinstance(event, PartDone) for event in seen)
        assert len(server.requests) == 1
        reply = await model.complete(ask("hi"))
        await model.close()
    assert reply.parts == (TextPart(text="ok"),)


async def test_an_overload_after_words_is_a_broken_stream():
    opening = '{"type":"message_start","message":{"id":"m"}}'
    words = '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}'
    fault = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    body = "".join(f"data: {data}\n\n" for data in (opening, words, fault))
    early = "".join(f"data: {data}\n\n" for data in (opening, fault))
    kind = "text/event-stream"
    with ModelServer(
        [{"body": body, "content_type": kind}, {"body": early, "content_type": kind}, {"text": "ok"}]
    ) as server:
        model = remote("anthropic", server.url)
        assert isinstance(await failure(model, ask("hi")), StreamBroken)
        events = await collect(model, ask("hi"))
        await model.close()
    assert isinstance(events[0], Retrying)
    assert "overloaded" in events[0].reason


async def test_l27_a_failure_in_five_never_shows_in_the_conversation():
    script: list[dict[str, Any]] = []
    for n in range(100):
        script += [{"fault": "server_error"}] * (n % 5 == 0) + [{"text": f"answer {n}"}]
    with ModelServer(script) as server:
        model = remote("anthropic", server.url)
        answers = [parts_in(await collect(model, ask("hi"))) for _ in range(100)]
        await model.close()
    assert answers == [[TextPart(text=f"answer {n}")] for n in range(100)]


def test_a_host_that_never_answered_is_given_up_sooner():
    refused = ConnectionFailed("refused")
    for reached, tries in ((False, 3), (True, 10)):
        schedule = Schedule(RetryPolicy(), "main", lambda: 0.0)
        for _ in range(tries - 1):
            schedule.after(refused, reached=reached)
        with pytest.raises(ConnectionFailed, match=f"{tries} attempts"):
            schedule.after(refused, reached=reached)
