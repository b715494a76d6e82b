"""Gemini generateContent."""

from collections.abc import Iterator, Sequence

from clew.llm.errors import StreamBroken
from clew.llm.failures import failure_in_stream, is_cut_off
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import PartDone, ReasoningChunk, ReplyDone, ReplyEvent, ReplyStarted, TextChunk
from clew.llm.request import ModelRequest
from clew.llm.wires.base import (
    HttpRequest,
    Json,
    UsageTally,
    body_json,
    call_id,
    event_json,
    history_for,
    items,
    obj,
    parse_arguments,
    result_parts,
    stop_with_calls,
    string,
    to_json,
)
from clew.protocol.ids import CallId
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    MediaSource,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_of,
    parts_of,
    tool_calls,
)

SIGNATURE = "thoughtSignature"
NO_SIGNATURE = "skip_thought_signature_validator"
"""Documented stand-in for calls that another model made: thinking models refuse an unsigned first call."""
BUDGETS = {"low": 2_048, "medium": 8_192, "high": 24_576}
MAX_BUDGET = 24_576
"""The most that every model with budgets takes."""
MIN_BUDGET = 128
"""The least that a model takes which always thinks; it refuses 0."""
STOP_REASONS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "BLOCKLIST": "content_filter",
    "SPII": "content_filter",
    "RECITATION": "content_filter",
}
UNUSABLE = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE")


def encode(request: ModelRequest, target: Target, *, stream: bool) -> HttpRequest:
    """Stable things first, history last: bytes already sent stay a prefix."""
    body: Json = {"generationConfig": _config(request, target)}
    if system := [{"text": text} for text in request.system if text.strip()]:
        body["systemInstruction"] = {"parts": system}
    if request.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declarations}]
    history = [(message.role, parts_of(message)) for message in history_for(request.messages, target)]
    calls = {part.id: part for _, parts in history for part in tool_calls(parts)}
    roles = {"user": "user", "assistant": "model"}
    body["contents"] = [{"role": roles[role], "parts": list(_parts(parts, calls, target))} for role, parts in history]
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    url = target.address(f"v1beta/models/{target.model}:{method}", stream=stream)
    headers = (("content-type", "application/json"), *target.headers)
    return HttpRequest(method="POST", url=url, headers=headers, body=to_json(body))


def _config(request: ModelRequest, target: Target) -> Json:
    profile = target.profile
    config: Json = {}
    cap = request.max_output_tokens or profile.default_output
    if cap is not None:
        config["maxOutputTokens"] = min(cap, profile.max_output)
    if request.temperature is not None and profile.sampling:
        config["temperature"] = request.temperature
    effort = profile.clamp_effort(request.level)
    if profile.thinking in ("level", "budget"):
        wanted = request.thinking
        thinking: Json = {"includeThoughts": wanted.shown and not request.is_silent}
        if request.is_silent:
            least = profile.efforts[0] if profile.efforts else "low"
            budget = MIN_BUDGET if profile.always_thinks else 0
            thinking |= {"thinkingLevel": least} if profile.thinking == "level" else {"thinkingBudget": budget}
        elif wanted.budget_tokens and profile.thinking == "budget":
            thinking["thinkingBudget"] = min(wanted.budget_tokens, MAX_BUDGET)
        elif effort is not None and profile.thinking == "level":
            thinking["thinkingLevel"] = effort
        elif effort is not None:
            thinking["thinkingBudget"] = BUDGETS[effort]
        config["thinkingConfig"] = thinking
    if request.json_schema is not None and profile.json_schema and not request.tools:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": request.json_schema}
    return config


def _parts(parts: Sequence[Part], calls: dict[CallId, ToolCallPart], target: Target) -> Iterator[Json]:
    media: list[Json] = []
    unsigned = target.profile.thinking == "level"
    for part in parts:
        match part:
            case TextPart():
                yield {"text": part.text}
            case ReasoningPart():
                if part.data is not None and SIGNATURE in part.data:
                    yield {"text": "", SIGNATURE: part.data[SIGNATURE]}
            case ToolCallPart():
                yield _call(part, need_signature=unsigned)
                unsigned = False
            case ToolResultPart():
                text, attached = result_parts(part)
                yield _result(part, calls.get(part.call_id), text)
                media.extend(_media(one.source, target) for one in attached)
            case ImagePart() | DocumentPart():
                media.append(_media(part.source, target))
            case _:
                pass
    yield from media


def _call(part: ToolCallPart, *, need_signature: bool) -> Json:
    data = part.data or {}
    call: Json = {"name": part.name, "args": arguments_of(part)}
    if "id" in data:
        call["id"] = data["id"]
    signature = data.get(SIGNATURE) or (NO_SIGNATURE if need_signature else None)
    return {"functionCall": call, SIGNATURE: signature} if signature else {"functionCall": call}


