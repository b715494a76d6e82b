"""Two agents and two front ends with random faults, in real processes: every ask is answered once, by who may.

One process holds a session with a main agent and a child and answers some asks itself. Another process is a front end
at its socket: it comes and goes with random rights, answers, tries what it may not do, sends answers to the wrong
address, says nonsense, and is killed now and then. `play` starts both and says what went wrong.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clew.host.remote_client import NotReached, RemoteClient, reach
from clew.host.socket_server import SocketServer
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.protocol.base import Rights
from clew.protocol.events import ApprovalRequested, ApprovalResolved, OpAccepted, OpRejected, SessionEnded, TurnEnded
from clew.protocol.ids import MAIN_AGENT, AgentId, OpId, RequestId
from clew.protocol.ops import AnswerApproval, Close, Interrupt, Op, SetTitle, SubmitPrompt
from clew.transcript.log.lease import Owner, this_process
from clew.transcript.log.store import subagent_path
from clew.transcript.past.reader import load
from engine.harness import SESSION, TestHost, asks
from unit.host.room import Front, furnished
from unit.host.test_second_agent import CHILD, add_child

TURNS = 3
CALLS = 2
LIMIT_S = 240
FORBIDDEN = "may only"
"""In the words of every refusal for want of rights."""
KILLED_AT = 0.15
"""How likely the other front end is killed after an op."""


def play(seed: int, folder: Path) -> list[str]:
    """One session with its faults; what was wrong, if anything."""
    folder.mkdir(parents=True, exist_ok=True)
    host = _start("host", seed, folder)
    assert host.stdout is not None
    host.stdout.readline()  # it listens
    guests: list[dict[str, Any]] = []
    life = 0
    while host.poll() is None:
        life += 1
        guest = _start("guest", seed * 1_000 + life, folder)
        try:
            out, err = guest.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            guest.kill()
            host.kill()
            return [f"seed {seed}: the other front end hangs"]
        guests += [json.loads(line) for line in out.splitlines() if line.endswith(b"}")]
        if guest.returncode not in (0, -signal.SIGKILL):
            guests.append({"wrong": err.decode()[-800:]})
    out, err = host.communicate(timeout=LIMIT_S)
    if host.returncode != 0:
        return [f"seed {seed}: the session's process ended with {host.returncode}: {err.decode()[-800:]}"]
    return [f"seed {seed}: {words}" for words in judged(json.loads(out), guests)]


def judged(told: dict[str, Any], guests: list[dict[str, Any]]) -> list[str]:
    """What both sides wrote down, held against each other."""
    wrong = [*told["wrong"], *(said["wrong"] for said in guests if "wrong" in said)]
    resolved: dict[str, list[dict[str, Any]]] = {}
    for item in told["resolved"]:
        resolved.setdefault(item["request"], []).append(item)
    for request, agent in told["asked"].items():
        answers = resolved.get(request, [])
        if len(answers) != 1:
            wrong.append(f"{request} of {agent} was answered {len(answers)} times")
        elif answers[0]["agent"] != agent:
            wrong.append(f"{request} of {agent} was answered for {answers[0]['agent']}")
    accepted = {said["accepted"]: said for said in guests if "accepted" in said}
    for request, said in accepted.items():
        answers = resolved.get(request, [])
        if not answers or (answers[0]["decision"], str(said["pid"]) in answers[0]["via"]) != (said["decision"], True):
            wrong.append(f"{request}: accepted from process {said['pid']}, but the log says {answers}")
    for item in told["resolved"]:
        if item["via"] and item["request"] not in accepted and not any("killed" in said for said in guests):
            wrong.append(f"{item['request']}: the log names {item['via']}, who was never told yes")
    ops = sum(said.get("ops", 0) for said in guests)
    refused = sum(said.get("refused", 0) for said in guests)
    if any(said.get("taken_without_right") for said in guests):
        wrong.append("something was taken from a connection without the right to it")
    if ops >= 12 and refused * 3 < ops:
        wrong.append(f"only {refused} of {ops} ops were refused by rights")
    return wrong


def _start(role: str, seed: int, folder: Path) -> "subprocess.Popen[bytes]":
    tests = Path(__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, "-m", "e2e.two_front_ends", role, str(seed), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tests,
        env={**os.environ, "PYTHONPATH": f"{tests}{os.pathsep}{tests.parent}"},
    )


async def host(seed: int, folder: Path) -> None:
    """The session's own process: it prints what was asked, and how each was answered."""
    fate = random.Random(seed)
    path = folder / f"{SESSION}.jsonl"
    turn = [reply for n in range(CALLS) for reply in (ReplyOf([Call("Shell", {"name": "x"}, id=f"call_{n}")]),)]
    script = [*turn, Say("done")] * TURNS
    door = furnished(ScriptedModel(script), path=path, host=TestHost(verdict=asks("ShellAccess")))
    front = Front(door)
    add_child(front, ScriptedModel(list(script)), path, host=TestHost(verdict=asks("ShellAccess")))
    server = SocketServer(door, folder / "door.sock")
    await server.start()
    (folder / "owner.json").write_bytes(_owner(folder))
    print("listening", flush=True)
    for turn_number in range(1, TURNS + 1):
        for agent in (MAIN_AGENT, CHILD):
            await front.submit(SubmitPrompt(content=f"go {turn_number}", agent=agent))
        await _both_end(front, turn_number, fate)
    session = door.session
    live = {agent: session.runners[agent].agent.conversation.messages() for agent in (MAIN_AGENT, CHILD)}
    await front.submit(Close())
    await front.task
    await server.close()
    wrong = []
    if load(path).messages != live[MAIN_AGENT]:
        wrong.append("the main agent's log is not what it saw")
    if load(subagent_path(path, CHILD), sidechain=True).messages != live[CHILD]:
        wrong.append("the child's log is not what it saw")
    pairs = [(item.agent, item.event) for item in front.seen]
    asked = {event.request_id: agent for agent, event in pairs if isinstance(event, ApprovalRequested)}
    resolved = [
        {"request": event.request_id, "agent": agent, "decision": event.decision, "via": event.via}
        for agent, event in pairs
        if isinstance(event, ApprovalResolved)
    ]
    print(json.dumps({"asked": asked, "resolved": resolved, "wrong": wrong}))


