"""Calls that a model wrote as text: small models, and servers whose template does not know tools, do that.

Only a reply that says nothing else counts: a JSON object `{"name": a known tool, "arguments": {…}}` (or `parameters`,
or `input`), plain, in a code fence, inside `<tool_call>` tags, or after Mistral's `[TOOL_CALLS]`, where the name may
stand before its arguments (`[TOOL_CALLS]Read{…}`); several, one after the other, are several calls.
"""

from collections.abc import Collection
from typing import Any, cast

import msgspec

from clew.llm.reply import ArgumentsChunk, PartDone, ReasoningChunk, ReplyDone, ReplyEvent, TextChunk
from clew.llm.wires.base import NOT_JSON, Json, call_id, parse_arguments, string
from clew.protocol.messages import ReasoningPart, RedactedReasoningPart, TextPart, ToolCallPart

OPEN, CLOSE = "<tool_call>", "</tool_call>"
FENCE = "```"
MARK = "[TOOL_CALLS]"
ARGUMENTS = ("arguments", "parameters", "input")
BESIDE = ("id", "type")
"""Keys that may stand beside the name and the arguments."""


def find_text_call(text: str, names: Collection[str]) -> ToolCallPart | None:
    """The call that the text is, when it is exactly one and nothing else."""
    calls = find_text_calls(text, names)
    return calls[0] if len(calls) == 1 else None


def find_text_calls(text: str, names: Collection[str]) -> tuple[ToolCallPart, ...]:
    """The calls that the text consists of; none when it says anything else, or asks for a tool nobody knows."""
    calls: list[ToolCallPart] = []
    for body in _bodies(text.strip()):
        for value in _values(body):
            call = _call(value, names)
            if call is None:
                return ()
            calls.append(call)
    return tuple(calls)


def _bodies(text: str) -> list[str]:
    """The text without its wrapping: one body, or one for each tag."""
    text = _unfenced(text)
    if text.startswith(MARK):
        return [_marked(piece.strip()) for piece in text.split(MARK)[1:]]
    if not text.startswith(OPEN):
        return [text]
    return [_unfenced(piece.strip().removesuffix(CLOSE).strip()) for piece in text.split(OPEN)[1:]]


def _marked(piece: str) -> str:
    """What follows a mark as JSON: a list of calls is, a name with its arguments behind it becomes one."""
    if piece.startswith(("[{", "{", "[ ", "[\n")):
        return piece
    head, brace, rest = piece.partition("{")
    name = head.removesuffix("[ARGS]").partition("[CALL_ID]")[0].strip()
    return f'{{"name": {msgspec.json.encode(name).decode()}, "arguments": {brace}{rest}}}'


def _unfenced(text: str) -> str:
    """What stands in the fence, if the text is one; a fence that was not closed holds the rest."""
    if not text.startswith(FENCE):
        return text
    word, newline, rest = text[len(FENCE) :].partition("\n")
    if not newline:  # all on one line: the language, if there is one, ends where the object begins
        word, brace, rest = text[len(FENCE) :].partition("{")
        rest = brace + rest
    is_word = all(letter.isalnum() or letter in "_-" for letter in word.strip())
    return rest.strip().removesuffix(FENCE).strip() if is_word else text


def _values(body: str) -> list[Any]:
    """The JSON values of a body: one, the items of a list, or one on each line. What cannot be read is one None."""
    try:
        value = msgspec.json.decode(body)
        return cast(list[Any], value) if isinstance(value, list) and value else [value]
    except NOT_JSON:
        pass
    try:
        return msgspec.json.decode(f"[{','.join(line for line in body.splitlines() if line.strip())}]") or [None]
    except NOT_JSON:
        return [None]


def _call(value: Any, names: Collection[str]) -> ToolCallPart | None:
    if not isinstance(value, dict):
        return None
    data = cast(Json, value)
    if set(data) - set(BESIDE) == {"function"}:  # as the chat API itself writes a call
        return _call(data["function"], names)
    name = string(data.get("name"))
    named = [key for key in ARGUMENTS if key in data]
    if len(named) != 1 or set(data) - {"name", *named, *BESIDE} or name not in names:
        return None
    given = data[named[0]]
    arguments, raw = parse_arguments(given)
    if raw is not None or not (isinstance(given, dict) or (isinstance(given, str) and given.strip())):
        return None
    return ToolCallPart(id=call_id(string(data.get("id"))), name=name, arguments=arguments)


