"""Tool calls that wait for their results: our names for theirs, unique ids, a patch over many files taken apart."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from clew.foreign.shapes import Json
from clew.foreign.tool_names import MappedCall, translate
from clew.protocol.display import Block, DiffBlock, TerminalBlock
from clew.protocol.ids import CallId, EntryId
from clew.protocol.messages import ToolCallPart, ToolResultPart


class ForeignResult(NamedTuple):
    """A result, what people see of it, and the entry that holds its call."""

    part: ToolResultPart
    display: Any
    holder: EntryId | None


class _Open(NamedTuple):
    id: CallId
    call: MappedCall | None
    holder: EntryId | None


class OpenCalls:
    """The calls of one session. Ids are the other agent's own; results name them by those."""

    def __init__(self) -> None:
        self._open: dict[str, list[_Open]] = {}
        self._ids: set[str] = set()

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._open

    def announce(self, given: str, name: str, arguments: Json, raw: str | None) -> Iterator[ToolCallPart]:
        """The parts of one call. The entry that holds each must be told by `held` before the next is taken.

        Some agents count ids anew after a compaction; a repeated one is made unique, and results go to the latest.
        """
        call_id = given if given not in self._ids else f"{given}~{len(self._ids)}"
        self._ids.add(call_id)
        self._open[given] = []
        for number, call in enumerate(translate(name, arguments)):
            own_id = CallId(call_id if number == 0 else f"{call_id}#{number + 1}")
            same = call.name == name and call.arguments == arguments
            original = None if same else {"foreign": {"name": name, "arguments": arguments if number == 0 else {}}}
            self._open[given].append(_Open(own_id, call, None))
            yield ToolCallPart(id=own_id, name=call.name, arguments=call.arguments, raw_arguments=raw, data=original)

    def held(self, given: str, holder: EntryId | None) -> None:
        """The entry that holds the part announced last."""
        self._open[given][-1] = self._open[given][-1]._replace(holder=holder)

    def settle(
        self, given: str, text: str, *, is_error: bool, exit_code: int | None, diffs: tuple[DiffBlock, ...]
    ) -> Iterator[ForeignResult]:
        """The results of one call. An exit code other than 0 is an error and stays readable in the text."""
        made = self._open.pop(given, None) or [_Open(CallId(given), None, None)]
        if exit_code:
            is_error = True
            if not _tells_exit_code(text, exit_code):
                text = f"Exit code {exit_code}\n{text}"
        for number, (open_call, blocks) in enumerate(zip(made, _share_out(diffs, made), strict=True)):
            call = open_call.call
            if call is not None and call.name == "Bash" and exit_code is not None:
                command = str(call.arguments.get("command", ""))
                blocks.append(TerminalBlock(command=command, output=text, exit_code=exit_code))
            content = text if number == 0 or is_error else "(see the first file of this patch)"
            part = ToolResultPart(call_id=open_call.id, content=content, is_error=is_error)
            yield ForeignResult(part, {"display": msgspec.to_builtins(blocks)} if blocks else None, open_call.holder)


def _share_out(diffs: tuple[DiffBlock, ...], made: list[_Open]) -> list[list[Block]]:
    """Each diff to the call that names its file, so that no change counts twice; the first call takes the rest."""
    shares: list[list[Block]] = [[] for _ in made]
    for diff in diffs:
        place = 0
        for number, open_call in enumerate(made):
            path = str(open_call.call.arguments.get("file_path", "")) if open_call.call else ""
            if path and (diff.path.endswith(path) or path.endswith(diff.path)):
                place = number
                break
        shares[place].append(diff)
    return shares


def _tells_exit_code(text: str, code: int) -> bool:
    return re.search(rf"(?i)exit(?:ed)?(?: with)?(?: code)?:? {code}\b", text[:400] + " " + text[-400:]) is not None
