"""Skills and commands at work: what was found, what the model is told of it, and what using one does.

A command or skill made into a prompt: files read and commands run like calls of the model, or nothing is sent.
"""

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct

from clew.config.skill_places import Around, folders
from clew.engine.abort import Abort
from clew.engine.lone_call import LoneCall, LoneCalls, LoneResult
from clew.engine.turn import Expand, Expansion, Turn
from clew.host.part import OpRefused, PartSession, PartSetup
from clew.parts.skills.turn_loan import TurnLoan
from clew.permissions.access import ToolAccess
from clew.protocol.events import CompactionEnded, Event
from clew.protocol.invocables import InvocableRow, typed_words
from clew.skills.definitions import SkillDefinition, SkillProblem, read_body
from clew.skills.finding import BUNDLED_FOLDER, Finder, FoundSkills
from clew.skills.shell_words import with_shell_words
from clew.skills.skill_tool import Skill
from clew.skills.skill_words import Announced, block, delta, names_in, usable
from clew.skills.templates import (
    MAX_COMMAND_CHARS,
    TemplateError,
    TemplatePiece,
    file_at,
    joined,
    pieces_of,
    takes_arguments,
    with_arguments,
    words_only,
)
from clew.skills.templates import joined as joined_words
from clew.tools.base import Tool
from clew.tools.session import ToolSession

MAX_EXPANSION_CHARS = 400_000


class ExpansionRefused(Exception):
    """Something it needs was not allowed, so none of it is sent."""


class Expander:
    """For one session."""

    def __init__(self, calls: LoneCalls, session: ToolSession, *, home: str) -> None:
        self._calls = calls
        self._session = session
        self._home = home

    async def expanded(self, definition: SkillDefinition, arguments: str, turn: Turn, *, typed: str) -> Expansion:
        """What it stands for. Raises Problem for a file that cannot be used."""
        body = read_body(definition)
        try:
            pieces = pieces_of(body)
            self._check_itself(pieces, definition, arguments)
            parts = await self._parts(pieces, arguments, turn.abort)
            text = joined(parts, arguments, placed=takes_arguments(pieces))
            if len(text) > MAX_EXPANSION_CHARS:
                raise TemplateError(f"it becomes longer than {MAX_EXPANSION_CHARS:,} characters")
        except (TemplateError, ExpansionRefused) as error:
            return Expansion(refused=str(error))
        return Expansion(content=f"{self._heading(definition, typed)}\n\n{text}")

    def _heading(self, definition: SkillDefinition, typed: str) -> str:
        name = typed.split(maxsplit=1)[0]
        if definition.kind == "command":
            return f"[{name} stands for what follows, from {definition.path}.]"
        where = f"Its folder is {definition.home}: relative paths in it count from there."
        return f"[{name} is the skill {definition.name}, which the user wants you to follow. {where}]"

    def _check_itself(self, pieces: list[TemplatePiece], definition: SkillDefinition, arguments: str) -> None:
        for piece in pieces:
            if piece.kind == "file" and os.path.realpath(self._file(piece, arguments) or "/") == definition.real:
                raise TemplateError(f"it includes itself ({piece.written} in {definition.path})")

    def _file(self, piece: TemplatePiece, arguments: str) -> str:
        written = with_arguments(piece.text, arguments)
        return file_at(written, cwd=self._session.cwd, roots=self._session.roots, home=self._home)

    async def _parts(self, pieces: list[TemplatePiece], arguments: str, abort: Abort) -> list[str]:
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
                    raise ExpansionRefused(
                        f"{one.what} was not {'allowed' if refused.refused else 'run'}. {refused.text}"
                    )
            for at in sorted(calls, key=lambda at: asked[at].tool != "Read"):
                parts[at] = self._put_in(pieces[at], asked[at], arguments, _text(asked[at], await calls[at].run()))
        return parts

    def _put_in(self, piece: TemplatePiece, one: "_Asked", arguments: str, text: str) -> str:
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
        raise ExpansionRefused(f"{one.what} was not allowed. {result.text}")
    if one.tool == "Read" and result.is_error:
        raise ExpansionRefused(f"{one.what} could not be read. {result.text}")
    return result.text


MAX_IN_USE = 3


