"""Ops about slash names that users bring."""

from clew.protocol.ids import PromptId
from clew.protocol.invocables import InvocableKind, InvocableRow, meant
from clew.protocol.op_base import OpBase


class UseInvocable(OpBase, frozen=True, kw_only=True, tag="invocable.use"):
    """Say what this name stands for. What was typed joins as the prompt, what it stands for joins hidden behind it.
    Rejected when there is no such name; otherwise the same events follow as for `SubmitPrompt`."""

    name: str
    arguments: str = ""
    prompt_id: PromptId = PromptId("")


class ListInvocables(OpBase, frozen=True, kw_only=True, tag="invocables.list"):
    """Ask what there is; answered by InvocablesListed."""

    kinds: tuple[InvocableKind, ...] = ("command", "skill", "prompt")


InvocableOp = UseInvocable | ListInvocables


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
