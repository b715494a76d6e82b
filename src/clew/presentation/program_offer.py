"""Programs that were found and wait for a person's word, hooks and servers alike: exactly what would run."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from clew.commands.hooks import moment_words
from clew.commands.mcp import KINDS
from clew.presentation.approval_text import one_line
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.events import HookRow
from clew.protocol.lookups.base import Lookup
from clew.protocol.lookups.hooks import ApproveHooks
from clew.protocol.lookups.mcp import ApproveMcp


class OfferedProgram(Struct, frozen=True, kw_only=True):
    """One of them."""

    digest: str
    heading: str
    text: str
    """What would run or be asked, as it is written."""
    notes: tuple[str, ...] = ()


class ProgramOffer(Struct, frozen=True, kw_only=True):
    """All of one kind that wait now."""

    kind: str
    """One of them, in a word."""
    programs: tuple[OfferedProgram, ...]
    meaning: tuple[str, ...]
    later: str
    approve: Callable[[tuple[str, ...]], Lookup[Any]]


def offer_of_hooks(rows: tuple[HookRow, ...]) -> ProgramOffer:
    """Hooks."""
    return ProgramOffer(
        kind="hook",
        programs=tuple(
            OfferedProgram(
                digest=row.digest,
                heading=f"{one_line(moment_words(row))}, in {one_line(row.source)}",
                text=row.command,
                notes=() if row.sandbox else ("runs outside the sandbox, with your rights",),
            )
            for row in rows
        ),
        meaning=(
            "Hooks run commands at set moments, held by the sandbox unless it says otherwise.",
            "Approved is exactly what stands here: a change asks again.",
        ),
        later="They do not run. /hooks lists them whenever you like.",
        approve=lambda digests: ApproveHooks(digests=digests),
    )


def offer_of_servers(rows: tuple[McpServerRow, ...]) -> ProgramOffer:
    """MCP servers of the project."""
    return ProgramOffer(
        kind="MCP server",
        programs=tuple(
            OfferedProgram(
                digest=row.digest,
                heading=f"{one_line(row.name)} ({KINDS[row.kind]}), in {one_line(row.source)}",
                text=row.shape,
                notes=(f"gets of your environment: {', '.join(row.variables)}",) if row.variables else (),
            )
            for row in rows
        ),
        meaning=(
            "The project brings MCP servers. A program is held by the sandbox unless it says otherwise.",
            "Approved is exactly what stands here: a change asks again.",
        ),
        later="They do not run. /mcp lists them whenever you like.",
        approve=lambda digests: ApproveMcp(digests=digests),
    )
