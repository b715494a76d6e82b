"""A program that says anything in any order: every prompt that was taken has one result, every request one answer."""

import json
import random
import threading
from typing import Any

import pytest

from e2e.command import Serve
from e2e.driver import Driven, Json
from e2e.test_dialogue import bash

STEPS = 40
BAD: tuple[bytes, ...] = (
    b"what?\n",
    b"\xff\n",
    b"\n",
    b'{"type":"user","message":{"role":"user","content":""}}\n',
    b'{"type":"control_response","response":{"subtype":"success","request_id":"nobody","response":{}}}\n',
    b'{"type":"control_cancel_request","request_id":"nobody"}\n',
    b'{"type":"keep_alive"}\n',
)
REQUESTS: tuple[Json, ...] = (
    {"subtype": "interrupt"},
    {"subtype": "get_context_usage"},
    {"subtype": "mcp_status"},
    {"subtype": "set_model", "model": "claude-haiku-4-5"},
    {"subtype": "set_model", "model": None},
    {"subtype": "set_permission_mode", "mode": "acceptEdits"},
    {"subtype": "set_permission_mode", "mode": "dontAsk"},
    {"subtype": "set_permission_mode", "mode": "default"},
    {"subtype": "initialize"},
    {"subtype": "nothing such"},
    {"subtype": "rewind_files", "user_message_id": "u0"},
)
ANSWERS: tuple[Json, ...] = (
    {"behavior": "allow"},
    {"behavior": "allow", "updatedPermissions": [{"type": "setMode", "mode": "plan"}]},
    {"behavior": "deny", "message": "no"},
    {"behavior": "deny", "message": "stop", "interrupt": True},
    {"what": "is this"},
)


def reply(chance: random.Random) -> Json:
    """What the model says next."""
    kinds: list[Json] = [
        {"text": "words"},
        {"text": "more words"},
        bash("echo hi"),
        bash("echo hi > f.txt"),
        {"calls": [{"call": "Read", "arguments": {"file_path": "missing"}}, *bash("true")["calls"]]},
        {"fault": "cut", "after": 2},
        {"fault": "status", "status": 400, "message": "scripted"},
        {"calls": [{"call": "AskUser", "arguments": {"questions": [{"question": "which?"}]}}]},
    ]
    return chance.choice(kinds)


class Answering(threading.Thread):
    """Reads every line as it comes; answers what it is asked, later, wrongly or not at all."""

    def __init__(self, run: Driven, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.run_ = run
        self.chance = chance
        self.asked: list[Json] = []
        self.quiet = threading.Event()
        """From here on nothing is said any more: stdin is about to be closed."""
        self.lock = threading.Lock()

    def run(self) -> None:
        self.run_.until_end(self.heard)

    def heard(self, line: Json) -> None:
        if line["type"] != "control_request":
            return
        self.asked.append(line)
        with self.lock:
            if self.quiet.is_set() or self.chance.random() < 0.1:
                return
            self.run_.answer(line, self.chance.choice(ANSWERS))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_program_says_each_prompt_has_one_result(serve: Serve, seed: int) -> None:
    chance = random.Random(seed)
    place, _ = serve({"replies": [reply(chance) for _ in range(60)], "last": {"text": "the end"}})
    settings = json.dumps({"headless": {"approvalTimeoutS": 0.2}})
    prompts: list[str] = []
    requests: list[str] = []
    empty = 0
    with Driven(place, "--permission-prompt-tool", "stdio", "--settings", settings) as run:
        answering = Answering(run, random.Random(seed + 1000))
        answering.start()
        for _ in range(STEPS):
            with answering.lock:
                match chance.randrange(4):
                    case 0 | 1 if len(prompts) < 12:
                        prompts.append(f"u{len(prompts)}")
                        run.say(chance.choice(["go", "/cost", "/context", "think"]), uuid=prompts[-1])
                    case 2:
                        requests.append(f"r{len(requests)}")
                        run.send(
                            {"type": "control_request", "request_id": requests[-1], "request": chance.choice(REQUESTS)}
                        )
                    case _:
                        bad = chance.choice(BAD)
                        run.write(bad)
                        empty += b'"content":""' in bad
        with answering.lock:
            answering.quiet.set()
        run.hang_up()
        answering.join(120)
        code = run.process.wait(120)
    assert code in (0, 1), run.errors[-5:]
    assert run.kinds.count("result") == len(prompts) + empty
    answered = [line["response"]["request_id"] for line in run.of("control_response")]
    assert sorted(answered) == sorted(requests)
    assert len({line["request_id"] for line in answering.asked}) == len(answering.asked)
    said = [line for line in run.lines if not line["type"].startswith("control")]
    assert [line for line in said if line.get("subtype") != "input_error"][-1]["type"] == "result"
    assert not [line for line in run.errors if "internal error" in line]
    check_log(place.entries() if place.transcripts() else [])  # commands alone write none


def check_log(entries: list[Any]) -> None:
    """Each call has exactly one result."""
    parts = [
        part
        for entry in entries
        if isinstance(content := entry.get("message", {}).get("content"), list)
        for part in content
    ]
    calls = [part["id"] for part in parts if part["type"] == "tool_use"]
    results = [part["tool_use_id"] for part in parts if part["type"] == "tool_result"]
    assert len(set(calls)) == len(calls)
    assert sorted(calls) == sorted(results)