def _owner(folder: Path) -> bytes:
    owner = this_process()
    words = {"pid": owner.pid, "started": owner.started, "token": owner.token, "socket": str(folder / "door.sock")}
    return json.dumps(words).encode()


async def _both_end(front: Front, number: int, fate: random.Random) -> None:
    """Until both agents ended this turn; what the other front end leaves open is answered here, sooner or later."""
    done = {agent: asyncio.ensure_future(front.until(TurnEnded, number, agent=agent)) for agent in (MAIN_AGENT, CHILD)}
    while not all(task.done() for task in done.values()):
        await asyncio.wait(done.values(), timeout=fate.choice((0.02, 0.05, 0.2)))
        for item in front.door.session.journal.state.asks:
            if fate.random() < 0.1:
                decision = fate.choice(("allow", "deny"))
                await front.submit(AnswerApproval(agent=item.agent, request_id=item.ask.request_id, decision=decision))
    await asyncio.gather(*done.values())


async def guest(seed: int, folder: Path) -> None:
    """The other process: it prints what it was told yes and no to."""
    fate = random.Random(seed)
    place = folder / "owner.json"
    with contextlib.suppress(NotReached, OSError):
        owner = Owner(**{"host": os.uname().nodename, **json.loads(place.read_text())})
        if fate.random() < 0.2:
            await _nonsense(owner, fate)
        rights = Rights.WATCH if seed % 2 else fate.choice((Rights.ANSWER, Rights.ANSWER, Rights.DRIVE))
        await _at_work(await reach(owner, rights, "fuzz"), rights, fate)


async def _nonsense(owner: Owner, fate: random.Random) -> None:
    _, writer = await asyncio.open_unix_connection(owner.socket)
    writer.write(bytes(fate.randrange(256) for _ in range(fate.randrange(1, 400))) + b"\n")
    writer.close()


async def _at_work(client: RemoteClient, rights: Rights, fate: random.Random) -> None:
    """A short visit: some ops, each awaited, then it leaves, or dies."""
    ops = refused = number = 0
    wanted = {Rights.WATCH: fate.randrange(6, 10), Rights.ANSWER: fate.randrange(1, 8), Rights.DRIVE: 2}[rights]
    async for envelope in client.events():
        event = envelope.event
        if isinstance(event, SessionEnded) or ops >= wanted:
            break
        if not isinstance(event, ApprovalRequested):
            continue
        for op in _ops(event, envelope.agent, rights, fate):
            number += 1
            ops += 1
            took, reason = await _submitted(client, op, number)
            refused += FORBIDDEN in reason
            if took and op.needs > rights:
                print(json.dumps({"taken_without_right": True}), flush=True)
            if took and isinstance(op, AnswerApproval):
                said = {"accepted": op.request_id, "decision": op.decision, "pid": os.getpid()}
                print(json.dumps(said), flush=True)
        if fate.random() < KILLED_AT:
            print(json.dumps({"ops": ops, "refused": refused, "killed": True}), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"ops": ops, "refused": refused}), flush=True)
    await client.leave()


def _ops(event: ApprovalRequested, agent: AgentId, rights: Rights, fate: random.Random) -> list[Op]:
    right = AnswerApproval(agent=agent, request_id=event.request_id, decision=fate.choice(("allow", "deny")))
    if rights is Rights.WATCH:
        return [right, SetTitle(title="mine"), Interrupt(agent=agent)]
    other = MAIN_AGENT if agent == CHILD else CHILD
    astray = AnswerApproval(agent=other, request_id=event.request_id, decision="allow")
    gone = AnswerApproval(agent=agent, request_id=RequestId("gone"), decision="allow")
    forbidden: list[Op] = [SetTitle(title="mine"), SubmitPrompt(content="mine")] if rights is Rights.ANSWER else []
    return fate.sample([right, astray, gone], k=fate.randrange(1, 4)) + forbidden


async def _submitted(client: RemoteClient, op: Op, number: int) -> tuple[bool, str]:
    """Whether it was taken; if not, why."""
    await client.submit(replace(op, op_id=OpId(f"o{number}")))
    async for envelope in client.events():
        event = envelope.event
        if isinstance(event, OpAccepted) and event.op_id == f"o{number}":
            return True, ""
        if isinstance(event, OpRejected) and event.op_id == f"o{number}":
            return False, event.reason
    return False, "the session ended"


if __name__ == "__main__":
    asyncio.run({"host": host, "guest": guest}[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3])))
