"""The fake model server itself: order, repetition, matching, gates, and the separate process."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from clew.protocol.messages import TextPart, ToolCallPart
from fakes.effort import HANG_S
from fakes.model_server import ModelServer
from wires.support import ask, collect, parts_in, remote

PROGRAM = Path(__file__).parent.parent / "fakes" / "model_server.py"


def post(url: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method="POST"), timeout=HANG_S) as answer:
        return answer.read()


async def test_so_many_calls_and_then_words():
    call = {"call": "Read", "arguments": {"file_path": "f{n}.py"}}
    script: dict[str, Any] = {"replies": [{"repeat": 3, "calls": [call, call]}], "last": {"text": "done"}}
    with ModelServer(script) as server:
        model = remote("anthropic", server.url)
        replies = [parts_in(await collect(model, ask("go"))) for _ in range(5)]
        await model.close()
    paths = [[p.arguments["file_path"] for p in reply if isinstance(p, ToolCallPart)] for reply in replies]
    assert paths == [["f1.py", "f1.py"], ["f2.py", "f2.py"], ["f3.py", "f3.py"], [], []]
    assert replies[4] == [TextPart(text="done")]
    assert [request.body["messages"][0]["content"][0]["text"] for request in server.requests] == ["go"] * 5


async def test_a_matched_reply_waits_for_its_request():
    with ModelServer([{"match": "title please", "text": "A title"}, {"text": "first"}, {"text": "second"}]) as server:
        model = remote("anthropic", server.url)
        texts = [parts_in(await collect(model, ask(words))) for words in ("a", "title please", "b")]
        await model.close()
    assert texts == [[TextPart(text="first")], [TextPart(text="A title")], [TextPart(text="second")]]


def test_as_a_process_with_its_records(tmp_path: Path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "hello"}, {"fault": "hang"}]), "utf-8")
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), "--script", str(script), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        answer = json.loads(post(f"{url}/v1/chat/completions", {"model": "m", "messages": []}))
        assert answer["choices"][0]["message"]["content"] == "hello"
        with urllib.request.urlopen(f"{url}/_requests", timeout=HANG_S) as seen:
            records = json.loads(seen.read())
        assert [(record["path"], record["body"]["model"]) for record in records] == [("/v1/chat/completions", "m")]
    finally:
        process.kill()
        process.communicate()
