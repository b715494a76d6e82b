"""A process for end-to-end tests: the plain front end on this process's own terminal, with a scripted Client.

`python -m unit.plain.child SCENARIO OPS_FILE`; every op is appended to the file as one line of JSON.
GUARD_S is the quiet time before an approval takes keys, for tests that type in it.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from clew.plain.options import PlainOptions
from clew.plain.run import run_plain
from clew.protocol.display import FileBlock, TerminalBlock
from clew.protocol.events import TextDelta, ToolStarted, TurnStarted
from clew.protocol.ids import MessageId
from clew.protocol.ops import AnswerApproval, Interrupt, Op, SubmitPrompt
from fakes.effort import HANG_S
from unit.plain.play import ScriptedClient, asks, call, ended, says, turn


def talk(client: ScriptedClient, op: Op) -> None:
    """Answers every prompt with its own words."""
    if isinstance(op, SubmitPrompt):
        client.push(*turn(1, *says("You said: ", str(op.content))))


def approve(client: ScriptedClient, op: Op) -> None:
    """Every prompt asks for an approval; the answer is told."""
    if isinstance(op, SubmitPrompt):
        number = len(client.ops)
        client.push(TurnStarted(turn=1), call(number, command="git push"), asks(number))
    elif isinstance(op, AnswerApproval):
        client.push(*turn(1, *says(f"decision: {op.decision} {op.reason}"))[1:])


def endless(client: ScriptedClient, op: Op) -> None:
    """Works until it is interrupted."""
    if isinstance(op, SubmitPrompt) and len(client.ops) == 1:
        announced = call(1, command="sleep 1000")
        part: Any = announced.part
        words = TextDelta(reply_id=MessageId("m1"), part=0, text="Working on it")
        client.push(TurnStarted(turn=1), words, announced, ToolStarted(call=part))
    elif isinstance(op, Interrupt):
        client.push(*turn(1, reason="interrupted")[1:])


def wide(client: ScriptedClient, op: Op) -> None:
    """Chinese, emoji and long lines."""
    if isinstance(op, SubmitPrompt):
        path = "源代码/" * 20 + "校验.py"
        client.push(
            *turn(
                1,
                *says("你好，世界 🎉 ", "这是一个很长的句子。" * 8),
                ended(1, "Read", FileBlock(path=path, first_line=1, lines=40, total_lines=90)),
                ended(2, "Bash", TerminalBlock(command="echo " + "字" * 80, output="", exit_code=3)),
            )
        )


def hostile(client: ScriptedClient, op: Op) -> None:
    """Every prompt is a JSON list of texts, which come back through an answer and a label."""
    if isinstance(op, SubmitPrompt):
        texts: list[str] = msgspec.json.decode(str(op.content), type=list[str])
        labels = [ended(1, "Bash", TerminalBlock(command=text, output="", exit_code=1)) for text in texts]
        client.push(*turn(1, *(event for text in texts for event in says(text)), *labels))


SCENARIOS = {"talk": talk, "approve": approve, "endless": endless, "wide": wide, "hostile": hostile}


async def main(scenario: str, ops_file: str) -> int:
    react = SCENARIOS[scenario]

    def record(client: ScriptedClient, op: Op) -> None:
        with open(ops_file, "ab") as file:
            file.write(msgspec.json.encode(op) + b"\n")
        react(client, op)

    guard_s = float(os.environ.get("GUARD_S", "0.3"))
    home = Path(os.environ["CLEW_HOME"])
    options = PlainOptions(home=home, env=os.environ, guard_s=guard_s, quit_window_s=HANG_S)
    return await run_plain(ScriptedClient(record), options=options)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2])))
