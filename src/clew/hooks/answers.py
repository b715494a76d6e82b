"""What a hook said, whatever way it said it; and what several together come to."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

Outcome = Literal["ok", "blocked", "failed", "timed_out"]
Leaning = Literal["", "allow", "ask", "deny"]
STRICTNESS: dict[Leaning, int] = {"": 0, "allow": 1, "ask": 2, "deny": 3}


class HookAnswer(Struct, frozen=True, kw_only=True):
    """One hook's word. An answer that is empty leaves everything as it is."""

    hook: str
    """Its command, or the id of its callback."""
    outcome: Outcome = "ok"
    detail: str = ""
    """For a person: what it printed when it failed, or why it blocked."""
    leaning: Leaning = ""
    """What it says about a call; `deny` is also its way to block any other moment that can be blocked."""
    reason: str = ""
    """For the model, and for the person who is asked."""
    may_allow: bool = False
    """It is the user's own: its `allow` answers an ask. A project's hook has no such say."""
    arguments: dict[str, Any] | None = None
    """The call's input, changed."""
    context: str = ""
    """Words that join the conversation."""
    stop: str | None = None
    """It wants the turn to end, and why."""
    message: str = ""
    """A line for the person."""
    title: str = ""
    """A name for the session."""
    result: str | None = None
    """What stands for the call's result."""
    duration_ms: int = 0


class HookVerdict(Struct, frozen=True, kw_only=True):
    """Several answers as one: the strictest decides, words add up in order, the last change of input stands."""

    leaning: Leaning = ""
    reason: str = ""
    hook: str = ""
    """Which one decided, or wants the turn to end."""
    arguments: dict[str, Any] | None = None
    changed_by: str = ""
    """Which one changed the input."""
    context: str = ""
    stop: str | None = None
    messages: tuple[str, ...] = ()
    title: str = ""
    result: str | None = None


def combined(answers: Sequence[HookAnswer]) -> HookVerdict:
    """The strictest part decides. An `allow` of a hook that may not say so counts for nothing."""
    counted = [answer for answer in answers if answer.leaning != "allow" or answer.may_allow]
    strictest = max(counted, key=lambda answer: STRICTNESS[answer.leaning], default=None)
    changed = [answer for answer in answers if answer.arguments is not None]
    results = [answer.result for answer in answers if answer.result is not None]
    return HookVerdict(
        leaning=strictest.leaning if strictest is not None else "",
        reason=strictest.reason if strictest is not None else "",
        hook=next((answer.hook for answer in (strictest, *answers) if answer is not None and decides(answer)), ""),
        arguments=changed[-1].arguments if changed else None,
        changed_by=changed[-1].hook if changed else "",
        context="\n".join(answer.context for answer in answers if answer.context),
        stop=next((answer.stop for answer in answers if answer.stop is not None), None),
        messages=tuple(answer.message for answer in answers if answer.message),
        title=next((answer.title for answer in answers if answer.title), ""),
        result=results[-1] if results else None,
    )


def decides(answer: HookAnswer) -> bool:
    """Whether anything follows from it."""
    return bool(answer.leaning and (answer.leaning != "allow" or answer.may_allow)) or answer.stop is not None
