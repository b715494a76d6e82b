"""The tour without a terminal: a scripted person walks it, and what really happened is printed line by line."""

import asyncio
from collections.abc import Callable

from clew.assembly.opening import open_session
from clew.cli.tour.guide import PARTS, Guide
from clew.cli.tour.place import TourPlace
from clew.cli.tour.script import TourScript
from clew.commands.base import CommandContext, SessionFacts
from clew.commands.facts import facts_after
from clew.commands.registry import is_command, run_command
from clew.protocol.client import Client
from clew.protocol.events import ApprovalRequested, Event, PromptOffered
from clew.protocol.ops import AnswerApproval, Close, Op, SubmitPrompt

LIMIT_S = 120.0
"""Ends a tour that hangs; nothing depends on how long one takes."""
WIDEST = max(map(len, PARTS))


async def walk_alone(place: TourPlace, script: TourScript, tell: Callable[[str], None]) -> int:
    """Both halves of it. 0: every part happened; 1: what did not is named."""
    guide = Guide(script, full_screen=False, on_seen=lambda part, detail: tell(f"ok       {part:<{WIDEST}}  {detail}"))
    try:
        async with asyncio.timeout(LIMIT_S):
            await Walker(guide.around(open_session(place.request()))).walk()
            if "leaving" in guide.seen:
                await Walker(guide.around(open_session(place.request(resume=guide.session_id)))).walk()
    except TimeoutError:
        tell(f"the tour did not end within {LIMIT_S:.0f} s")
    for part in guide.missing:
        tell(f"MISSING  {part}")
    return 1 if guide.missing else 0


class Walker:
    """Sends what is offered and says yes when asked. Who is offered the same twice sees that it goes nowhere, and
    leaves."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._facts = SessionFacts()
        self._sent: set[str] = set()

    async def walk(self) -> None:
        """Until the session ends."""
        async for envelope in self._client.events():
            self._facts = facts_after(envelope, self._facts)
            for op in self._answer(envelope.event):
                await self._client.submit(op)

    def _answer(self, event: Event) -> tuple[Op, ...]:
        match event:
            case ApprovalRequested():
                return (AnswerApproval(request_id=event.request_id, decision="allow"),)
            case PromptOffered() if event.text in self._sent:
                return (Close(),)
            case PromptOffered():
                self._sent.add(event.text)
                return self._typed(event.text)
            case _:
                return ()

    def _typed(self, text: str) -> tuple[Op, ...]:
        if not is_command(text):
            return (SubmitPrompt(content=text),)
        result = run_command(text, CommandContext(facts=self._facts))
        return (*result.ops, *((Close(),) if result.leave else ()))