def _result(part: ToolResultPart, call: ToolCallPart | None, text: str) -> Json:
    answer: Json = {
        "name": call.name if call else "unknown",
        "response": {"error" if part.is_error else "output": text},
    }
    if call is not None and call.data and "id" in call.data:
        answer["id"] = call.data["id"]
    return {"functionResponse": answer}


def _media(source: MediaSource, target: Target) -> Json:
    if source.type == "text":
        return {"text": source.data}
    if not target.profile.images:
        return {"text": f"[attachment left out: {target.model} takes none]"}
    if source.type == "url":
        return {"fileData": {"mimeType": source.media_type, "fileUri": source.url}}
    return {"inlineData": {"mimeType": source.media_type, "data": source.data}}


class GeminiDecoder:
    """One stream of chunks. Calls arrive whole; text and thought end where something else begins."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._usage = UsageTally()
        self._started = False
        self._model = ""
        self._finish = ""
        self._called = False
        self._open = ""
        self._pieces: list[str] = []
        self._count = 0
        """Parts that are whole; the one that grows has this number."""
        self.done = False

    def feed(self, event: SseEvent) -> list[ReplyEvent]:
        return list(self.take(event_json(event)))

    def finish(self) -> list[ReplyEvent]:
        if not self._finish:
            raise StreamBroken("the stream ended before the reply was complete")
        return list(self._end())

    def take(self, data: Json) -> Iterator[ReplyEvent]:
        """One chunk."""
        if data.get("error") and self._started and is_cut_off(data):
            data = {"candidates": [{"finishReason": "MAX_TOKENS"}]}
        if data.get("error"):
            raise failure_in_stream(data, self._target)
        if not self._started:
            self._started = True
            self._model = string(data.get("modelVersion"))
            yield ReplyStarted(message_id=string(data.get("responseId")), model=self._target.name)
        self._usage.gemini(obj(data.get("usageMetadata")))
        yield from self._usage.news()
        if blocked := string(obj(data.get("promptFeedback")).get("blockReason")):
            self._finish = blocked if blocked in STOP_REASONS else "SAFETY"
        for candidate in items(data.get("candidates"))[:1]:
            for part in items(obj(candidate.get("content")).get("parts")):
                yield from self._part(part)
            self._finish = string(candidate.get("finishReason")) or self._finish
        if self._finish in UNUSABLE and not self._called:
            raise StreamBroken(f"the model made a tool call that cannot be read ({self._finish})", retryable=True)

    def _part(self, part: Json) -> Iterator[ReplyEvent]:
        if text := string(part.get("text")):
            kind = "thought" if part.get("thought") else "text"
            if kind != self._open:
                yield from self._close()
                self._open = kind
            self._pieces.append(text)
            chunk = ReasoningChunk if kind == "thought" else TextChunk
            yield chunk(text=text, part=self._count)
        signature = string(part.get(SIGNATURE))
        if call := obj(part.get("functionCall")):
            yield from self._close()
            yield self._done(self._call(call, signature))
        elif signature:
            yield from self._close()
            yield self._done(ReasoningPart(provider=self._target.provider, data={SIGNATURE: signature}))

    def _done(self, part: Part) -> PartDone:
        self._count += 1
        return PartDone(part=part, index=self._count - 1)

    def _call(self, call: Json, signature: str) -> ToolCallPart:
        self._called = True
        arguments, raw = parse_arguments(call.get("args"))
        given = string(call.get("id"))
        data = {"id": given} if given else {}
        if signature:
            data[SIGNATURE] = signature
        name = string(call.get("name"))
        return ToolCallPart(id=call_id(given), name=name, arguments=arguments, raw_arguments=raw, data=data or None)

    def _close(self) -> Iterator[ReplyEvent]:
        text, self._pieces = "".join(self._pieces), []
        kind, self._open = self._open, ""
        if kind == "text":
            yield self._done(TextPart(text=text))
        elif kind == "thought":
            yield self._done(ReasoningPart(text=text, provider=self._target.provider))

    def _end(self) -> Iterator[ReplyEvent]:
        self.done = True
        yield from self._close()
        stop = STOP_REASONS.get(self._finish, self._finish.lower())
        stop = stop_with_calls(stop, called=self._called)
        yield ReplyDone(stop_reason=stop, usage=self._usage.usage, model=self._model)


def decoder(target: Target) -> GeminiDecoder:
    """A decoder for one stream."""
    return GeminiDecoder(target)


def decode(body: bytes, target: Target) -> list[ReplyEvent]:
    """The events of a reply that came in one piece, read as a stream of one chunk."""
    reader = GeminiDecoder(target)
    return [*reader.take(body_json(body)), *reader.finish()]
