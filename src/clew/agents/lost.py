"""The end of a child whose process died before it could be written down: read from what the child left."""

from msgspec.structs import replace

from clew.agents.checkouts import Checkouts
from clew.agents.child_files import ChildFiles, last_words, spent_in
from clew.agents.child_run import END_BYTES
from clew.agents.report import digest, facts_of
from clew.protocol.events import AgentEnded, TaskRow
from clew.protocol.ids import AgentId
from clew.protocol.standing import Standing


def lost_end(row: TaskRow, files: ChildFiles, checkouts: Checkouts) -> AgentEnded:
    """It was interrupted; its report is what its own log holds."""
    agent = AgentId(row.task_id)
    path, meta = files.transcript(agent), files.meta(agent)
    ended = AgentEnded(
        child=agent,
        standing=Standing.INTERRUPTED,
        by="session",
        task=row.title,
        name=row.name,
        kind=row.agent_kind,
        call_id=meta.call_id if meta is not None else None,
        background=True,
        team=meta.team if meta is not None else "",
        output_file=str(path or ""),
    )
    if meta is not None and meta.isolated:
        left = checkouts.left_by(agent)
        ended = replace(ended, worktree=left.path, work_ref=left.ref)
    if path is None or not path.exists():
        return ended
    past = files.past(agent)
    said = last_words(past.chain)
    return replace(
        ended,
        result=digest(said, END_BYTES),
        tally=spent_in(path, meta.run_from if meta is not None else 0),
        facts=facts_of(past.entries, said=said),
    )
