"""A model server on loopback that speaks four dialects from a script, with faults. Stdlib only.

In a test: `with ModelServer([{"text": "hi"}]) as server: server.url, server.requests`. As a process:
`python tests/fakes/model_server.py --script FILE.json --port 0` prints one JSON line with the port; `GET /_requests`
returns what was recorded, `POST /_release/NAME` opens a gate.

The script is a list of replies, or `{"replies": [...], "last": reply}` where `last` answers everything beyond the list:
  {"text": "hi"}                            words
  {"calls": [{"call": "Read", "arguments": {}}]}   tool calls, several for parallel ones; "{n}" is the request's number
  {"parts": [...], "stop": "...", "usage": {...}}  anything (see model_dialects); {"wait": NAME} holds at a gate
  {"repeat": 50, "calls": [...]}            the same for fifty requests in a row
  {"match": "word", ...}                    only for a request whose body holds the word; looked up before the others
  {"body": "...", "content_type": "...", "status": 200, "headers": {}}   these very bytes
or a fault, `{"fault": NAME, ...}`: rate_limited (retry_after), overloaded, server_error, unauthorized, prompt_too_long,
output_limit, status (status, message), cut (after: events; mid_event), stall (after), trickle (delay_s, bytes),
malformed, html, wrong_type, hang, reset, redirect (location), empty.
"""

import argparse
import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # started by path: the folder above `fakes` is not importable yet
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import event_frames, model_responses
from fakes import model_dialects as say

