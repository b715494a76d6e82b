"""One question, from first line to result."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from clew.sdk.options import Options
from clew.sdk.session import Prompt, Session
from clew.streaming.shapes.stream import StreamLine


async def query(prompt: Prompt, options: Options | None = None) -> AsyncGenerator[StreamLine]:
    """The lines of one turn in a session of its own; the result is the last. Who stops reading early stops the turn."""
    async with Session(options) as session:
        await session.send(prompt)
        async with aclosing(session.receive()) as lines:
            async for line in lines:
                yield line
