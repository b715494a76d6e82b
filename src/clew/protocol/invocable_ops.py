"""Ops about slash names that users bring."""

import re

from msgspec.structs import replace

from clew.protocol.ids import PromptId
from clew.protocol.invocables import InvocableKind, InvocableRow, meant
from clew.protocol.op_base import OpBase

NAME = re.compile(r"\w[\w.:-]*")
"""What can be a name; a path cannot."""


class UseInvocable(OpBase, frozen=True, kw_only=True, tag="invocable.use"):
    """Say what this name stands for. What was typed joins as the prompt, what it stands for joins hidden behind it.
    Rejected when there is no such name, unless there are `words`; otherwise the same events follow as for
    `SubmitPrompt`."""

    name: str
    arguments: str = ""
    words: str = ""
    """The prompt to submit where there is no such name, which is told."""
    prompt_id: PromptId = PromptId("")


class ListInvocables(OpBase, frozen=True, kw_only=True, tag="invocables.list"):
    """Ask what there is; answered by InvocablesListed."""

    kinds: tuple[InvocableKind, ...] = ("command", "skill", "prompt")


class ChooseSkills(OpBase, frozen=True, kw_only=True, tag="skills.choose"):
    """Only skills of these names are for the model; people may use all. Before the first request the others are not
    told to it at all."""

    names: tuple[str, ...]


InvocableOp = UseInvocable | ListInvocables | ChooseSkills


def use_of(text: str, rows: tuple[InvocableRow, ...]) -> UseInvocable | None:
    """The op for a text that begins with a slash and one of these names; None for every other text."""
    used = _named(text)
    return used if used is not None and (meant(used.name, rows) is not None or _by_level(used.name)) else None


def use_or_words(text: str, rows: tuple[InvocableRow, ...]) -> UseInvocable | None:
    """The same for a front end whose prompts may begin with a slash: what looks like a name and is none is sent as it
    is, but not without a word. None for every other text."""
    used = _named(text)
    if used is None or use_of(text, rows) is not None:
        return used
    return replace(used, words=text) if NAME.fullmatch(used.name) else None


def _named(text: str) -> UseInvocable | None:
    if not text.startswith("/") or text.startswith("//") or not text[1:2].strip():
        return None
    name = text[1:].split(maxsplit=1)[0]
    return UseInvocable(name=name, arguments=text[1 + len(name) :].strip())


def _by_level(name: str) -> bool:
    """One that another hides can still be meant by its level; the host knows those."""
    level, colon, rest = name.casefold().partition(":")
    return level in ("project", "user") and bool(colon) and bool(rest)