class SessionSkills:
    """One for each session that has any."""

    def __init__(self, setup: PartSetup, around: Callable[[], Around]) -> None:
        self._setup = setup
        self._around = around
        self._finder = Finder()
        self._found = FoundSkills()
        self._bundled = FoundSkills()
        self._announced = Announced()
        self._known: set[str] = set()
        self._in_use: dict[str, SkillDefinition] = {}
        self._own: PartSession | None = None
        self._loan: TurnLoan | None = None
        self.tools: tuple[Tool[Any], ...] = ()
        self.words = ""
        self._chosen: frozenset[str] | None = None
        self._look()

    def begin(self, began: str) -> None:
        """Decide once what the model is told from the first request on. `began`: what it was told when a session that
        goes on now began; those bytes stay, and what changed since is told in its place."""
        skills = self._for_model()
        if not skills and not began:
            self._known = set()
            return
        self.tools = (Skill(self._usable_now, self._used_by_model, self._announced),)
        self.words = began or block(list(skills.values()))
        if began and not began.rstrip().endswith("with a search"):
            self._announced = Announced(names_in(began))
            self._known = set(names_in(began))
            self.tools = (Skill(self._usable_now, self._used_by_model, self._announced),)
        else:
            self._announced.add(skills.values())
            self._known = set(skills)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own
        self._loan = TurnLoan(own.session, own.agent, own.toolbox.permits, self._setup.connect)

    @property
    def problems(self) -> tuple[str, ...]:
        """Files that are not used, a line each."""
        return self._found.problems

    def rows(self) -> tuple[InvocableRow, ...]:
        """All that was found; what is bundled is named elsewhere."""
        return tuple(definition.row() for definition in self._found.definitions)

    def choose(self, names: tuple[str, ...]) -> None:
        """Only these are for the model. What it was not sent yet no longer tells of others."""
        self._chosen = frozenset(names)
        if self._own is None or not self.words or self._own.agent.conversation.messages():
            return  # what was sent stays: `news` tells what is gone
        chosen = list(self._for_model().values())
        words = block(chosen)
        self._own.session.use_prompt(tuple(words if one == self.words else one for one in self._own.agent.system))
        self.words, self._announced = words, Announced()
        self._announced.add(chosen)

    def _for_model(self) -> dict[str, SkillDefinition]:
        """What the model may use, by name."""
        found = usable(self._found.definitions)
        if self._chosen is None:
            return found
        return {name: one for name, one in found.items() if name in self._chosen}

    def refresh(self) -> None:
        """Look again."""
        before = self._found
        self._look()
        if self._found != before and self._own is not None:
            self._own.names_changed()

    def news(self) -> str:
        """What the model should know of skills that came or went since it was told."""
        by_tool = self._own is not None and self._own.toolbox.tools.is_told(Skill.name)
        skills = self._for_model() if by_tool else self._readable(self._for_model())
        added = [one for name, one in skills.items() if name not in self._known and name not in self._announced]
        gone = self._announced.gone(skills)
        self._known = set(skills)
        self._announced.add(added)
        return delta(added, gone, by_file=not by_tool)

    def _readable(self, skills: dict[str, SkillDefinition]) -> dict[str, SkillDefinition]:
        """Those that may be read without the tool, which came too late for this session's list: what a rule keeps the
        tool from is not told. A user's own files can be read without asking, as when one is used."""
        if self._own is None:
            return {}
        permits = self._own.toolbox.permits
        found: dict[str, SkillDefinition] = {}
        for name, one in skills.items():
            if permits.judge((ToolAccess(tool=Skill.name, read_only=True, subject=name),)).decision == "allow":
                found[name] = one
                if one.folder.level in ("user", "plugin") and name not in self._announced:
                    permits.remember((read_rule(one.home),), kept=False)
        return found

    def expansion(self, row: InvocableRow, arguments: str) -> Expand:
        """What a name stands for, made when it joins. Raises OpRefused for what is wrong now."""
        definition = self._of(row)
        try:
            read_body(definition)
        except SkillProblem as problem:
            raise OpRefused(str(problem)) from problem
        typed = typed_words(row.name, arguments)

        async def expand(turn: Turn) -> Expansion:
            self._use(definition)
            try:
                return await self._expander().expanded(definition, arguments, turn, typed=typed)
            except SkillProblem as problem:
                return Expansion(refused=str(problem))

        return expand

    def _of(self, row: InvocableRow) -> SkillDefinition:
        if row.level == "bundled":
            self._bundled = self._bundled if self._bundled.definitions else self._finder_of_bundled()
        here = self._bundled if row.level == "bundled" else self._found
        for definition in here.definitions:
            if definition.name == row.name and (row.level == "bundled" or definition.path == row.path):
                return definition
        raise OpRefused(f"/{row.name} is not there any more")

    def _finder_of_bundled(self) -> FoundSkills:
        return Finder().look((BUNDLED_FOLDER,))

    def _look(self) -> None:
        self._found = self._finder.look(tuple(folders(self._around())))

    def _usable_now(self) -> dict[str, SkillDefinition]:
        self.refresh()
        return self._for_model()

    def _used_by_model(self, definition: SkillDefinition, arguments: str) -> str:
        """A skill's words for the model that asked for it. Files and commands in it are the model's to look at."""
        body = read_body(definition)
        self._use(definition)
        pieces = words_only(body)
        text = with_arguments(body, arguments)
        return f"{heading(definition)}\n\n{joined_words([text], arguments, placed=takes_arguments(pieces))}"

    def _use(self, definition: SkillDefinition) -> None:
        self._in_use.pop(definition.name, None)
        self._in_use[definition.name] = definition
        if self._own is None or self._loan is None:
            return
        self._loan.lend(definition)
        if definition.kind == "skill" and definition.folder.level in ("user", "plugin"):
            self._own.toolbox.permits.remember((read_rule(definition.home),), kept=False)

    def _expander(self) -> Expander:
        assert self._own is not None
        toolbox, session = self._own.toolbox, self._own.session
        calls = LoneCalls(tools=toolbox.tools, host=toolbox.host, pending=session.pending, publish=session.publish)
        return Expander(calls, toolbox.session, home=self._setup.workspace.env.get("HOME", ""))

    def hear(self, event: Event) -> None:
        """The loan ends with its turn. What was read may have left the view with a compaction: the model is told where
        it is."""
        if self._loan is not None:
            self._loan.hear(event)
        if not isinstance(event, CompactionEnded) or self._own is None:
            return
        for definition in list(self._in_use.values())[-MAX_IN_USE:]:
            how = "the Skill tool" if self.tools and definition.for_model else definition.path
            self._own.reminders.add(
                f"[{definition.name} was in use before the summary; read it again with {how} if its words matter.]"
            )
        self._in_use.clear()
        if not self.tools:  # there is no other way to learn of them again
            self._known, self._announced = set(), Announced()


def heading(definition: SkillDefinition) -> str:
    """Which skill this is, and where its files are."""
    return f"[Skill {definition.name}. Its folder is {definition.home}: relative paths in it count from there.]"


def read_rule(folder: str) -> str:
    """The rule that lets files of a skill be read, whatever its folder is called."""
    literal = "".join(f"[{char}]" if char in "*?[" else char for char in folder)
    return f"Read({literal}/**)"
