"""Words that are offered stand in the prompt of the screen, to be sent as they are or not at all."""

import asyncio
from collections.abc import Sequence

from textual.pilot import Pilot

from clew.protocol.events import Notice, PromptOffered
from clew.protocol.ops import SubmitPrompt
from clew.tui.app import ClewApp
from clew.tui.options import ScreenOptions
from fakes.effort import HANG_S
from unit.plain.play import ScriptedClient

OFFERED = "why does it fail?"


async def settled(pilot: Pilot[int], client: ScriptedClient) -> None:
    """Until a mark that is sent behind all else was taken in."""
    app = pilot.app
    assert isinstance(app, ClewApp)
    mark = f"mark {len(app.conversation.story.passages)}"
    client.push(Notice(level="info", text=mark, code="x"))
    async with asyncio.timeout(HANG_S):
        while not any(getattr(passage, "text", "") == mark for passage in app.conversation.story.passages):
            await pilot.pause()


def prompts(ops: Sequence[object]) -> list[object]:
    return [op.content for op in ops if isinstance(op, SubmitPrompt)]


async def test_enter_sends_what_is_offered() -> None:
    client = ScriptedClient()
    app = ClewApp(client, ScreenOptions())
    async with app.run_test() as pilot:
        client.push(PromptOffered(text=OFFERED))
        await settled(pilot, client)
        assert app.prompt.text == OFFERED
        await pilot.press("enter")
        await settled(pilot, client)
        assert prompts(client.ops) == [OFFERED]


async def test_what_is_typed_is_never_replaced_and_a_command_opens_no_list() -> None:
    client = ScriptedClient()
    app = ClewApp(client, ScreenOptions())
    async with app.run_test() as pilot:
        await settled(pilot, client)
        await pilot.press(*"mine")
        client.push(PromptOffered(text=OFFERED))
        await settled(pilot, client)
        assert app.prompt.text == "mine"
        await pilot.press("enter")
        client.push(PromptOffered(text="/compact"))
        await settled(pilot, client)
        assert app.prompt.text == "/compact"
        assert not app.prompt.completing.is_open
        assert prompts(client.ops) == ["mine"]