Json = dict[str, Any]
EVENTS = {
    "anthropic": say.anthropic_events,
    "chat": say.chat_events,
    "responses": model_responses.events,
    "gemini": say.gemini_events,
}
BODIES = {
    "anthropic": say.anthropic_message,
    "chat": say.chat_body,
    "responses": model_responses.body,
    "gemini": say.gemini_body,
}
STATUS_FAULTS = {
    "rate_limited": (429, "rate_limit_error", "Rate limit reached for requests"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "server_error": (500, "api_error", "Internal server error"),
    "unauthorized": (401, "authentication_error", "invalid api key"),
    "prompt_too_long": (400, "invalid_request_error", ""),
}
HTML = b"<!doctype html><html><body>Please log in to the network</body></html>"


class Recorded(NamedTuple):
    """One request as it arrived. `at` is CLOCK_MONOTONIC, the same clock in every process."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> Json:
        return json.loads(self.raw) if self.raw else {}


class ModelServer:
    """Serves the script from threads until closed."""

    def __init__(self, script: list[Json] | Json, *, port: int = 0, models: tuple[str, ...] = ("fake-model",)) -> None:
        whole: Json = {"replies": script} if isinstance(script, list) else script
        items = [item for entry in whole["replies"] for item in [entry] * entry.get("repeat", 1)]
        self._matched = [item for item in items if "match" in item]
        self._replies = [item for item in items if "match" not in item]
        self._last: Json | None = whole.get("last")
        self._models = models
        self._lock = threading.Lock()
        self._gates: dict[str, threading.Event] = {}
        self._open: set[socket.socket] = set()
        self.closing = threading.Event()
        self.requests: list[Recorded] = []
        self._socket = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "ModelServer":
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        for gate in list(self._gates.values()):
            gate.set()
        # A thread blocked in accept() keeps a closed socket listening; shutdown wakes it.
        for one in [self._socket, *self._open]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def serve(self) -> None:
        """Accept until closed; one thread per connection."""
        while not self.closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def gate(self, name: str) -> threading.Event:
        """The gate a `{"wait": name}` holds at."""
        with self._lock:
            return self._gates.setdefault(name, threading.Event())

    def release(self, name: str) -> None:
        """Let streams pass the gate."""
        self.gate(name).set()

    def _talk(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.add(connection)
        try:
            with connection, connection.makefile("rb") as reader:
                while (request := read_request(reader)) is not None:
                    if not self._answer(connection, request):
                        return
        except OSError:
            pass  # the client left, or the server closes
        finally:
            self._open.discard(connection)

    def _answer(self, connection: socket.socket, request: Recorded) -> bool:
        """Answer one request; False when the connection must close."""
        if request.path.startswith("/_"):
            return self._control(connection, request)
        if request.method == "GET":
            listing = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
            listing["models"] = [{"name": name, "model": name} for name in self._models]
            connection.sendall(http(200, json.dumps(listing).encode()))
            return True
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            reply = self._take(request.raw)
        return Answer(self, connection, request, number, reply).send()

    def _take(self, raw: bytes) -> Json:
        for item in self._matched:
            if item["match"].encode() in raw:
                self._matched.remove(item)
                return item
        if self._replies:
            return self._replies.pop(0)
        return self._last or {"fault": "status", "status": 400, "message": "the script has no more replies"}

    def _control(self, connection: socket.socket, request: Recorded) -> bool:
        if request.path.startswith("/_release/"):
            self.release(request.path.removeprefix("/_release/"))
        seen = [
            {"method": r.method, "path": r.path, "headers": r.headers, "body": r.body, "at": r.at}
            for r in self.requests
        ]
        connection.sendall(http(200, json.dumps(seen).encode()))
        return True


class Answer:
    """One reply on its way out."""

    def __init__(
        self, server: ModelServer, connection: socket.socket, request: Recorded, number: int, reply: Json
    ) -> None:
        self.server = server
        self.connection = connection
        self.dialect = dialect_of(request.path)
        self.reply = reply
        self.fault: str = reply.get("fault", "")
        body = request.body
        methods = (":streamGenerateContent", ":streamRawPredict", "/invoke-with-response-stream")
        self.streaming = bool(body.get("stream")) or any(method in request.path for method in methods)
        self.framed = request.path.endswith("/invoke-with-response-stream")
        self.filled = fill(reply, number, str(body.get("model") or "fake-model"))
        self.number = number

    def send(self) -> bool:
        if self.fault in ("hang", "reset"):
            if self.fault == "hang":
                self.server.closing.wait()
            return False
        if (early := self._plain()) is not None:
            self.connection.sendall(early)
            return True
        if not self.streaming:
            self._hold_whole()
            body = json.dumps(BODIES[self.dialect](self.filled)).encode()
            self.connection.sendall(http(200, body, headers={"request-id": f"req_{self.number}"}))
            return True
        return self._stream()

    def _plain(self) -> bytes | None:
        """Answers that are not a model's reply."""
        if "body" in self.reply:
            kind = self.reply.get("content_type", "application/json")
            body = self.reply["body"] if isinstance(self.reply["body"], bytes) else self.reply["body"].encode()
            return http(self.reply.get("status", 200), body, kind, self.reply.get("headers"))
        if self.fault in STATUS_FAULTS or self.fault == "status":
            status, kind, message = STATUS_FAULTS.get(
                self.fault, (self.reply.get("status", 500), "api_error", "scripted")
            )
            message = self.reply.get("message") or message or say.TOO_LONG[self.dialect]
            headers = dict(self.reply.get("headers", {}))
            if "retry_after" in self.reply:
                headers["retry-after"] = str(self.reply["retry_after"])
            return http(
                status, json.dumps(say.error_body(self.dialect, status, message, kind)).encode(), headers=headers
            )
        if self.fault == "html":
            return http(200, HTML, "text/html")
        if self.fault == "empty":
            return http(200, b"", "text/event-stream" if self.streaming else "application/json")
        if self.fault == "redirect":
            return http(307, b"", headers={"location": self.reply["location"]})
        return None

    def _hold_whole(self) -> None:
        for part in self.filled["parts"]:
            if "wait" in part:
                self.server.gate(part["wait"]).wait()

    def _stream(self) -> bool:
        kind = "application/vnd.amazon.eventstream" if self.framed else "text/event-stream"
        kind = "text/plain" if self.fault == "wrong_type" else kind
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nrequest-id: req_{self.number}\r\n"
        pending = bytearray(f"{head}transfer-encoding: chunked\r\n\r\n".encode())
        limit = self.reply.get("after", 3) if self.fault in ("cut", "stall") else None
        for count, event in enumerate(self._frames()):
            if isinstance(event, str):
                self.connection.sendall(pending)
                pending.clear()
                self.server.gate(event).wait()
                continue
            if limit is not None and count >= limit:
                pending += chunked(event[: len(event) // 2] if self.reply.get("mid_event") else b"")
                self.connection.sendall(pending)
                if self.fault == "stall":
                    self.server.closing.wait()
                return False
            if self.fault == "trickle":
                self.connection.sendall(pending)
                pending.clear()
                self._trickle(event)
            else:
                pending += chunked(event)
        self.connection.sendall(pending + b"0\r\n\r\n")
        return True

    def _trickle(self, event: bytes) -> None:
        size = self.reply.get("bytes", 1)
        for start in range(0, len(event), size):
            self.connection.sendall(chunked(event[start : start + size]))
            if (delay_s := self.reply.get("delay_s", 0)) > 0:
                time.sleep(delay_s)

    def _frames(self) -> Iterator[bytes | str]:
        """SSE frames or AWS's, and the names of gates to hold at."""
        if self.fault == "malformed":
            yield b": a comment\n\nnonsense without a colon\n\ndata: {not json\n\n"
        for event in EVENTS[self.dialect](self.filled):
            if "wait" in event:
                yield str(event["wait"])
            elif self.framed:
                yield event_frames.chunk(event)
            elif event.get("done"):
                yield b"data: [DONE]\n\n"
            else:
                name = f"event: {event['type']}\n" if self.dialect in ("anthropic", "responses") else ""
                yield f"{name}data: {json.dumps(event)}\n\n".encode()


def fill(reply: Json, number: int, model: str) -> Json:
    """The reply with its parts in one list, its numbers and its ids."""
    parts: list[Json] = list(reply.get("parts", []))
    if "text" in reply:
        parts.append({"text": reply["text"]})
    parts += reply.get("calls", [])
    if reply.get("fault") and not parts:
        parts = [{"text": "some words before the fault"}]
    filled: list[Json] = []
    for index, part in enumerate(parts):
        if "call" in part:
            text = json.dumps(part).replace("{n}", str(number))
            part = {"id": f"call_{number}_{index}"} | json.loads(text)
        filled.append(part)
    whole = reply | {"parts": filled, "number": number, "model": reply.get("model", model)}
    if reply.get("fault") == "output_limit":
        whole["stop"] = "max_tokens"
    return whole


def dialect_of(path: str) -> str:
    """The dialect this path belongs to."""
    if path.split("?")[0].endswith(("/messages", "awPredict", "/invoke", "/invoke-with-response-stream")):
        return "anthropic"
    if path.split("?")[0].endswith("/responses"):
        return "responses"
    return "gemini" if ":generateContent" in path or ":streamGenerateContent" in path else "chat"


def read_request(reader: Any) -> Recorded | None:
    """The next request of a connection; None at its end."""
    line = reader.readline(65536)
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := reader.readline(65536)) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    at = time.monotonic()
    raw = reader.read(int(headers.get("content-length", "0")))
    return Recorded(method, path, headers, raw, at)


def http(status: int, body: bytes, kind: str = "application/json", headers: dict[str, str] | None = None) -> bytes:
    """A whole answer with its length."""
    extra = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    return head.encode("latin-1") + body


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def main() -> None:
    """Serve a script file until the process ends."""
    parser = argparse.ArgumentParser(description="Scripted model server")
    parser.add_argument("--script", required=True, help="JSON file, or JSON text")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    text = args.script if args.script.lstrip()[:1] in ("[", "{") else Path(args.script).read_text("utf-8")
    server = ModelServer(json.loads(text), port=args.port)
    print(json.dumps({"port": server.port, "url": server.url}), flush=True)
    server.serve()


if __name__ == "__main__":
    main()
