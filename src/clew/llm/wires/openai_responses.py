"""OpenAI Responses, without state on the server: every request carries its history, reasoning travels encrypted."""

from collections.abc import Iterator

from clew.llm.errors import StreamBroken
from clew.llm.failures import failure_in_stream
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import ArgumentsChunk, PartDone, ReasoningChunk, ReplyDone, ReplyEvent, ReplyStarted, TextChunk
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
    parts_at_once,
    result_parts,
    stop_with_calls,
    string,
    to_json,
    wire_id,
)
from clew.llm.wires.openai_chat import data_url
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_of,
    parts_of,
)


def encode(request: ModelRequest, target: Target, *, stream: bool) -> HttpRequest:
    """Stable things first, history last: bytes already sent stay a prefix."""
    profile = target.profile
    body: Json = {"model": target.model, "store": False}
    cap = request.max_output_tokens or profile.default_output
    if cap is not None:
        body["max_output_tokens"] = min(cap, profile.max_output)
    if profile.thinking == "effort":
        body["include"] = ["reasoning.encrypted_content"]
        body |= _reasoning(request, target)
    if request.temperature is not None and profile.sampling:
        body["temperature"] = request.temperature
    if stream:
        body["stream"] = True
    if system := "\n\n".join(text for text in request.system if text.strip()):
        body["instructions"] = system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in request.tools
        ]
        if target.quirks.parallel_calls is not None:
            body["parallel_tool_calls"] = target.quirks.parallel_calls
    if request.json_schema is not None and profile.json_schema:
        shape = {"type": "json_schema", "name": "answer", "schema": request.json_schema, "strict": False}
        body["text"] = {"format": shape}
    body["input"] = [item for message in history_for(request.messages, target) for item in _items(message, target)]
    headers = (("content-type", "application/json"), *target.headers)
    url = target.address("responses", stream=stream)
    return HttpRequest(method="POST", url=url, headers=headers, body=to_json(body))


def _reasoning(request: ModelRequest, target: Target) -> Json:
    wanted: Json = {}
    effort = "low" if request.is_silent else request.level
    if request.is_silent and not target.profile.always_thinks:
        wanted["effort"] = "none"
    elif (level := target.profile.clamp_effort(effort)) is not None:
        wanted["effort"] = level
    if target.quirks.reasoning_summary and request.thinking.shown and not request.is_silent:
        wanted["summary"] = target.quirks.reasoning_summary
    return {"reasoning": wanted} if wanted else {}


def _items(message: Message, target: Target) -> Iterator[Json]:
    said: list[Json] = []
    for part in parts_of(message):
        match part:
            case ToolResultPart():
                yield _result(part, target)
            case ToolCallPart():
                arguments = to_json(arguments_of(part)).decode()
                sent_id = wire_id(part.id)
                yield {"type": "function_call", "call_id": sent_id, "name": part.name, "arguments": arguments}
            case ReasoningPart():
                if part.data is not None:
                    yield part.data
            case TextPart() if message.role == "assistant":
                yield {"type": "message", "role": "assistant", "content": part.text}
            case _:
                said.append(_content(part, target))
    if said:
        yield {"type": "message", "role": "user", "content": said}


def _result(part: ToolResultPart, target: Target) -> Json:
    text, media = result_parts(part)
    item: Json = {"type": "function_call_output", "call_id": wire_id(part.call_id)}
    if not media:
        return item | {"output": text}
    return item | {"output": [{"type": "input_text", "text": text}, *(_content(one, target) for one in media)]}


def _content(part: Part, target: Target) -> Json:
    match part:
        case TextPart():
            return {"type": "input_text", "text": part.text}
        case ImagePart() if target.profile.images:
            return {"type": "input_image", "image_url": data_url(part.source), "detail": "auto"}
        case DocumentPart() if part.source.type == "text":
            return {"type": "input_text", "text": f"{part.title}\n{part.source.data}".strip()}
        case DocumentPart() if target.profile.documents and part.source.data:
            return {"type": "input_file", "filename": part.title or "document.pdf", "file_data": data_url(part.source)}
        case ImagePart():
            return {"type": "input_text", "text": f"[image left out: {target.model} takes no images]"}
        case DocumentPart():
            return {"type": "input_text", "text": f"[document {part.title} left out: {target.model} takes none]"}
        case _:
            raise TypeError(f"no content for {type(part).__name__}")


