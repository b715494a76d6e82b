"""What tool calls did, as facts tell it: for batches of our own and for calls that other agents recorded."""

from collections.abc import Sequence
from typing import NamedTuple

from clew.ledger.approvals import not_run
from clew.ledger.calls import AGENT_TOOLS, EDIT_TOOLS, READ_TOOLS, SEARCH_TOOLS, SHELL_TOOLS, EndedCall, tool_name
from clew.ledger.commands import CommandsFold
from clew.ledger.files import FilesFold
from clew.ledger.todos import items_of
from clew.orient.deeds import (
    Deed,
    file_name,
    fitted,
    grouped,
    named_call,
    of_blocks,
    ran,
    unanswered,
    used,
)
from clew.protocol.display import Block, TerminalBlock
from clew.protocol.ids import EntryId
from clew.protocol.messages import ToolCallPart, ToolResultPart, result_text
from clew.text.figures import change, shown_path
from clew.transcript.chain.standing import QUESTION_TOOLS


class LabelledCall(NamedTuple):
    """A call with its result, as a label sees them; without a result it is still running."""

    call: ToolCallPart
    result: ToolResultPart | None
    display: tuple[Block, ...] = ()


def batch_label(batch: Sequence[LabelledCall]) -> str:
    """What the batch did, in one line; "" for an empty batch."""
    return fitted(grouped(deed for item in batch for deed in deeds(item)))


def deeds(item: LabelledCall, cwd: str = "") -> list[Deed]:
    """What one call came to: nearly always one deed, more for a patch of several files."""
    call, name = item.call, tool_name(item.call.name)
    text = result_text(item.result) if item.result is not None else ""
    failed = item.result is not None and item.result.is_error
    extra: object = {"display": list(item.display)} if item.display else None
    outcome = EndedCall(name, call.arguments, text, failed, extra, EntryId("c"), EntryId("r"))
    if (why := not_run(outcome)) and not any(isinstance(block, TerminalBlock) for block in item.display):
        named = named_call(call, cwd)
        return [Deed(verb=why.capitalize(), subject=named, short=named)]
    if name in EDIT_TOOLS and (done := _edits(outcome, cwd)):
        return done
    ran_here = any(isinstance(block, TerminalBlock) for block in item.display)
    if (ran_here or not failed) and (shown := of_blocks(call, item.display, cwd)):
        return shown
    if name in SHELL_TOOLS:
        return [_run(outcome)]
    if name == "TodoWrite" and not failed and (items := items_of(call.arguments)):
        told = f"{sum(one.status == 'completed' for one in items)}/{len(items)} done"
        return [Deed(verb="Tasks", subject=told, short=told)]
    if name in QUESTION_TOOLS and failed:
        return [unanswered(call, "not answered")]
    verb = "Read" if name in READ_TOOLS else "Searched" if name in SEARCH_TOOLS else "Used"
    verb = "Agent" if name in AGENT_TOOLS else "Fetched" if name == "WebFetch" else verb
    return [used(call, verb, text, failed=failed, cwd=cwd)]


def _edits(outcome: EndedCall, cwd: str) -> list[Deed]:
    fold = FilesFold()
    fold.settle(outcome)
    found: list[Deed] = []
    for file in fold.facts():
        path, short = shown_path(file.path, cwd), file_name(file.path)
        if file.failed_edits:
            reason = next((line.strip() for line in outcome.text.splitlines() if line.strip()), "no reason given")
            found.append(
                Deed(verb="Edited", subject=path, short=short, outcome=f" failed: {reason}", failed=True, is_path=True)
            )
            continue
        verb = "Deleted" if file.deleted else "Created" if file.created else "Edited"
        lines = "" if file.deleted else f" {change(file.added, file.removed)}"
        done = Deed(
            verb=verb, subject=path, short=short, outcome=lines, added=file.added, removed=file.removed, is_path=True
        )
        found.append(done)
    return found


def _run(outcome: EndedCall) -> Deed:
    """A command as another agent recorded it: without a block that shows its end."""
    command = CommandsFold().settle(outcome)
    if command.background:
        return ran(command.command, "", "in the background", ended="in the background")
    if not command.failed:
        return ran(command.command, outcome.text, "ok")
    code = f"exit {command.exit_code}" if command.exit_code else ""
    ended = f"failed ({code})" if code else "failed"
    return ran(command.command, outcome.text, code or "failed", ended=ended, failed=True)
