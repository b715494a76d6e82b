"""Which hooks there are, and a person's word on them."""

from typing import ClassVar

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.event_kinds.programs import HookRow
from clew.protocol.lookups.base import Answer, Lookup


class HookApprovalRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hook that a person let run here, as it was then."""

    digest: str
    moment: str = ""
    command: str = ""


class HooksListed(Answer, frozen=True, kw_only=True, tag="hooks.listed"):
    """All hooks there are."""

    hooks: tuple[HookRow, ...]
    problems: tuple[str, ...] = ()
    """Definitions that could not be understood, a line each."""
    approvals: tuple[HookApprovalRow, ...] = ()
    """What was approved for this project or for everywhere, whether it is still defined or not."""


class ListHooks(Lookup[HooksListed], frozen=True, kw_only=True, tag="hooks.list"):
    """Ask which hooks there are."""


class ApproveHooks(Lookup[HooksListed], frozen=True, kw_only=True, tag="hooks.approve"):
    """Let hooks with exactly these digests run from now on; or, with `approved` false, no longer, also where the hook
    has changed or is gone. Only ever sent for a person. Answered by HooksListed."""

    needs: ClassVar[Rights] = Rights.DRIVE

    digests: tuple[str, ...]
    approved: bool = True
