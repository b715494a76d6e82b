"""Ops about hooks: listing, approving, and callbacks of the program that drives the session."""

import asyncio
from collections.abc import Callable

from clew.host.hooking import Hooking
from clew.host.refusal import OpRefused
from clew.host.room import Effect, Room
from clew.protocol.events import Event, HooksListed
from clew.protocol.ids import OpId
from clew.protocol.ops import AnswerHookCall, ApproveHooks, ListHooks, RegisterHooks

HookOp = RegisterHooks | AnswerHookCall | ListHooks | ApproveHooks
MAX_CALLBACKS = 500


async def hook_effect(op: HookOp, room: Room, tell: Callable[[Event], None]) -> Effect:
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
        case ListHooks():
            await asyncio.to_thread(hooking.registry.read)
        case ApproveHooks():
            await _decided(op, hooking)
    listed = await asyncio.to_thread(_listed, op.op_id, hooking)
    return lambda: tell(listed)


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


async def _decided(op: ApproveHooks, hooking: Hooking) -> None:
    try:
        await asyncio.to_thread(hooking.registry.decide, op.digests, approved=op.approved)
    except KeyError as error:
        raise OpRefused("a hook has changed since it was listed, so nothing was approved; look at it again") from error
    except OSError as error:
        raise OpRefused(f"your decision cannot be kept: {error.strerror or error}") from error


def _listed(op_id: OpId, hooking: Hooking) -> HooksListed:
    return HooksListed(op_id=op_id, hooks=hooking.registry.rows(), problems=hooking.registry.problems)


def _nothing() -> None:
    """The op was done by being understood."""
