"""Commands in the background as rows for people: what they are, how they stand, what they said last."""

import time

from clew.host.refusal import OpRefused
from clew.protocol.events import ShellRow, ShellShown, ShellsListed
from clew.protocol.ops import ListShells, ShowShell, StopShell
from clew.system.redact import redact
from clew.tools.session import ToolSession
from clew.tools.shells import Background

TAIL_LINES = 3
MAX_LINE_CHARS = 200


def row_of(shell: Background, *, tail: bool = True) -> ShellRow:
    """One row. The tail comes from what is in memory, so it costs the same for any output."""
    running = shell.ended is None
    code = shell.ended.code if shell.ended is not None and not shell.killed else None
    lines = redact(shell.output.last(TAIL_LINES * MAX_LINE_CHARS * 4)).splitlines() if tail else []
    return ShellRow(
        shell_id=shell.id,
        command=redact(shell.command),
        state="running" if running else "stopped" if shell.killed else "exited",
        exit_code=code,
        age_s=max(0.0, time.monotonic() - shell.started_s),
        tail=tuple(line[-MAX_LINE_CHARS:] for line in lines if line.strip())[-TAIL_LINES:],
        output_file=str(shell.output.path or ""),
    )


async def about_shells(op: ListShells | ShowShell | StopShell, tools: ToolSession) -> ShellsListed | ShellShown:
    """List, look or stop. Raises OpRefused for one there is not."""
    known = tools.all_shells()
    if isinstance(op, ListShells):
        return ShellsListed(op_id=op.op_id, shells=tuple(map(row_of, known.values())))
    shell = known.get(op.shell_id) or known.get(f"bash_{op.shell_id}")
    if shell is None:
        raise OpRefused(f"there is no background command {op.shell_id}; known: {', '.join(known) or 'none'}")
    if isinstance(op, ShowShell):
        return ShellShown(op_id=op.op_id, shell=row_of(shell), output=redact(shell.output.text()))
    if shell.ended is not None:
        raise OpRefused(f"{shell.id} has ended already")
    await shell.stop("user")
    return ShellsListed(op_id=op.op_id, shells=tuple(map(row_of, known.values())))
