"""`clew answer`: what a live session waits for, and a person's answer to it, from another terminal."""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from clew.cli.sub.answer_words import ask_line, op_for
from clew.cli.sub.live_session import NotReached, live_session, reach_session, refused_here
from clew.host.remote_client import RemoteClient
from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.agent_path import path_words
from clew.protocol.base import Rights
from clew.protocol.events import Envelope, OpAccepted, OpRejected, SnapshotTaken
from clew.protocol.ids import OpId, RequestId
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.protocol.lookups.catalog import NamedSession
from clew.protocol.ops import AnswerApproval, Op, Sync, to_agent
from clew.protocol.state import OpenAsk
from clew.text.terminal_text import sanitize

HELP = "what a session waits for, and your answer to it"
OP_ID = OpId("answer")
KNOWN = OpId("known")
MIN_PREFIX = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew answer SESSION [REQUEST] [allow|deny|TEXT ...]`."""
    parser.add_argument("session", metavar="SESSION", help="an id, the start of one, a title, or words that were said")
    parser.add_argument(
        "words",
        metavar="[REQUEST] allow|deny|TEXT",
        nargs="*",
        help="nothing: list what waits; REQUEST may be left out where one thing waits; "
        "TEXT answers a question (one for each), a form (JSON) or sends a plan back",
    )
    parser.add_argument("--why", default="", metavar="TEXT", help="with deny: what the model is told")


def run(args: argparse.Namespace) -> int:
    """List, or answer once."""
    if refused := refused_here():
        return _failed(refused, 1)
    try:
        return asyncio.run(_run(live_session(args.session), args.words, args.why))
    except (ValueError, LookupMisused) as error:
        return _failed(str(error), 2)
    except (NotReached, LookupRefused, OSError) as error:
        return _failed(str(error), 1)


async def _run(found: NamedSession, words: Sequence[str], why: str) -> int:
    client = await reach_session(found, Rights.ANSWER if words else Rights.WATCH, "clew answer")
    try:
        asking = PendingAsks(client)
        await asking.begin()
        if not words:
            for asked in asking.open:
                sys.stdout.write(f"{asking.line(asked)}\n")
            if not asking.open:
                sys.stderr.write("Nothing waits for you.\n")
            return 0
        return await asking.answer(words, why)
    finally:
        await client.leave()


class PendingAsks:
    """What waits in the session, and the answering of one of it."""

    def __init__(self, client: RemoteClient) -> None:
        self._client = client
        self._events = client.events()
        self._story = Story()

    async def begin(self) -> None:
        """Follow until all that waits now is known."""
        async for envelope in self._events:
            self._take(envelope)
            if isinstance(envelope.event, SnapshotTaken):
                await self._client.submit(Sync(op_id=KNOWN))
            if isinstance(envelope.event, OpAccepted) and envelope.event.op_id == KNOWN:
                return

    def _take(self, envelope: Envelope) -> None:
        self._story = told(envelope, self._story)

    @property
    def open(self) -> tuple[OpenAsk, ...]:
        """What waits."""
        return self._story.facts.state.asks

    def line(self, asked: OpenAsk) -> str:
        """One of them for a person: its id and the exact call."""
        path = path_words(self._story.facts.state, asked.agent)
        return ask_line(asked, self._story.asked_call(asked), path)

    async def answer(self, words: Sequence[str], why: str) -> int:
        """Send one answer; the exit code says whether it was taken. Raises ValueError for words that answer nothing."""
        op = self._op(words, why)
        await self._client.submit(op)
        async for envelope in self._events:
            event = envelope.event
            if isinstance(event, OpAccepted) and event.op_id == OP_ID:
                return 0
            if isinstance(event, OpRejected) and event.op_id == OP_ID:
                return _failed(f"not taken: {event.reason}", 1)
            self._take(envelope)
        return _failed(self._client.lost or "the session ended before it was answered", 1)

    def _op(self, words: Sequence[str], why: str) -> Op:
        named = [item for item in self.open if _names(words[0], item)]
        if len(named) == 1:
            return self._answering(named[0], words[1:], why)
        if len(named) > 1:
            raise ValueError(f"several requests begin with {words[0]!r}")
        if len(words) > 1 and _is_id(words[0]):  # gone: the session says who answered
            return AnswerApproval(op_id=OP_ID, request_id=RequestId(words[0]), decision="deny", reason=why)
        waiting = list(self.open)
        if not waiting:
            raise NotReached("nothing waits for an answer")
        if len(waiting) > 1:
            lines = "; ".join(self.line(item) for item in waiting)
            raise ValueError(f"{len(waiting)} things wait: name one by the start of its id: {lines}")
        return self._answering(waiting[0], words, why)

    def _answering(self, item: OpenAsk, words: Sequence[str], why: str) -> Op:
        op = op_for(item.ask, words, why)
        return to_agent(op, item.agent)


def _names(word: str, item: OpenAsk) -> bool:
    return len(word) >= MIN_PREFIX and item.ask.request_id.startswith(word)


def _is_id(word: str) -> bool:
    return len(word) >= 8 and all(letter in "0123456789abcdef-" for letter in word)


def _failed(words: str, code: int) -> int:
    sys.stderr.write(f"clew answer: {sanitize(words, one_line=True)}\n")
    return code
