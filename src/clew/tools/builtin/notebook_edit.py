"""NotebookEdit: replace, insert or delete one cell of a Jupyter notebook."""

import asyncio
import json
import os
from typing import Annotated, Any, ClassVar, Literal, cast

from msgspec import Meta, Struct

from clew.permissions.access import Access
from clew.system.files import replace_file
from clew.tools.base import ToolContext, ToolResult
from clew.tools.builtin.write import existing
from clew.tools.extras import text_diff
from clew.tools.paths import describe_os_error, digest_of, file_accesses, missing, problem, stale, state_of, unread
from clew.tools.session import BuiltinTool


class NotebookEditParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which cell becomes what."""

    notebook_path: str
    new_source: str = ""
    cell_id: Annotated[str, Meta(description="Id or index of the cell")] | None = None
    cell_type: Literal["code", "markdown"] | None = None
    edit_mode: Literal["replace", "insert", "delete"] = "replace"


class NotebookEdit(BuiltinTool[NotebookEditParams]):
    """Change one cell."""

    name = "NotebookEdit"
    params: ClassVar[type[Struct]] = NotebookEditParams

    def accesses(self, params: NotebookEditParams, context: ToolContext) -> tuple[Access, ...]:
        return file_accesses(self.session, context, "write", params.notebook_path)

    async def impossible(self, params: NotebookEditParams, context: ToolContext) -> ToolResult | None:
        """A file that was not read."""
        return unread(self.session, params.notebook_path, context)

    async def run(self, params: NotebookEditParams, context: ToolContext) -> ToolResult:
        (target,) = self.session.claimed(context.call_id, self.session.locate(params.notebook_path, context.cwd))
        try:
            old = existing(target)
            if old is None:
                return missing(target)
            if why := stale(self.session, target, old.status, old.data):
                return problem(why)
            notebook = cast("dict[str, Any]", json.loads(old.data))
            cells = cast("list[dict[str, Any]]", notebook["cells"])
            words, before, after = change(cells, notebook, params)
            text = json.dumps(notebook, indent=1, ensure_ascii=False) + ("\n" if old.data.endswith(b"\n") else "")
            status = await asyncio.to_thread(replace_file, target, text.encode(), expected=old.status)
        except OSError as error:
            return describe_os_error(error, target, doing="editing")
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            return problem(f"{target} was not changed: {error}")
        self.session.saw(target, state_of(status, digest_of(text.encode())))
        return ToolResult(text=f"{words} in {target}.", display=(text_diff().diff_block(target, before, after),))


def change(cells: list[dict[str, Any]], notebook: dict[str, Any], params: NotebookEditParams) -> tuple[str, str, str]:
    """Apply it; what was done, the old and the new text of the cell."""
    if params.edit_mode == "insert":
        index = find_cell(cells, params.cell_id) + 1 if params.cell_id is not None else 0
        cells.insert(index, new_cell(notebook, params))
        return f"Inserted cell {index}", "", params.new_source
    index = find_cell(cells, params.cell_id)
    cell = cells[index]
    before = "".join(cell.get("source") or "")
    if params.edit_mode == "delete":
        del cells[index]
        return f"Deleted cell {index}", before, ""
    cell["source"] = params.new_source.splitlines(keepends=True)
    if params.cell_type is not None:
        cell["cell_type"] = params.cell_type
    if cell.get("cell_type") == "code":
        cell["outputs"], cell["execution_count"] = [], None
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    return f"Replaced cell {index}", before, params.new_source


def new_cell(notebook: dict[str, Any], params: NotebookEditParams) -> dict[str, Any]:
    """A cell in the shape its notebook's version wants; ids exist since format 4.5."""
    cell: dict[str, Any] = {"cell_type": params.cell_type or "code", "metadata": {}}
    if (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5):
        cell["id"] = os.urandom(4).hex()
    if cell["cell_type"] == "code":
        cell |= {"execution_count": None, "outputs": []}
    cell["source"] = params.new_source.splitlines(keepends=True)
    return cell


def find_cell(cells: list[dict[str, Any]], cell_id: str | None) -> int:
    """The index of a cell by id or number."""
    if cell_id is None:
        raise ValueError("cell_id is needed to replace or delete a cell.")
    for index, cell in enumerate(cells):
        if cell.get("id") == cell_id:
            return index
    number = cell_id.removeprefix("cell-")
    if number.isdecimal() and int(number) < len(cells):
        return int(number)
    known = ", ".join(str(cell.get("id") or index) for index, cell in enumerate(cells[:20]))
    raise ValueError(f"there is no cell {cell_id!r}; cells: {known or 'none'}.")