def may_become_call(text: str, names: Collection[str]) -> bool | None:
    """Whether text that is still being written can be a call: yes by its first key, no, or None: too early to say."""
    rest = text.lstrip()
    if rest.startswith(MARK) or (len(rest) > 1 and MARK.startswith(rest)):
        return _opens_marked(rest[len(MARK) :].lstrip(), names)
    for _ in range(2):  # a fence around tags, or tags around a fence
        if len(rest) < len(OPEN) and (OPEN.startswith(rest) or FENCE.startswith(rest)):
            return None
        if rest.startswith(OPEN):
            rest = rest[len(OPEN) :].lstrip()
        elif rest.startswith(FENCE):
            word = rest[len(FENCE) :].split("\n", 1)[0].split("{", 1)[0].split("<", 1)[0].split("[", 1)[0]
            if not all(letter.isalnum() or letter in "_- \t\r" for letter in word):
                return False
            rest = rest[len(FENCE) + len(word) :].lstrip()
    return _opens_call(rest, names)


def _opens_marked(text: str, names: Collection[str]) -> bool | None:
    """The same, for what follows a mark."""
    if text.startswith(("[", "{")) or not text:
        return _opens_call(text, names)
    name = text.partition("{")[0].partition("[")[0].strip()
    if name in names and name != text.strip():
        return True
    return None if any(known.startswith(name) for known in names) else False


def _opens_call(text: str, names: Collection[str]) -> bool | None:
    """The same, for text without its wrapping: only the first key and the beginning of its value are looked at."""
    if text.startswith("["):
        text = text[1:].lstrip()
    if not text:
        return None
    if not text.startswith("{"):
        return False
    key, quote, rest = text[1:].lstrip().removeprefix('"').partition('"')
    if not text[1:].lstrip().startswith('"'):
        return None if not text[1:].strip() else False
    wanted = ("name", "function", *ARGUMENTS, *BESIDE)
    if not quote:
        return None if any(word.startswith(key) for word in wanted) else False
    value = rest.lstrip().removeprefix(":").lstrip()
    if key not in wanted or (rest.strip() and not rest.lstrip().startswith(":")):
        return False
    if not value:
        return None
    if key != "name":
        return value[0] in '{"'
    name, quote, _ = value[1:].partition('"')
    if value[0] != '"' or not any(known == name if quote else known.startswith(name) for known in names):
        return False
    return True if quote else None


class TextCallLift:
    """Turns a reply that is only calls written as text into a reply of calls. Without names nothing is touched.

    Words that may become a call are held back until it is clear what they are, which is at the end of the reply at the
    latest; thoughts pass. Words beside a real call stay words: some servers send both.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._open = bool(names)
        """The words so far may be a call."""
        self._sure = False
        self._held: list[ReplyEvent] = []
        self._pieces: list[str] = []
        self._part = -1
        self._count = 0

    def feed(self, event: ReplyEvent) -> list[ReplyEvent]:
        """What may be shown now."""
        match event:
            case ReasoningChunk() | PartDone(part=ReasoningPart() | RedactedReasoningPart()):
                self._count = max(self._count, (event.part if isinstance(event, ReasoningChunk) else event.index) + 1)
                return [event]
            case TextChunk() if self._open:
                return self._words(event, event.part, event.text)
            case PartDone(part=TextPart(text=text)) if self._open:
                held = self._words(event, event.index, text if self._part != event.index else "")
                return held if self._calls() else [*held, *self._release()]
            case ArgumentsChunk() | PartDone(part=ToolCallPart()):
                return [*self._release(), event]
            case ReplyDone():
                return self._end(event)
            case _:
                return [event]

    def _words(self, event: ReplyEvent, part: int, text: str) -> list[ReplyEvent]:
        if self._part not in (-1, part):
            return [*self._release(), event]
        self._part = part
        self._count = max(self._count, part + 1)
        self._held.append(event)
        self._pieces.append(text)
        if not self._sure:
            judged = may_become_call("".join(self._pieces), self._names)
            if judged is False:
                return self._release()
            self._sure = judged is True
        return []

    def _calls(self) -> tuple[ToolCallPart, ...]:
        return find_text_calls("".join(self._pieces), self._names) if self._open and self._pieces else ()

    def _release(self) -> list[ReplyEvent]:
        """They were words."""
        self._open = False
        held, self._held = self._held, []
        return held

    def _end(self, done: ReplyDone) -> list[ReplyEvent]:
        calls = self._calls()
        if not calls:
            return [*self._release(), done]
        numbers = [self._part, *range(self._count, self._count + len(calls) - 1)]
        lifted = [PartDone(part=call, index=number) for call, number in zip(calls, numbers, strict=True)]
        return [*lifted, msgspec.structs.replace(done, stop_reason="tool_use")]
