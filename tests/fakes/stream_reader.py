"""A program that reads stream-json and believes nothing: what is wrong with a stream, as a list of sentences.

It knows the lines as JSON only, puts replies together from their pieces, and compares them with the whole lines and
with the transcript: three ways to one truth.
"""

import json
from collections import Counter
from typing import Any

Json = dict[str, Any]
DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def problems(lines: list[Json], entries: list[Json] | None = None) -> list[str]:
    """Everything that a careful reader could object to."""
    found = [*framing(lines), *calls(lines), *usages(lines)]
    reader = PieceReader()
    for line in lines:
        reader.take(line)
    found += reader.end()
    if entries is not None:
        found += against_the_log(lines, entries)
    return found


def framing(lines: list[Json]) -> list[str]:
    """The first, the last, and what every line has."""
    if not lines:
        return ["there is no line at all"]
    found: list[str] = []
    kinds = [(line.get("type"), line.get("subtype")) for line in lines]
    if kinds[0] != ("system", "init") or not isinstance(lines[0].get("schema_version"), int):
        found.append(f"the first line is {kinds[0]}")
    results = [at for at, (kind, _) in enumerate(kinds) if kind == "result"]
    if results != [len(lines) - 1]:
        found.append(f"results at {results} of {len(lines)} lines")
    found += [f"line {at} has no type" for at, (kind, _) in enumerate(kinds) if not kind]
    for name in ("uuid", "session_id"):
        found += [f"line {at} has no {name}" for at, line in enumerate(lines) if not isinstance(line.get(name), str)]
    twice = [uuid for uuid, count in Counter(line.get("uuid") for line in lines).items() if count > 1]
    found += [f"the uuid {uuid} stands on several lines" for uuid in twice]
    sessions = {line.get("session_id") for line in lines}
    if len(sessions) != 1:
        found.append(f"lines of several sessions: {sessions}")
    return found


def withdrawn(lines: list[Json]) -> set[str]:
    """The lines that are void."""
    return {uuid for line in lines if line.get("subtype") == "reply_withdrawn" for uuid in line["uuids"]}


def calls(lines: list[Json]) -> list[str]:
    """Every call that stands has exactly one result, after it."""
    gone = withdrawn(lines)
    asked: dict[str, int] = {}
    answered: list[str] = []
    found: list[str] = []
    for at, line in enumerate(lines):
        if line["type"] not in ("assistant", "user") or line["uuid"] in gone:
            continue
        content = line["message"]["content"]
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use":
                asked[block["id"]] = at
            if block["type"] == "tool_result":
                answered.append(block["tool_use_id"])
                if asked.get(block["tool_use_id"], at) >= at:
                    found.append(f"line {at} answers a call that was not told before it")
    if sorted(asked) != sorted(answered):
        found.append(f"asked {sorted(asked)}, answered {sorted(answered)}")
    return found


def usages(lines: list[Json]) -> list[str]:
    """Every assistant line has its usage; of a whole reply the last line tells why it ended."""
    found: list[str] = []
    for at, line in enumerate(lines):
        if line["type"] == "assistant" and "usage" not in line["message"]:
            found.append(f"line {at} has no usage")
    return found


class Block:
    """A block that is put together from its pieces."""

    def __init__(self, start: Json) -> None:
        self.start = start
        self.pieces: list[str] = []
        self.signature = ""

    def whole(self) -> Any:
        """What it came to, to be compared with the whole line."""
        text = "".join(self.pieces)
        match self.start["type"]:
            case "text":
                return {"type": "text", "text": text}
            case "thinking":
                return {"type": "thinking", "thinking": text, "signature": self.signature}
            case "tool_use":
                return {**self.start, "input": arguments(text)}
            case _:
                return self.start


