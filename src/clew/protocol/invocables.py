"""Slash names that users bring: custom commands, skills, prompts of servers. Who has them, and how one is used."""

from typing import Literal

from msgspec import Struct

from clew.protocol.event_base import LiveEvent
from clew.protocol.ids import OpId, PromptId
from clew.protocol.op_base import OpBase

InvocableKind = Literal["command", "skill", "prompt"]
"""`prompt`: one that an MCP server offers."""

InvocableLevel = Literal["project", "user", "plugin", "server", "bundled"]
"""Whose it is. Of two with one name the earlier level counts."""


class InvocableRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One name, as people see it."""

    name: str
    """Without its slash."""
    kind: InvocableKind
    level: InvocableLevel
    description: str = ""
    argument_hint: str = ""
    source: str = ""
    """Where it comes from, in a few words: `project`, `user`, `plugin NAME`, `server NAME`, `clew`."""
    path: str = ""
    """The file, where there is one."""
    hidden: str = ""
    """Why the name does not mean this one; empty: it does."""
    notes: tuple[str, ...] = ()
    """What else should be known of it, a line each."""
    for_model: bool = False
    """The model may use it by itself."""
    for_user: bool = True
    """A person may type it."""

    @property
    def usable(self) -> bool:
        """Typing its name uses it."""
        return self.for_user and not self.hidden


class InvocablesChanged(LiveEvent, frozen=True, kw_only=True, tag="invocables.changed"):
    """These names can be typed from now on, in place of those that SessionStarted or an earlier one told."""

    invocables: tuple[InvocableRow, ...]


class InvocablesListed(LiveEvent, frozen=True, kw_only=True, tag="invocables.listed"):
    """All of one kind, hidden ones too, in answer to `ListInvocables`."""

    op_id: OpId
    kinds: tuple[InvocableKind, ...]
    invocables: tuple[InvocableRow, ...]
    problems: tuple[str, ...] = ()
    """Files that could not be understood, a line each."""


class UseInvocable(OpBase, frozen=True, kw_only=True, tag="invocable.use"):
    """Say what this name stands for. What was typed joins as the prompt, what it stands for joins hidden behind it.
    Rejected when there is no such name; otherwise the same events follow as for `SubmitPrompt`."""

    name: str
    arguments: str = ""
    prompt_id: PromptId = PromptId("")


class ListInvocables(OpBase, frozen=True, kw_only=True, tag="invocables.list"):
    """Ask what there is; answered by InvocablesListed."""

    kinds: tuple[InvocableKind, ...] = ("command", "skill", "prompt")


InvocableEvent = InvocablesChanged | InvocablesListed
InvocableOp = UseInvocable | ListInvocables


def typed_words(name: str, arguments: str) -> str:
    """What a person typed to use it."""
    return f"/{name} {arguments}".rstrip() if arguments.strip() else f"/{name}"


def meant(name: str, rows: tuple[InvocableRow, ...]) -> InvocableRow | None:
    """The row that a typed name means: by its whole name; with `project:` or `user:` before it, as some are used to,
    that one even where another hides it; by the last part of a nested name where only one has it. Case is ignored."""
    wanted = name.casefold()
    level, _, rest = wanted.partition(":")
    if level in ("project", "user") and rest:
        named = [row for row in rows if row.level == level and row.for_user]
        return next((row for row in named if row.name.casefold() == rest), None) or _alone(rest, named)
    usable = [row for row in rows if row.usable]
    return next((row for row in usable if row.name.casefold() == wanted), None) or _alone(wanted, usable)


def _alone(wanted: str, rows: list[InvocableRow]) -> InvocableRow | None:
    found = [row for row in rows if row.name.casefold().rpartition(":")[2] == wanted]
    return found[0] if len(found) == 1 else None


def use_of(text: str, rows: tuple[InvocableRow, ...]) -> UseInvocable | None:
    """The op for a text that begins with a slash and one of these names; None for every other text."""
    if not rows or not text.startswith("/") or text.startswith("//"):
        return None
    name = text[1:].split(maxsplit=1)[0] if text[1:2].strip() else ""
    if not name or (meant(name, rows) is None and not _by_level(name)):
        return None
    return UseInvocable(name=name, arguments=text[1 + len(name) :].strip())


def _by_level(name: str) -> bool:
    """One that another hides can still be meant by its level; the host knows those."""
    level, colon, rest = name.casefold().partition(":")
    return level in ("project", "user") and bool(colon) and bool(rest)
