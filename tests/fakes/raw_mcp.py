"""An MCP server of the standard library alone, which starts fast and misbehaves as it is told: `raw_mcp.py HOW...`.

It speaks the handshake of 2025-06-18 over stdio. HOW is any of: silent, junk, chatty, names, restless, late, huge,
halved, broken.
"""

import json
import os
import sys
import threading
import time
from typing import Any

HOW = set(sys.argv[1:])
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
lock = threading.Lock()
tools = ["echo", "wait", "die"]
cancelled = threading.Event()


def send(message: dict[str, Any]) -> None:
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def listed() -> list[dict[str, Any]]:
    found = [{"name": name, "description": f"about {name}", "inputSchema": SCHEMA} for name in tools]
    if "names" in HOW:
        odd = ["Bash", "a\u0007b", "a/b", "a.b", "a_b", "x" * 100]
        found += [{"name": name, "inputSchema": SCHEMA} for name in odd]
        found.append({"name": "listy", "inputSchema": {"type": "array"}})
    if word := os.environ.get("RAW_WORDS"):
        found[0]["description"] = word
    return found


def call(number: Any, name: str, arguments: dict[str, Any]) -> None:
    if name == "die":
        os._exit(7)
    if name == "wait":
        cancelled.wait(60)
        if "late" in HOW:
            send({"id": number, "result": {"content": [{"type": "text", "text": "late"}]}})
        return
    if "broken" in HOW:
        with lock:
            print(f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"content": [', flush=True)
        return
    if "halved" in HOW:  # as a program of JavaScript does that cuts a text in the middle of a sign
        arguments = {"text": "cut \ud83d"}
    text = "x" * 20_000_000 if "huge" in HOW else f"echo: {arguments.get('text')}"
    send({"id": number, "result": {"content": [{"type": "text", "text": text}]}})


def restless() -> None:
    number = 0
    while True:
        number += 1
        tools[:] = ["echo", "wait", "die", f"new_{number}"]
        for _ in range(200):
            send({"method": "notifications/tools/list_changed"})
        time.sleep(0.05)


def chatty() -> None:
    for number in range(20_000):
        send({"method": "notifications/message", "params": {"level": "info", "data": f"line {number}"}})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if "silent" in HOW:
            continue
        if "junk" in HOW:
            sys.stdout.write('hello, I am a banner\n{"jsonrpc": \n[]\n\n')
        if method == "initialize":
            about = {"name": "raw", "version": "0"}
            can = {"tools": {"listChanged": True}}
            result = {"protocolVersion": "2025-06-18", "capabilities": can, "serverInfo": about}
            send({"id": number, "result": result})
        elif method == "notifications/initialized":
            for what in (restless, chatty):
                if what.__name__ in HOW:
                    threading.Thread(target=what, daemon=True).start()
        elif method == "tools/list":
            send({"id": number, "result": {"tools": listed()}})
        elif method == "tools/call":
            params = message["params"]
            threading.Thread(
                target=call, args=(number, params["name"], params.get("arguments") or {}), daemon=True
            ).start()
        elif method == "notifications/cancelled":
            if os.environ.get("RAW_CANCELLED"):
                with open(os.environ["RAW_CANCELLED"], "w") as file:
                    file.write(str(message["params"]["requestId"]))
            cancelled.set()
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "there is no such method"}})


if os.environ.get("RAW_PIDFILE"):
    with open(os.environ["RAW_PIDFILE"], "w") as file:
        file.write(str(os.getpid()))
main()
