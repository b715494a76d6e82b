"""A language server that misbehaves as its first argument says. Stdlib only; speaks over stdin and stdout.

good: every line that holds BAD is an error. flood: endless notifications after the first file. garbage: bytes that are
no frames. notjson: a frame that is no JSON. huge: a length beyond all bounds. dies: ends at the first file. mute: never
answers initialize. silent: never says a word about a file. deaf: never reads. slow: as good, when the file named by the
second argument is there. asks: first asks for settings and much else.
"""

import json
import os
import signal
import sys
import time
from typing import Any

Json = dict[str, Any]
OUT = sys.stdout.buffer


def send(message: Json) -> None:
    body = json.dumps(message).encode()
    OUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    OUT.flush()


def receive() -> Json | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    if not length:
        return None
    return json.loads(sys.stdin.buffer.read(length))


def diagnostics(uri: str, version: int, text: str) -> None:
    found = [
        {
            "range": {"start": {"line": at, "character": line.index("BAD")}, "end": {"line": at, "character": 0}},
            "severity": 1,
            "message": f"bad line \x1b[31m{line}",
            "code": "bad",
        }
        for at, line in enumerate(text.split("\n"))
        if "BAD" in line
    ]
    params = {"uri": uri, "version": version, "diagnostics": found}
    send({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})


def about(kind: str, document: Json, text: str) -> None:
    if kind == "flood":
        while True:
            send({"jsonrpc": "2.0", "method": "window/logMessage", "params": {"message": "x" * 100_000}})
    if kind == "dies":
        os._exit(3)
    if kind == "silent":
        return
    if kind == "slow":
        while not os.path.exists(sys.argv[2]):
            time.sleep(0.01)
    diagnostics(document["uri"], document["version"], text)


def main() -> None:
    kind = sys.argv[1]
    if kind == "deaf":
        signal.pause()
    if kind in ("garbage", "notjson", "huge"):
        OUT.write({"garbage": b"hello\n" * 5_000, "notjson": b"Content-Length: 3\r\n\r\n{{{"}.get(kind, b""))
        OUT.write(b"Content-Length: 99999999999\r\n\r\n" if kind == "huge" else b"")
        OUT.flush()
    while (message := receive()) is not None:
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize" and kind != "mute":
            if kind == "asks":
                send({"jsonrpc": "2.0", "id": "s", "method": "workspace/configuration", "params": {"items": [{}, {}]}})
                send({"jsonrpc": "2.0", "id": 7, "method": "client/registerCapability", "params": {}})
                send({"jsonrpc": "2.0", "id": None, "method": "workspace/applyEdit", "params": {}})
                send({"jsonrpc": "2.0", "id": 8, "method": "workspace/applyEdit", "params": []})
                answers = [receive() for _ in range(3)]
                assert [answer["id"] for answer in answers if answer is not None] == ["s", 7, 8], answers
            send({"jsonrpc": "2.0", "id": message["id"], "result": {"capabilities": {}}})
        elif method == "textDocument/didOpen":
            about(kind, params["textDocument"], params["textDocument"]["text"])
        elif method == "textDocument/didChange":
            about(kind, params["textDocument"], params["contentChanges"][0]["text"])


if __name__ == "__main__":
    main()