class ResponsesDecoder:
    """One stream of response events. An item is whole when its `output_item.done` arrives."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._usage = UsageTally()
        self._started = False
        self._called = False
        self._summaries = 0
        self._numbers: dict[object, int] = {}
        """Which part an item in progress will be."""
        self._names: dict[object, str] = {}
        self._call_ids: dict[object, str] = {}
        self._count = 0
        self.done = False

    def feed(self, event: SseEvent) -> list[ReplyEvent]:
        if event.data.strip() == b"[DONE]":
            return []
        data = event_json(event)
        match data.get("type"):
            case "response.created" | "response.in_progress":
                return self._start(obj(data.get("response")))
            case "response.output_item.added":
                return self._item_added(data)
            case "response.output_item.done":
                return self._item_done(data)
            case "response.completed" | "response.incomplete":
                return self._end(obj(data.get("response")))
            case "response.failed":
                raise failure_in_stream(obj(data.get("response")), self._target)
            case "error":
                raise failure_in_stream(data, self._target)
            case _:
                return self._delta(data)

    def finish(self) -> list[ReplyEvent]:
        if self.done:
            return []
        raise StreamBroken("the stream ended before the reply was complete")

    def whole(self, response: Json) -> list[ReplyEvent]:
        """All events of a reply that came in one piece."""
        parts = [part for item in items(response.get("output")) if (part := self._part(item)) is not None]
        return [*self._start(response), *parts_at_once(parts), *self._end(response)]

    def _start(self, response: Json) -> list[ReplyEvent]:
        if self._started:
            return []
        self._started = True
        return [ReplyStarted(message_id=string(response.get("id")), model=self._target.name)]

    def _item_added(self, data: Json) -> list[ReplyEvent]:
        item = obj(data.get("item"))
        if item.get("type") != "function_call":
            return []
        name = self._names[_place(data)] = string(item.get("name"))
        given = self._call_ids[_place(data)] = string(item.get("call_id")) or string(item.get("id"))
        return [*self._start({}), ArgumentsChunk(part=self._number(data), name=name, text="", call_id=given)]

    def _delta(self, data: Json) -> list[ReplyEvent]:
        text = string(data.get("delta"))
        match data.get("type"):
            case "response.output_text.delta" | "response.refusal.delta" if text:
                chunk: ReplyEvent = TextChunk(text=text, part=self._number(data))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" if text:
                chunk = ReasoningChunk(text=text, part=self._number(data))
            case "response.function_call_arguments.delta" if text:
                name, given = self._names.get(_place(data), ""), self._call_ids.get(_place(data), "")
                chunk = ArgumentsChunk(part=self._number(data), name=name, text=text, call_id=given)
            case "response.reasoning_summary_part.added":
                self._summaries += 1
                if self._summaries == 1:
                    return []
                chunk = ReasoningChunk(text="\n\n", part=self._number(data))
            case _:
                return []
        return [*self._start({}), chunk]

    def _item_done(self, data: Json) -> list[ReplyEvent]:
        self._summaries = 0
        part = self._part(obj(data.get("item")))
        done = [] if part is None else [PartDone(part=part, index=self._number(data))]
        self._numbers.pop(_place(data), None)
        return [*self._start({}), *done]

    def _number(self, data: Json) -> int:
        """The part that the event's item is or will be; items that show nothing are not counted."""
        place = _place(data)
        if place not in self._numbers:
            self._numbers[place] = self._count
            self._count += 1
        return self._numbers[place]

    def _part(self, item: Json) -> Part | None:
        match item.get("type"):
            case "message":
                pieces = items(item.get("content"))
                text = "".join(string(piece.get("text")) or string(piece.get("refusal")) for piece in pieces)
                return TextPart(text=text) if text else None
            case "reasoning":
                return self._thought(item)
            case "function_call":
                self._called = True
                arguments, raw = parse_arguments(item.get("arguments"))
                given = string(item.get("call_id")) or string(item.get("id"))
                name = string(item.get("name"))
                return ToolCallPart(id=call_id(given), name=name, arguments=arguments, raw_arguments=raw)
            case _:
                return None

    def _thought(self, item: Json) -> ReasoningPart:
        """The item goes back as it came, but for its status, which requests may not carry."""
        pieces = items(item.get("summary")) or items(item.get("content"))
        text = "\n\n".join(string(piece.get("text")) for piece in pieces)
        echo = {key: value for key, value in item.items() if key != "status" and value is not None}
        return ReasoningPart(text=text, provider=self._target.provider, data=echo)

    def _end(self, response: Json) -> list[ReplyEvent]:
        self.done = True
        self._usage.responses(obj(response.get("usage")))
        if error := obj(response.get("error")):
            raise failure_in_stream({"error": error}, self._target)
        reason = string(obj(response.get("incomplete_details")).get("reason"))
        stop = {"": "end_turn", "max_output_tokens": "max_tokens"}.get(reason, reason)
        stop = stop_with_calls(stop, called=self._called)
        model = string(response.get("model"))
        return [*self._start(response), ReplyDone(stop_reason=stop, usage=self._usage.usage, model=model)]


def _place(data: Json) -> object:
    """What tells the items of a reply apart; servers that send neither send one item after the other."""
    index = data.get("output_index")
    return index if isinstance(index, int) else string(data.get("item_id")) or string(obj(data.get("item")).get("id"))


def decoder(target: Target) -> ResponsesDecoder:
    """A decoder for one stream."""
    return ResponsesDecoder(target)


def decode(body: bytes, target: Target) -> list[ReplyEvent]:
    """The events of a reply that came in one piece."""
    return ResponsesDecoder(target).whole(body_json(body))
