"""A command or skill made into a prompt: files read and commands run like calls of the model, or nothing is sent."""

import os

from clew.engine.abort import Abort
from clew.engine.lone_call import LoneCalls
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
            parts = [await self._part(piece, arguments, turn.abort) for piece in pieces]
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

    async def _part(self, piece: Piece, arguments: str, abort: Abort) -> str:
        match piece.kind:
            case "words":
                return with_arguments(piece.text, arguments)
            case "file":
                path = self._file(piece, arguments)
                if not path:
                    return with_arguments(piece.written, arguments)
                text = await self._result("Read", {"file_path": path}, path, abort)
                return f"{with_arguments(piece.written, arguments)}\n<file path={path!r}>\n{text}\n</file>\n"
            case "shell":
                command = with_shell_words(piece.text, arguments)
                if len(command) > MAX_COMMAND_CHARS:
                    raise TemplateError(f"a command in it is longer than {MAX_COMMAND_CHARS:,} characters")
                return await self._result("Bash", {"command": command}, f"!`{command}`", abort)

    async def _result(self, tool: str, arguments: dict[str, str], what: str, abort: Abort) -> str:
        result = await self._calls.call(tool, dict(arguments), abort)
        if result.refused:
            raise Refused(f"{what} was not allowed. {result.text}")
        if tool == "Read" and result.is_error:
            raise Refused(f"{what} could not be read. {result.text}")
        return result.text
