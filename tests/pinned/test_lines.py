"""The lines that programs read: stream-json of whole runs, and both sides' control lines of dialogues."""

import json
import subprocess
from pathlib import Path

from e2e.command import CLEW, LIMIT_S, Place
from e2e.driver import Driven, Json, is_asked
from fakes.model_server import ModelServer
from pinned.normal import Normal, all_shown, in_order, same
from pinned.scenes import (
    ASK,
    PARTIAL,
    PLAN,
    QUESTION,
    allow,
    answer,
    blue,
    call,
    deny,
    held,
    is_text,
    is_user,
    scene,
    titled_result,
)

WHOLE = ("--output-format", "stream-json", "--verbose", *PARTIAL)
THINKING = {"thinking": "There is a file.", "signature": "signed"}


def joined(lines: list[Json]) -> list[Json]:
    """The lines with the pieces of one block put together: where a text is cut depends on how its bytes arrive."""
    found: list[Json] = []
    for line in lines:
        piece, before = piece_of(line), piece_of(found[-1]) if found else None
        if piece is None or before is None or piece["type"] != before["type"]:
            found.append(line)
            continue
        (name,) = (name for name in piece if name != "type")
        before[name] += piece[name]
    return found


def piece_of(line: Json) -> Json | None:
    """What a line adds to a block."""
    if line["type"] != "stream_event" or line["event"]["type"] != "content_block_delta":
        return None
    return line["event"]["delta"]


def pinned(place: Place, name: str, lines: list[Json]) -> None:
    normal = Normal(place)
    same(f"lines/{name}", all_shown([normal.value(line) for line in in_order(joined(lines))]))


def whole_run(place: Place, server: ModelServer, *args: str) -> list[Json]:
    """`clew -p` to its end. The reply that holds is let go when the result of its call was told."""
    process = subprocess.Popen(
        [CLEW, *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=place.project,
        env=place.env,
        text=True,
    )
    lines: list[Json] = []
    with process:
        assert process.stdout is not None
        for raw in process.stdout:
            lines.append(json.loads(raw))
            assert raw == json.dumps(lines[-1], separators=(",", ":"), ensure_ascii=False) + "\n"
            if is_user(lines[-1]):
                server.release("end")
        assert process.wait(LIMIT_S) == 0
    return lines


def test_a_run_with_thinking_a_call_and_an_answer(tmp_path: Path) -> None:
    read = call("Read", file_path="a.txt") | {"parts": [THINKING, {"text": "I look at it."}]}
    with scene(tmp_path, held(read), {"text": "Two lines, alpha and beta."}) as (place, server):
        pinned(place, "run-with-a-call", whole_run(place, server, "-p", "read a.txt", *WHOLE))


def test_a_run_with_a_retry_and_a_reply_that_is_withdrawn(tmp_path: Path) -> None:
    cut = {"fault": "cut", "after": 6, "parts": [{"text": "some words"}, {"text": "never whole"}]}
    with scene(tmp_path, {"fault": "overloaded", "retry_after": 0}, cut, {"text": "All of it."}) as (place, server):
        pinned(place, "run-with-a-retry", whole_run(place, server, "-p", "tell me", *WHOLE))


def test_what_a_program_sets(tmp_path: Path) -> None:
    """The handshake, the mode, the model, what is refused; a turn before and after."""
    with scene(tmp_path, {"text": "One."}, {"text": "Two."}) as (place, _), Driven(place) as run:
        assert run.answered("init", "initialize", hooks=None)["subtype"] == "success"
        run.say("first", uuid="p-1")
        titled_result(run)
        assert run.answered("mode", "set_permission_mode", mode="acceptEdits")["subtype"] == "success"
        assert run.answered("no-mode", "set_permission_mode", mode="auto")["subtype"] == "error"
        assert run.answered("model", "set_model", model="claude-haiku-4-5")["subtype"] == "success"
        assert run.answered("servers", "mcp_status")["subtype"] == "success"
        assert run.answered("unknown", "read_minds")["subtype"] == "error"
        run.write(b"no json\n")
        run.say("second", uuid="p-2")
        run.result()
        assert run.end() == 0
        pinned(place, "control-settings", run.lines)


def test_a_call_that_is_denied_and_one_that_is_allowed(tmp_path: Path) -> None:
    """A result is told before the end of the reply that asked, see `held`."""
    no, yes = (held(call("Bash", command=f"echo it > {name}.txt"), name) for name in ("no", "yes"))
    with scene(tmp_path, no, {"text": "Not made."}, yes, {"text": "Made."}) as (place, server):
        with Driven(place, *ASK, *PARTIAL) as run:
            for name, respond, over in (("no", deny, titled_result), ("yes", allow, Driven.result)):
                run.say("make it")
                answer(run, respond)
                run.until(is_user)
                server.release(name)
                over(run)
            assert run.end() == 0
        assert [path.name for path in sorted(place.project.glob("*.txt"))] == ["a.txt", "yes.txt"]
        pinned(place, "control-permission", run.lines)


def test_a_question_and_a_plan(tmp_path: Path) -> None:
    question, plan = call("AskUser", questions=[QUESTION]), call("ExitPlanMode", plan=PLAN)
    with scene(tmp_path, held(question, "asked"), held(plan, "planned"), {"text": "Begun."}) as (place, server):
        with Driven(place, *ASK, "--permission-mode", "plan") as run:
            run.say("move the cache")
            for name, respond in (("asked", blue), ("planned", allow)):
                answer(run, respond)
                run.until(is_user)
                server.release(name)
            titled_result(run)
            assert run.end() == 0
        pinned(place, "control-question-and-plan", run.lines)


def test_an_interrupt_while_words_come_and_while_a_call_waits(tmp_path: Path) -> None:
    words = {"parts": [{"text": "the first words"}, {"wait": "never"}]}
    with scene(tmp_path, words, held(call("Bash", command="touch b.txt")), {"text": "Still here."}) as (place, _):
        with Driven(place, *ASK, *PARTIAL) as run:
            run.say("tell me")
            run.until(is_text)
            run.ask("stop-1", "interrupt")
            titled_result(run)
            run.say("make it")
            run.until(is_asked("can_use_tool"))
            run.ask("stop-2", "interrupt")
            run.result()
            run.say("and now?")
            run.result()
            assert run.end() == 0
        pinned(place, "control-interrupt", run.lines)
