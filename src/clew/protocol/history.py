"""A history every provider accepts: the one place where it is repaired and where call ids are made distinct."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from clew.protocol.ids import CallId
from clew.protocol.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
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

Keeps = Callable[[AssistantMessage, Part], bool]
"""Whether a reasoning part of a reply may be sent."""


SHORT_ID = 16
"""A call id with fewer characters is no random one."""


class CallIds:
    """The call ids of one conversation. Some servers number calls anew in every reply, or give them no id at all."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._last: dict[str, int] = {}
        self._mark = ""

    def mark(self, mark: str) -> None:
        """Not all that were used are known: short ones, which servers use again, get this mark from now on."""
        self._mark = mark

    def add(self, call_id: str) -> None:
        """This id stands for a call already."""
        self._used.add(call_id)

    def fresh(self, call_id: str) -> CallId:
        """The id itself if it is unused and not empty, else `id_2`, `id_3`, …; from now on it is used."""
        stem = call_id or "call"
        if self._mark and len(stem) < SHORT_ID:
            stem = f"{stem}_{self._mark}"
        name, number = stem, self._last.get(stem, 1)
        while name in self._used:
            number += 1
            name = f"{stem}_{number}"
        self._last[stem] = number
        self._used.add(name)
        return CallId(name)


def valid_history(messages: Sequence[Message], *, keeps: Keeps | None = None) -> tuple[Message, ...]:
    """The same conversation, valid for a request and in one form: content is always a tuple of parts.

    Each call has exactly one result, directly after its reply and in call order; a missing one is filled with a
    marked text. Call ids are distinct over the whole history, results are renamed along. Blank parts, reasoning that
    `keeps` refuses, and replies of nothing but reasoning are left out. Roles alternate, the user first. What follows
    a reply never changes what stands before it, so that a longer history only adds to what was already sent.

    Results without a call before them are left out too: as words they would stand in the user's turn, and a file or a
    web page would speak with the user's voice. The log keeps them.
    """
    valid: list[Message] = []
    ids = CallIds()
    at = 0
    while at < len(messages):
        calls: list[_SentCall] = []
        if isinstance(reply := messages[at], AssistantMessage):
            at += 1
            parts = _reply_parts(reply, keeps, ids, calls)
            if parts:
                _add_reply(valid, reply, parts)
        begin = at
        while at < len(messages) and isinstance(messages[at], UserMessage):
            at += 1
        _add_input(valid, calls, messages[begin:at])
    return tuple(valid)


def is_interrupted_result(part: Part) -> bool:
    """Whether a result was filled in, not recorded."""
    return isinstance(part, ToolResultPart) and part.content == INTERRUPTED_RESULT


_SentCall = tuple[CallId, CallId]
"""The id of a call as it was given, and as it is sent."""


def _reply_parts(reply: AssistantMessage, keeps: Keeps | None, ids: CallIds, calls: list[_SentCall]) -> list[Part]:
    """What is sent of a reply; its calls are noted. Nothing when it neither says a word nor asks for a tool."""
    kept: list[Part] = []
    asked: list[ToolCallPart] = []
    spoke = False
    for part in reply.content:
        if isinstance(part, TextPart):
            if part.text.strip():
                kept.append(part)
                spoke = True
        elif isinstance(part, ReasoningPart):
            if (part.text or part.signature or part.data) and (keeps is None or keeps(reply, part)):
                kept.append(part)
        elif isinstance(part, RedactedReasoningPart):
            if part.data and (keeps is None or keeps(reply, part)):
                kept.append(part)
        elif isinstance(part, ToolCallPart) and part not in asked:  # the very same call twice was recorded twice
            asked.append(part)
            sent = ids.fresh(part.id)
            calls.append((part.id, sent))
            kept.append(part if sent == part.id else msgspec.structs.replace(part, id=sent))
            spoke = True
    return kept if spoke else []


def _add_reply(valid: list[Message], reply: AssistantMessage, parts: list[Part]) -> None:
    if not valid:
        valid.append(UserMessage(content=(TextPart(text=EARLIER_HISTORY),)))
    last = valid[-1]
    if isinstance(last, AssistantMessage):
        valid[-1] = msgspec.structs.replace(
            last, content=(*last.content, *parts), stop_reason=reply.stop_reason, usage=reply.usage or last.usage
        )
    else:
        valid.append(msgspec.structs.replace(reply, content=tuple(parts)))


def _add_input(valid: list[Message], calls: Sequence[_SentCall], inputs: Sequence[Message]) -> None:
    """Results in call order, then everything else that was said until the next reply."""
    said: list[Part] = []
    answers: dict[CallId, list[ToolResultPart]] = {}
    for message in inputs:
        for part in parts_of(message):
            if isinstance(part, ToolResultPart):
                answers.setdefault(part.call_id, []).append(part)
            elif isinstance(part, TextPart):
                if part.text.strip():
                    said.append(part)
            elif isinstance(part, (ImagePart, DocumentPart)):
                said.append(part)
    parts = [*_results(calls, answers), *said]
    if not parts:
        return
    last = valid[-1] if valid else None
    if isinstance(last, UserMessage):
        valid[-1] = UserMessage(content=(*parts_of(last), *parts))
    else:
        valid.append(UserMessage(content=tuple(parts)))


def _results(calls: Sequence[_SentCall], answers: dict[CallId, list[ToolResultPart]]) -> list[Part]:
    """One result for each call: the first that names it. Calls that shared an id get theirs in order."""
    results: list[Part] = []
    for call_id, sent in calls:
        if found := answers.get(call_id):
            result = found.pop(0)
            results.append(result if sent == call_id else msgspec.structs.replace(result, call_id=sent))
        else:
            results.append(ToolResultPart(call_id=sent, content=INTERRUPTED_RESULT, is_error=True))
    return results
