"""The slash names that users bring, of all parts together: which one a name means, and what using it does."""

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from clew.engine.turn import Prompt
from clew.host.part import Effect, OpRefused, Part
from clew.host.session import Session
from clew.protocol.events import PromptOrigin
from clew.protocol.ids import PromptId, new_uuid
from clew.protocol.invocables import (
    RESERVED_NAMES,
    InvocableLevel,
    InvocableRow,
    InvocablesChanged,
    meant,
    typed_words,
)
from clew.protocol.lookups.session import InvocablesListed, ListInvocables
from clew.protocol.messages import Part as MessagePart
from clew.protocol.op_kinds.slash_names import ChooseSkills, InvocableOp, UseInvocable

LEVELS: tuple[InvocableLevel, ...] = ("user", "project", "plugin", "server", "bundled")
"""Whose name counts where several have it: nothing that a project brings takes a name of the user's."""
MAX_ARGUMENT_CHARS = 200_000


class SlashNames:
    """One for each session."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._first = parts
        self._session: Session | None = None
        self._told: tuple[InvocableRow, ...] = ()

    @property
    def _parts(self) -> Sequence[Part]:
        return self._session.parts if self._session is not None else self._first

    def start(self, session: Session) -> None:
        """From now on changes are told."""
        self._session = session
        self._told = self.usable()

    def rows(self) -> tuple[InvocableRow, ...]:
        """All of them, best level first; what another one hides says so."""
        found = sorted((row for part in self._parts for row in part.invocables()), key=_rank)
        told: list[InvocableRow] = []
        taken: dict[str, InvocableRow] = {}
        for row in found:
            name = row.name.casefold()
            if row.hidden or not row.for_user:
                told.append(row)
            elif name in RESERVED_NAMES:
                told.append(replace(row, hidden=f"/{row.name} is a command of clew's own"))
            elif (other := taken.get(name)) is not None:
                told.append(replace(row, hidden=f"the {other.kind} of {_whose(other)} has the same name"))
            else:
                taken[name] = row
                told.append(row)
        return tuple(told)

    def _looked(self) -> tuple[InvocableRow, ...]:
        """What there is now; what changed is told."""
        for part in self._parts:
            part.refresh()
        self.changed()
        return self.rows()

    def usable(self) -> tuple[InvocableRow, ...]:
        """Those that can be typed."""
        return tuple(row for row in self.rows() if row.usable)

    def changed(self) -> None:
        """A part brings other names than before."""
        usable = self.usable()
        if self._session is not None and not self._session.closed and usable != self._told:
            self._told = usable
            self._session.publish(InvocablesChanged(invocables=usable))

    def must_wait(self, op: InvocableOp | ListInvocables) -> bool:
        """Whether the name that somebody asks for is not there and may still come."""
        name = "" if isinstance(op, ChooseSkills) else op.name
        return bool(name) and meant(name, self.rows()) is None and any(part.may_bring(name) for part in self._parts)

    async def settle(self, op: InvocableOp | ListInvocables) -> None:
        """Wait for whoever may still bring the name that is asked for."""
        if self.must_wait(op):
            for part in self._parts:
                await part.names_settled()

    def understood(self, op: InvocableOp) -> Effect:
        """What an op means. Raises OpRefused."""
        assert self._session is not None
        session = self._session
        match op:
            case ChooseSkills():
                return partial(self._choose, op.names)
            case UseInvocable():
                if session.lost:
                    raise OpRefused(f"nothing was sent: {session.lost}")
                return partial(session.main.submit, self._prompt(op))

    def _choose(self, names: tuple[str, ...]) -> None:
        for part in self._parts:
            part.choose_skills(names)

    async def listed(self, op: ListInvocables) -> InvocablesListed:
        """All of some kinds, once whoever may still bring the name that is looked for was waited for."""
        await self.settle(op)
        rows = self._looked()
        problems = [line for part in self._parts for line in part.name_problems]
        if op.name:
            problems = list(self._unread)
        return InvocablesListed(
            kinds=op.kinds,
            invocables=tuple(row for row in rows if row.kind in op.kinds),
            problems=tuple(problems),
        )

    @property
    def _unread(self) -> tuple[str, ...]:
        return tuple(part.unread for part in self._parts if part.unread)

    def _prompt(self, op: UseInvocable) -> Prompt:
        """What the name stands for. Raises OpRefused."""
        row = meant(op.name, self._looked())
        if row is None:
            why = "; ".join((f"there is no command or skill /{op.name} here, so nothing was sent", *self._unread))
            raise OpRefused(f"{why}. For words that start with a slash, begin with two: //{op.name}")
        if len(op.arguments) > MAX_ARGUMENT_CHARS:
            raise OpRefused(f"more than {MAX_ARGUMENT_CHARS:,} characters are no arguments; put them into a file")
        part = next(part for part in self._parts if any(_same(row, other) for other in part.invocables()))
        return Prompt(
            content=typed_words(op.name, op.arguments),
            prompt_id=op.prompt_id or PromptId(new_uuid()),
            expand=part.expansion(row, op.arguments),
        )


def as_said(
    content: str | tuple[MessagePart, ...], parts: Sequence[Part], *, prompt_id: PromptId, origin: PromptOrigin = "user"
) -> Prompt:
    """A prompt of words, with what it names of the things that parts offer for an @."""
    named = (part.mentioned(content) for part in parts)
    return Prompt(
        content=content,
        origin=origin,
        prompt_id=prompt_id or PromptId(new_uuid()),
        expand=next((expand for expand in named if expand is not None), None),
    )


def _rank(row: InvocableRow) -> tuple[int, int]:
    """Of one level, commands come before skills and those before prompts of servers; then as they were found."""
    return LEVELS.index(row.level), ("command", "skill", "prompt").index(row.kind)


def _same(row: InvocableRow, other: InvocableRow) -> bool:
    return (row.name, row.kind, row.level, row.path) == (other.name, other.kind, other.level, other.path)


def _whose(row: InvocableRow) -> str:
    return {"project": "the project", "user": "the user", "bundled": "clew"}.get(row.level, f"the {row.source}")
