"""Words that are offered stand in the line, to be sent as they are or not at all."""

from clew.protocol.events import Notice, PromptOffered
from clew.protocol.ops import SubmitPrompt
from unit.plain.play import PlayedTerminal, Stage

SEEN = Notice(level="info", text="after it", code="x")


async def test_enter_sends_what_is_offered() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(PromptOffered(text="why does it fail?"), SEEN)
        await stage.until(lambda: "why does it fail?" in stage.output)
        stage.terminal.type("\r")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="why does it fail?")])


async def test_what_is_typed_is_never_replaced() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.terminal.type("mine")
        await stage.until(lambda: "mine" in stage.output)
        stage.client.push(PromptOffered(text="why does it fail?"), SEEN)
        await stage.until(lambda: "after it" in stage.output)
        stage.terminal.type("\r")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="mine")])
