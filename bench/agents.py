"""Child agents: what a step of one costs beside twenty others, what an idle one weighs, what its end adds."""

import asyncio
import gc
import importlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.processes import ROOT
from bench.report import Row

sys.path.insert(0, str(ROOT / "tests"))

from clew.agents.factory import TreeRules
from clew.agents.runner import AgentSpec
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.events import AgentEnded, PromptAccepted, TurnEnded
from clew.protocol.ops import SubmitPrompt

house: Any = importlib.import_module("unit.agents.house").house
CHILDREN = 20
STEPS = 20
IDLE = 100
HELPER = AgentSpec(kind="helper", model="helper")


def rows() -> Iterator[Row]:
    """A single agent first, then many."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        (base / "read.txt").write_text("x\n")
        for name in ("one", "many", "idle"):
            (base / name).mkdir()
        one_s = asyncio.run(single(base))
        many_s = asyncio.run(many(base))
        megabytes, notice = asyncio.run(idle(base))
    ratio = many_s / one_s
    yield Row("one step of a single agent", f"{one_s * 1000:.1f} ms", "-", None)
    yield Row(f"one step of {CHILDREN} children at once", f"{ratio:.2f} x a single agent's", "<= 1.5 x", ratio <= 1.5)
    yield Row("one more idle child", f"{megabytes:.2f} MB", "<= 1 MB", megabytes <= 1)
    yield Row("what a background child adds to its parent's window", f"{notice:.0f} bytes", "<= 1,024", notice <= 1_024)


def read(base: Path) -> Call:
    return Call("Read", {"file_path": str(base / "read.txt")})


def agent(number: int, **more: Any) -> Call:
    return Call("Agent", {"description": "x", "prompt": f"task {number}", "subagent_type": "helper", **more})


async def single(base: Path) -> float:
    """Seconds per step."""
    model = ScriptedModel([*[read(base)] * (CHILDREN * STEPS), Say("done")], name="main")
    async with house(base / "one", models={"main": model}, mode="bypassPermissions") as place:
        started = time.perf_counter()
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        return (time.perf_counter() - started) / (CHILDREN * STEPS)


async def many(base: Path) -> float:
    """The same with the steps divided among children."""

    def child(request: ModelRequest) -> Any:
        done = sum(message.role == "assistant" for message in request.messages)
        return read(base) if done < STEPS else Say("done")

    models = {
        "main": ScriptedModel([ReplyOf([agent(number) for number in range(CHILDREN)]), Say("out")], name="main"),
        "helper": ScriptedModel([child] * (CHILDREN * (STEPS + 1)), name="helper"),
    }
    rules = TreeRules(max_at_once=CHILDREN)
    async with house(base / "many", models=models, kinds=(HELPER,), mode="bypassPermissions", rules=rules) as place:
        started = time.perf_counter()
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        return (time.perf_counter() - started) / (CHILDREN * (STEPS + 1))


async def idle(base: Path) -> tuple[float, float]:
    """Megabytes per child that waits for its model, and the bytes of its notice."""
    hold, reached = asyncio.Event(), [asyncio.Event() for _ in range(IDLE)]
    begin = ReplyOf([agent(number, run_in_background=True) for number in range(IDLE)])
    models = {
        "main": ScriptedModel([begin, Say("out"), *[Say("heard")] * IDLE], name="main"),
        "helper": ScriptedModel([ReplyOf([Wait(hold, one), Say("done " * 400)]) for one in reached], name="helper"),
    }
    gc.collect()
    before = resident_mb()
    rules = TreeRules(max_at_once=IDLE)
    async with house(base / "idle", models=models, kinds=(HELPER,), mode="bypassPermissions", rules=rules) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        await asyncio.gather(*(one.wait() for one in reached))
        gc.collect()
        weight = (resident_mb() - before) / IDLE
        hold.set()
        await place.front.until(AgentEnded, IDLE)
        for _ in range(IDLE):  # the next turn begins when the one before has told what it may
            await asyncio.sleep(0)
            await place.session.main.settled()
        told = [event for event in place.front.of(PromptAccepted) if event.notices]
        return weight, sum(len(str(event.content).encode()) for event in told) / IDLE


def resident_mb() -> float:
    """Of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6
