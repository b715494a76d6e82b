"""One cheap request that shows whether address, key and model are right, and the models that a server offers."""

import time

from clew.llm.errors import InvalidRequest
from clew.llm.failures import failure_of
from clew.llm.http.transport import Transport
from clew.llm.models.target import Target
from clew.llm.probe.local_servers import names_in
from clew.llm.remote import RemoteModel
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy
from clew.llm.wires.base import HttpRequest
from clew.protocol.messages import UserMessage
from clew.protocol.usage import Usage

LEAST_OUTPUT = 16
"""The smallest cap that every provider takes."""
LISTING_BYTES = 1024 * 1024
LISTING_S = 10.0


async def try_model(target: Target) -> Usage | None:
    """Ask for one word, once. Returns what it cost; raises the LLMError that says what to change."""
    model = RemoteModel(target, RetryPolicy(max_attempts=1))
    request = ModelRequest(
        system=(),
        messages=(UserMessage(content="Answer with the word: ok"),),
        max_output_tokens=LEAST_OUTPUT,
        purpose="side-query:check",
    )
    try:
        return (await model.complete(request)).usage
    finally:
        await model.close()


async def offered_models(target: Target) -> tuple[str, ...]:
    """The models that an OpenAI-compatible server lists; none, when it has no list. Raises LLMError when it cannot be
    reached."""
    transport = Transport(target)
    request = HttpRequest(method="GET", url=target.url("models"), headers=target.headers, body=b"")
    try:
        async with transport.open(request, idle_s=LISTING_S) as answer:
            body = await answer.read(LISTING_BYTES)
            return (names_in(body) or ()) if answer.ok else ()
    finally:
        await transport.close()


def models_path(target: Target) -> str:
    """Where a server lists its models, which costs nothing and wants the key; empty: a platform without such a list."""
    if target.endpoint.whole or target.endpoint.framing != "sse":
        return ""
    return {"anthropic": "v1/models", "gemini": "v1beta/models"}.get(target.dialect, "models")


async def listing_of(target: Target) -> tuple[str, ...] | None:
    """Ask for the list of models, once. None: the server answers, and has none. Raises the LLMError that says why it
    cannot be asked: no connection, a refused key, a failure."""
    transport = Transport(target)
    request = HttpRequest(method="GET", url=target.url(models_path(target)), headers=target.headers, body=b"")
    try:
        async with transport.open(request, idle_s=LISTING_S) as answer:
            body = await answer.read(LISTING_BYTES)
    finally:
        await transport.close()
    if answer.ok:
        return names_in(body) or ()
    error = failure_of(answer.status, answer.headers, body, target, now_s=time.time())
    if isinstance(error, InvalidRequest):
        return None
    raise error
