"""Ops about slash names that users bring."""

import re

from clew.protocol.base import OpBase
from clew.protocol.ids import PromptId
from clew.protocol.invocables import InvocableRow, meant

NAME = re.compile(r"\w[\w.:-]*")
"""What can be a name; a path cannot."""


class UseInvocable(OpBase, frozen=True, kw_only=True, tag="invocable.use"):
    """Say what this name stands for. What was typed joins as the prompt, what it stands for joins hidden behind it.
    Rejected when there is no such name, also after servers that may still bring it were waited for; otherwise the same
    events follow as for `SubmitPrompt`."""

    name: str
    arguments: str = ""
    prompt_id: PromptId = PromptId("")


class ChooseSkills(OpBase, frozen=True, kw_only=True, tag="skills.choose"):
    """Only skills of these names are for the model; people may use all. Before the first request the others are not
    told to it at all."""

    names: tuple[str, ...]


InvocableOp = UseInvocable | ChooseSkills


def use_of(text: str, rows: tuple[InvocableRow, ...]) -> UseInvocable | None:
    """The op for a text that begins with a slash and one of these names; None for every other text."""
    used = _named(text)
    return used if used is not None and (meant(used.name, rows) is not None or _by_level(used.name)) else None


def use_or_refusal(text: str, rows: tuple[InvocableRow, ...]) -> UseInvocable | None:
    """The same for a front end that knows no commands: whatever looks like a name is used as one, and the host refuses
    a name that nobody brought. None for every other text, which is words."""
    return _named(text) if use_of(text, rows) is not None or looks_like_name(text) else None


def looks_like_name(text: str) -> bool:
    """Whether a text begins with a slash and what can be a name; a path cannot."""
    used = _named(text)
    return used is not None and NAME.fullmatch(used.name) is not None


def words_said(text: str) -> str:
    """The words to send of a text that is no slash name: of two slashes before what can be a name, one is dropped."""
    return text[1:] if text.startswith("//") and looks_like_name(text[1:]) else text


def _named(text: str) -> UseInvocable | None:
    if not text.startswith("/") or text.startswith("//") or not text[1:2].strip():
        return None
    name = text[1:].split(maxsplit=1)[0]
    return UseInvocable(name=name, arguments=text[1 + len(name) :].strip())


def _by_level(name: str) -> bool:
    """One that another hides can still be meant by its level; the host knows those."""
    level, colon, rest = name.casefold().partition(":")
    return level in ("project", "user") and bool(colon) and bool(rest)
