"""Before a request leaves: a word about what looks like a secret in what is new in it. Warns, never holds it back."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from hashlib import blake2b

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.protocol.events import Event, Notice
from clew.protocol.messages import AssistantMessage, Message, TextPart, ToolResultPart, UserMessage, result_text
from clew.text.redact import find_secrets

MAX_NAMED = 5
_AT_ONCE_CHARS = 8_000
"""Longer texts are searched in a thread, so that nothing else waits."""


class SecretWarning(Middleware):
    """Only what came after the model's last words is new: the rest has left before. The same text is told once."""

    stage = -1

    def __init__(self) -> None:
        self._told: set[bytes] = set()

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """One line for each new text that holds something."""
        for where, text in list(_new_texts(turn.agent.conversation.messages())):
            digest = blake2b(text.encode(errors="replace"), digest_size=16).digest()
            if digest in self._told:
                continue
            self._told.add(digest)
            found = find_secrets(text) if len(text) < _AT_ONCE_CHARS else await asyncio.to_thread(find_secrets, text)
            if found:
                more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
                names = ", ".join(str(one) for one in found[:MAX_NAMED])
                words = f"{where} seems to hold a secret, and goes to {turn.agent.model.name}: {names}{more}"
                yield Notice(level="warning", text=words, code="secret")


def _new_texts(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """What is sent for the first time, with what it is; the last message first."""
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return
        yield from _texts(message)


def _texts(message: UserMessage) -> Iterator[tuple[str, str]]:
    if isinstance(message.content, str):
        yield "what you wrote", message.content
        return
    for part in message.content:
        if isinstance(part, ToolResultPart):
            yield "a tool's result", result_text(part)
        elif isinstance(part, TextPart):
            yield "what you wrote", part.text
