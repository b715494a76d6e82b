"""Ops about hooks."""

from typing import Any

from msgspec import Struct, field

from clew.protocol.ids import RequestId
from clew.protocol.op_kinds.base import OpBase


class CallbackHook(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hook that lives in the program that drives this session."""

    callback_id: str
    moment: str
    matcher: str = ""
    timeout_s: float = 60.0
    blocks_on_failure: bool = False
    """A callback that fails counts as a no, where a no is possible."""


class RegisterHooks(OpBase, frozen=True, kw_only=True, tag="hooks.register"):
    """Call these callbacks from now on, in place of those registered before."""

    hooks: tuple[CallbackHook, ...] = ()


class AnswerHookCall(OpBase, frozen=True, kw_only=True, tag="hook.answer"):
    """What a callback said to a HookCalled, or how it failed."""

    request_id: RequestId
    output: dict[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""
