"""A fork: a child that begins with its parent's conversation, so that both send the same bytes first."""

from collections.abc import Sequence
from typing import Any, TypeGuard

from msgspec.structs import replace

from clew.agents.runner import AgentSpec
from clew.permissions.access import Access, ToolAccess
from clew.protocol.entries import (
    AssistantEntry,
    AttachmentEntry,
    ContentReplacementEntry,
    Entry,
    EventEntry,
    KnownEntry,
    UserEntry,
)
from clew.protocol.events import ViewTrimmed
from clew.protocol.ids import CallId, new_entry_id
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import ToolResultPart, UserMessage, tool_calls
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.transcript.chain.conversation import Conversation
from clew.transcript.chain.links import result_calls, undone_by
from clew.transcript.log.stamp import Stamp

FORK = AgentSpec(kind="fork", description="a copy of the conversation that carries out one directive")
PLACEHOLDER = "You are a fork of the agent that made this call: its result is not yours. Carry out the directive below."
DIRECTIVE = (
    "You are a fork: you know all of the conversation above, and none of it is asked of you any more. Carry out this "
    "directive alone, start no fork, and end with a report of what you did and found.\n\nDirective: "
)


def inherited(parent: Conversation, stamp: Stamp) -> tuple[KnownEntry, ...]:
    """The entries that a fork's log begins with: what is in its parent's view now, one after the other. Calls of the
    last reply all get the same result, whether they have one or not, so that the forks of one reply begin with the same
    bytes."""
    chain = parent.chain()
    calls = calls_of_the_last_reply(chain)
    sent = [entry for entry in chain if isinstance(entry, UserEntry | AssistantEntry | AttachmentEntry)]
    told = [entry for entry in sent if not calls or not set(result_calls(entry)) & set(calls)]
    kept: list[UserEntry | AssistantEntry | AttachmentEntry] = []
    for entry in told:
        origin = {"sessionId": str(entry.session_id), "messageUuid": str(entry.uuid)}
        above = kept[-1].uuid if kept else None
        kept.append(replace(entry, is_sidechain=True, agent_id=stamp.agent_id, parent_uuid=above, forked_from=origin))
    standing = [entry for entry in parent.entries if isinstance(entry, ContentReplacementEntry) or is_trim(entry)]
    if not calls:
        return (*kept, *standing)
    answers = tuple(ToolResultPart(call_id=call, content=PLACEHOLDER) for call in calls)
    answer = UserEntry(
        uuid=new_entry_id(),
        message=UserMessage(content=answers),
        forked_from={"agentId": str(stamp.agent_id or "")},
        **stamp.chain(kept[-1].uuid if kept else None),
    )
    return (*kept, *standing, answer)


def calls_of_the_last_reply(chain: Sequence[Entry]) -> list[CallId]:
    """The calls of the reply that the conversation ends with; none where something was said since."""
    calls: list[CallId] = []
    reply = ""
    for entry in reversed(chain):
        if isinstance(entry, AssistantEntry):
            if reply and entry.message.id != reply:
                break
            reply = entry.message.id
            calls = [*(call.id for call in tool_calls(entry.message.content)), *calls]
        elif isinstance(entry, UserEntry) and not result_calls(entry):
            break
    return calls


def is_trim(entry: Entry) -> TypeGuard[EventEntry]:
    """Whether a line outside the chain takes something out of the view, or puts it back."""
    return isinstance(entry, EventEntry) and (isinstance(entry.event, ViewTrimmed) or undone_by(entry) is not None)


class NotForForks(Tool[Any]):
    """A tool of the parent's that a fork is told of, for the same bytes, and may not use."""

    def __init__(self, tool: Tool[Any]) -> None:
        self.name = tool.name
        self._spec = tool.spec()
        self._tool = tool

    def spec(self) -> ToolSpec:
        """The very same."""
        return self._spec

    def decode(self, arguments: Any) -> Any:
        """As the parent's."""
        return self._tool.decode(arguments)

    def accesses(self, params: Any, context: ToolContext) -> tuple[Access, ...]:
        """It touches nothing."""
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: Any, context: ToolContext) -> ToolResult:
        """Nothing happens."""
        return problem(f"{self.name} belongs to the conversation that this fork was made from. Go on without it.")
