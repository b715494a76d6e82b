"""A history every provider accepts: run before each request, the same bytes for the same past."""

from collections.abc import Sequence

import msgspec

from clew.protocol.ids import CallId
from clew.protocol.messages import (
    AssistantMessage,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    parts_of,
)

INTERRUPTED_RESULT = (
    "[interrupted] This call has no recorded result: the session stopped before it ended. "
    "It may have run in part; check its effect before doing it again."
)
EARLIER_HISTORY = "[Earlier conversation is not shown.]"


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same conversation, valid for a request.

    Each call has exactly one result, directly after its reply and in call order; a missing one is filled with a
    marked text. Results without a call, empty parts, and replies of nothing but reasoning are left out. Roles
    alternate, the user first. What follows a reply never changes what stands before it, so that a longer history
    only adds to what was already sent.
    """
    repaired: list[Message] = []
    names = _CallNames()
    at = 0
    while at < len(messages):
        reply = messages[at]
        answers: list[Part] = []
        calls: tuple[ToolCallPart, ...] = ()
        if isinstance(reply, AssistantMessage):
            at += 1
            kept = _sendable(reply)
            if kept is not None:
                kept, calls = names.distinct(kept)
                _add_reply(repaired, kept)
        while at < len(messages) and isinstance(messages[at], UserMessage):
            answers.extend(parts_of(messages[at]))
            at += 1
        _add_user(repaired, _answered(calls, answers, names))
    return tuple(repaired)


def is_interrupted_result(part: Part) -> bool:
    """Whether a result was filled in, not recorded."""
    return isinstance(part, ToolResultPart) and part.content == INTERRUPTED_RESULT


class _CallNames:
    """Some servers number calls anew in every reply; on the wire each id must stand for one call."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self.renamed: dict[CallId, CallId] = {}

    def distinct(self, reply: AssistantMessage) -> tuple[AssistantMessage, tuple[ToolCallPart, ...]]:
        self.renamed = {}
        parts: list[Part] = []
        for part in reply.content:
            if isinstance(part, ToolCallPart):
                if part.id in self.renamed:
                    continue  # the same call twice in one reply: one result can answer only one
                self.renamed[part.id] = self._fresh(part.id)
                if self.renamed[part.id] != part.id:
                    part = msgspec.structs.replace(part, id=self.renamed[part.id])
            parts.append(part)
        changed = msgspec.structs.replace(reply, content=tuple(parts))
        return changed, tuple(part for part in parts if isinstance(part, ToolCallPart))

    def _fresh(self, call: CallId) -> CallId:
        name, number = call or CallId("call"), 1
        while name in self._used:
            number += 1
            name = CallId(f"{call or 'call'}_{number}")
        self._used.add(name)
        return name


def _sendable(reply: AssistantMessage) -> AssistantMessage | None:
    parts = tuple(part for part in reply.content if not _is_blank(part))
    if all(isinstance(part, ReasoningPart | RedactedReasoningPart) for part in parts):
        return None
    return reply if len(parts) == len(reply.content) else msgspec.structs.replace(reply, content=parts)


def _is_blank(part: Part) -> bool:
    if isinstance(part, TextPart):
        return not part.text.strip()
    return isinstance(part, ReasoningPart) and not part.text and not part.signature and not part.data


def _answered(calls: Sequence[ToolCallPart], parts: Sequence[Part], names: _CallNames) -> list[Part]:
    """Results in call order, then everything else that was said."""
    first: dict[CallId, ToolResultPart] = {}
    for part in parts:
        if isinstance(part, ToolResultPart):
            name = names.renamed.get(part.call_id, part.call_id)
            first.setdefault(name, part if name == part.call_id else msgspec.structs.replace(part, call_id=name))
    results: list[Part] = [
        first.get(call.id) or ToolResultPart(call_id=call.id, content=INTERRUPTED_RESULT, is_error=True)
        for call in calls
    ]
    return results + [part for part in parts if not isinstance(part, ToolResultPart) and not _is_blank(part)]


def _add_reply(repaired: list[Message], reply: AssistantMessage) -> None:
    if not repaired:
        repaired.append(UserMessage(content=(TextPart(text=EARLIER_HISTORY),)))
    last = repaired[-1]
    if isinstance(last, AssistantMessage):
        repaired[-1] = msgspec.structs.replace(
            last, content=last.content + reply.content, stop_reason=reply.stop_reason, usage=reply.usage or last.usage
        )
    else:
        repaired.append(reply)


def _add_user(repaired: list[Message], parts: Sequence[Part]) -> None:
    if not parts:
        return
    last = repaired[-1] if repaired else None
    if isinstance(last, UserMessage):
        repaired[-1] = UserMessage(content=(*parts_of(last), *parts))
    else:
        repaired.append(UserMessage(content=tuple(parts)))
