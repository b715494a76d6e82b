"""A command or skill made into a prompt: files read and commands run like calls of the model, or nothing is sent."""

import os
from contextlib import AsyncExitStack

from msgspec import Struct

from clew.engine.abort import Abort
from clew.engine.lone_call import LoneCall, LoneCalls, LoneResult
from clew.engine.turn import Expansion, Turn
from clew.skills.definitions import Definition, read_body
from clew.skills.shell_words import with_shell_words
from clew.skills.templates import (
    MAX_COMMAND_CHARS,
    Piece,
    TemplateError,
    file_at,
    joined,
    pieces_of,
    takes_arguments,
    with_arguments,
)
from clew.tools.session import ToolSession

MAX_EXPANSION_CHARS = 400_000


class Refused(Exception):
    """Something it needs was not allowed, so none of it is sent."""


class Expander:
    """For one session."""

    def __init__(self, calls: LoneCalls, session: ToolSession, *, home: str) -> None:
        self._calls = calls
        self._session = session
        self._home = home

    async def expanded(self, definition: Definition, arguments: str, turn: Turn, *, typed: str) -> Expansion:
        """What it stands for. Raises Problem for a file that cannot be used."""
        body = read_body(definition)
        try:
            pieces = pieces_of(body)
            self._check_itself(pieces, definition, arguments)
            parts = await self._parts(pieces, arguments, turn.abort)
            text = joined(parts, arguments, placed=takes_arguments(pieces))
            if len(text) > MAX_EXPANSION_CHARS:
                raise TemplateError(f"it becomes longer than {MAX_EXPANSION_CHARS:,} characters")
        except (TemplateError, Refused) as error:
            return Expansion(refused=str(error))
        return Expansion(content=f"{self._heading(definition, typed)}\n\n{text}")

    def _heading(self, definition: Definition, typed: str) -> str:
        name = typed.split(maxsplit=1)[0]
        if definition.kind == "command":
            return f"[{name} stands for what follows, from {definition.path}.]"
        where = f"Its folder is {definition.home}: relative paths in it count from there."
        return f"[{name} is the skill {definition.name}, which the user wants you to follow. {where}]"

    def _check_itself(self, pieces: list[Piece], definition: Definition, arguments: str) -> None:
        for piece in pieces:
            if piece.kind == "file" and os.path.realpath(self._file(piece, arguments) or "/") == definition.real:
                raise TemplateError(f"it includes itself ({piece.written} in {definition.path})")

    def _file(self, piece: Piece, arguments: str) -> str:
        written = with_arguments(piece.text, arguments)
        return file_at(written, cwd=self._session.cwd, roots=self._session.roots, home=self._home)

    async def _parts(self, pieces: list[Piece], arguments: str, abort: Abort) -> list[str]:
        """What each piece becomes. Nothing runs before everything is allowed, and files are read before commands run:
        what cannot be sent as a whole has done nothing."""
        parts = [with_arguments(piece.text, arguments) for piece in pieces]
        asked: dict[int, _Asked] = {}
        for at, piece in enumerate(pieces):
            path = self._file(piece, arguments) if piece.kind == "file" else ""
            if piece.kind == "file" and not path:
                parts[at] = with_arguments(piece.written, arguments)
            elif piece.kind == "file":
                asked[at] = _Asked(tool="Read", arguments={"file_path": path}, what=path)
            elif piece.kind == "shell":
                command = with_shell_words(piece.text, arguments)
                if len(command) > MAX_COMMAND_CHARS:
                    raise TemplateError(f"a command in it is longer than {MAX_COMMAND_CHARS:,} characters")
                asked[at] = _Asked(tool="Bash", arguments={"command": command}, what=f"!`{command}`")
        async with AsyncExitStack() as open_calls:
            calls: dict[int, LoneCall] = {}
            for at, one in asked.items():
                calls[at] = await open_calls.enter_async_context(self._calls.opened(one.tool, one.arguments, abort))
                if (refused := await calls[at].consider()) is not None:
                    raise Refused(f"{one.what} was not {'allowed' if refused.refused else 'run'}. {refused.text}")
            for at in sorted(calls, key=lambda at: asked[at].tool != "Read"):
                parts[at] = self._put_in(pieces[at], asked[at], arguments, _text(asked[at], await calls[at].run()))
        return parts

    def _put_in(self, piece: Piece, one: "_Asked", arguments: str, text: str) -> str:
        if one.tool != "Read":
            return text
        return f"{with_arguments(piece.written, arguments)}\n<file path={one.what!r}>\n{text}\n</file>\n"


class _Asked(Struct, frozen=True, kw_only=True):
    tool: str
    arguments: dict[str, str]
    what: str
    """In words for a person."""


def _text(one: _Asked, result: LoneResult) -> str:
    """What came of it. Raises Refused where the whole cannot be sent."""
    if result.refused:  # by what another of them has changed
        raise Refused(f"{one.what} was not allowed. {result.text}")
    if one.tool == "Read" and result.is_error:
        raise Refused(f"{one.what} could not be read. {result.text}")
    return result.text
