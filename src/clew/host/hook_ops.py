"""Ops about hooks: callbacks of the program that drives the session."""

from clew.parts.hooks.session_hooks import Hooking
from clew.host.refusal import OpRefused
from clew.host.room import Effect, Room
from clew.protocol.ops import AnswerHookCall, RegisterHooks

HookOp = RegisterHooks | AnswerHookCall
MAX_CALLBACKS = 500


def hook_effect(op: HookOp, room: Room) -> Effect:
    """What the op means. Raises OpRefused."""
    hooking = room.hooking
    if hooking is None:
        raise OpRefused("this session has no hooks")
    match op:
        case RegisterHooks():
            return _registered(op, hooking)
        case AnswerHookCall():
            if not hooking.answered(op):
                raise OpRefused("nothing waits for this answer any more")
            return _nothing


def _registered(op: RegisterHooks, hooking: Hooking) -> Effect:
    from clew.hooks.definitions import MOMENTS  # only programs register callbacks

    if len(op.hooks) > MAX_CALLBACKS:
        raise OpRefused(f"there can be at most {MAX_CALLBACKS} callbacks")
    unknown = sorted({hook.moment for hook in op.hooks} - set(MOMENTS))
    hooking.register(op)
    if not unknown:
        return _nothing
    words = f"no hook is called at {', '.join(unknown)}: clew knows {', '.join(MOMENTS)}"
    return lambda: hooking.say("warning", words)


def _nothing() -> None:
    """The op was done by being understood."""
