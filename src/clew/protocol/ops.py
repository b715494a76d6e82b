"""Ops: what a front end asks of the engine. Imperative, plain data."""

from typing import Literal

from msgspec import Struct

from clew.protocol.ids import RequestId
from clew.protocol.messages import Part


class OpBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="op"):
    """Every op is answered by events, never by a return value."""


class SubmitPrompt(OpBase, frozen=True, kw_only=True, tag="prompt.submit"):
    """Say something. When idle it starts a turn; while working it joins at the next step boundary."""

    content: str | tuple[Part, ...]


class Interrupt(OpBase, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn: calls settle, TurnEnded follows with reason `interrupted`. When idle, nothing."""


class AnswerApproval(OpBase, frozen=True, kw_only=True, tag="approval.answer"):
    """Decide an ApprovalRequested by its id; an unknown or settled id is ignored."""

    request_id: RequestId
    decision: Literal["allow", "allow_always", "deny"]
    reason: str = ""
    """With `deny`: told to the model."""
    rules: tuple[str, ...] = ()
    """With `allow_always`: the offered rules to save, verbatim."""
    stop: bool = False
    """With `deny`: end the turn as well."""


class AnswerQuestion(OpBase, frozen=True, kw_only=True, tag="question.answer"):
    """Answer a QuestionAsked: one tuple of chosen labels or free text per question."""

    request_id: RequestId
    answers: tuple[tuple[str, ...], ...]
    declined: bool = False


class SetModel(OpBase, frozen=True, kw_only=True, tag="model.set"):
    """Use another model from the next request on."""

    model: str


class SetPermissionMode(OpBase, frozen=True, kw_only=True, tag="permission_mode.set"):
    """Change the permission mode; only ever sent by a person's front end."""

    mode: str


class SetTitle(OpBase, frozen=True, kw_only=True, tag="title.set"):
    """Name the session; a user's title always wins."""

    title: str


class RequestRecap(OpBase, frozen=True, kw_only=True, tag="recap.request"):
    """Ask for a recap now; answered by RecapReady or a Notice."""

    model: bool = False
    """Let the fast model rephrase, if one is configured."""


class Close(OpBase, frozen=True, kw_only=True, tag="close"):
    """End the session: interrupt what runs, write everything, then SessionEnded."""


Op = (
    SubmitPrompt
    | Interrupt
    | AnswerApproval
    | AnswerQuestion
    | SetModel
    | SetPermissionMode
    | SetTitle
    | RequestRecap
    | Close
)