def arguments(text: str) -> Json:
    """As a client reads what a model wrote as arguments."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {"malformed_arguments": text}
    return value if isinstance(value, dict) else {"malformed_arguments": text}


class PieceReader:
    """Follows `stream_event` lines, one reply after the other, and the whole lines beside them."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self._message = ""
        self._open: dict[int, Block] = {}
        self._closed: dict[str, list[Any]] = {}
        self._next_index = 0
        self._whole: dict[str, list[Any]] = {}
        self._finished: dict[str, Json] = {}
        self._partial = False
        self._overtaken: set[str] = set()
        """Replies of which something else was told before they were whole: their lines could not wait."""

    def take(self, line: Json) -> None:
        """One line of any kind."""
        if line["type"] == "assistant" and line["parent_tool_use_id"] is None:
            message = line["message"]
            self._whole.setdefault(message["id"], []).append(message)
        elif line["type"] != "stream_event":
            self._overtaken.add(self._message)
        if line["type"] == "stream_event":
            self._partial = True
            self._grow(line["event"])

    def _grow(self, event: Json) -> None:
        kind = event["type"]
        if kind == "message_start":
            self._check(not self._message, "a message starts inside another")
            self._check(event["message"]["content"] == [], "a message starts with content")
            self._message, self._next_index = event["message"]["id"], 0
            self._check(self._message not in self._closed, "a message starts twice")
            self._closed[self._message] = []
            return
        self._check(bool(self._message), f"{kind} outside a message")
        match kind:
            case "content_block_start":
                self._check(event["index"] == self._next_index, f"block {event['index']} is not the next one")
                self._next_index += 1
                self._open[event["index"]] = Block(event["content_block"])
            case "content_block_delta":
                self._piece(event["index"], event["delta"])
            case "content_block_stop":
                block = self._open.pop(event["index"], None)
                self._check(block is not None, f"block {event['index']} ends and was not open")
                if block is not None:
                    self._closed[self._message].append(block.whole())
            case "message_delta":
                self._check(not self._open, "a message ends with a block open")
                self._finished[self._message] = event
            case "message_stop":
                self._check(not self._open, "a message stops with a block open")
                self._message = ""
            case _:
                self._check(False, f"an event {kind}")

    def _piece(self, index: int, delta: Json) -> None:
        block = self._open.get(index)
        if block is None:
            self._check(False, f"a delta for block {index}, which is not open")
        elif delta["type"] == "signature_delta":
            block.signature = delta["signature"]
        else:
            expected = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}
            self._check(delta["type"] == expected.get(block.start["type"]), f"{delta['type']} in {block.start['type']}")
            block.pieces.append(delta[DELTAS[delta["type"]]])

    def _check(self, good: bool, sentence: str) -> None:
        if not good:
            self.wrong.append(f"{self._message or '-'}: {sentence}")

    def end(self) -> list[str]:
        """What is wrong when the stream is over."""
        self._check(not self._message, "the stream ends inside a message")
        self._check(not self._open, "the stream ends inside a block")
        for message_id, event in self._finished.items():
            whole = self._whole.get(message_id, [])
            if whole and message_id not in self._overtaken:
                self._check(whole[-1]["usage"] == event["usage"], "the last line has not the whole usage")
                self._check(whole[-1]["stop_reason"] == event["delta"]["stop_reason"], "the stop reasons differ")
        for message_id, messages in self._whole.items() if self._partial else ():
            told = [message["content"][0] for message in messages]
            grown = self._closed.get(message_id, [])
            if message_id in self._finished:
                self._check(told == grown, f"{message_id} grew to {grown}, and was told as {told}")
            else:  # broken off: what was whole is told, what was not may have grown
                rest = [block for block in told if block not in grown]
                self._check(not rest, f"{message_id} told {rest}, which never grew")
        return self.wrong


def against_the_log(lines: list[Json], entries: list[Json]) -> list[str]:
    """The lines that stand are the entries that stand: the same ones, in the same order, with the same content."""
    void = {uuid for entry in entries if entry["type"] == "tombstone" for uuid in entry["targets"]}
    logged, told = {entry.get("uuid") for entry in entries}, {line["uuid"] for line in lines}
    gone = withdrawn(lines)
    if gone & logged != void & told & logged:
        return [f"withdrawn in the log {void & told}, in the stream {gone}"]
    first = next((at for at, entry in enumerate(entries) if entry["type"] in ("user", "assistant")), 0)
    kept = [
        (entry["uuid"], readable(entry["message"]["content"]))
        for entry in entries[first:]
        if entry["type"] in ("assistant", "user") and entry["uuid"] not in void and told_as_line(entry)
    ]
    said = [
        (line["uuid"], readable(line["message"]["content"]))
        for line in lines
        if line["type"] in ("assistant", "user") and line["uuid"] not in void
    ]
    missing = [item for item in kept if item not in said]
    extra = [item for item in said if item not in kept]
    found = [f"in the log and not in the stream: {item}" for item in missing]
    found += [f"in the stream and not in the log: {item}" for item in extra]
    if not found and [uuid for uuid, _ in kept] != [uuid for uuid, _ in said]:
        found.append("log and stream tell the same in another order")
    return found


def told_as_line(entry: Json) -> bool:
    """Prompts of the user are not repeated, and the line that carries the usage has no content."""
    content = entry["message"]["content"]
    if entry["type"] == "assistant":
        return bool(content)
    return bool(entry.get("isMeta") or entry.get("queued")) or (
        isinstance(content, list) and any(block["type"] == "tool_result" for block in content)
    )


def readable(content: Any) -> Any:
    """Content as both write it: the log leaves out what is empty and keeps what only a provider needs."""
    if isinstance(content, str):
        return content
    return [block_of(block) for block in content]


def block_of(block: Json) -> Json:
    match block["type"]:
        case "thinking":
            return {"type": "thinking", "thinking": block.get("thinking", ""), "signature": block.get("signature", "")}
        case "tool_use":
            raw = block.get("rawInput")
            given = block["input"] if raw is None else {"malformed_arguments": raw}
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": given}
        case "tool_result":
            content = readable(block.get("content", ""))
            return {**block, "content": content, "is_error": block.get("is_error", False)}
        case _:
            return block
