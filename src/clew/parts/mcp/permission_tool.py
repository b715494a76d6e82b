"""`--permission-prompt-tool`: a tool of an MCP server answers what would ask a person."""

import asyncio
import json
from typing import Any, cast

from msgspec.structs import replace

from clew.host.session import Session
from clew.mcp.servers import McpServers
from clew.protocol.events import ApprovalRequested, ApprovalResolved, CallChanged, Event, Notice, PartCompleted
from clew.protocol.ids import AgentId, CallId, RequestId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval
from clew.tools.toolset import source_in

WAIT_S = 60.0
"""For its server to connect, and again for its answer."""
Json = dict[str, Any]


class PermissionTool:
    """Hears every event; each question is put to the tool and answered once. Without an answer it is a no."""

    def __init__(self, name: str, servers: McpServers, session: Session) -> None:
        self._name = name
        self._servers = servers
        self._session = session
        self._calls: dict[tuple[AgentId, CallId], Json] = {}
        self._open: dict[RequestId, asyncio.Task[None]] = {}

    def hear(self, event: Event, agent: AgentId) -> None:
        """Follow the calls; ask, or take a question back that was settled otherwise."""
        match event:
            case PartCompleted(part=ToolCallPart() as call):
                self._calls[agent, call.id] = meant_call(call).arguments
            case CallChanged():
                self._calls[agent, event.call_id] = event.arguments
            case ApprovalRequested():
                deciding = self._decide(event, agent)
                task = self._open[event.request_id] = asyncio.get_running_loop().create_task(deciding)
                task.add_done_callback(lambda _: self._open.pop(event.request_id, None))
            case ApprovalResolved():
                self._calls.pop((agent, event.call_id), None)
                if event.request_id in self._open and not self._open[event.request_id].done():
                    self._open[event.request_id].cancel()
            case _:
                pass

    async def _decide(self, event: ApprovalRequested, agent: AgentId) -> None:
        given = self._calls.get((agent, event.call_id)) or event.input()
        try:
            answer = await self._asked(event, given)
        except (TimeoutError, ValueError, LookupError) as error:
            words = f"{self._name} gave no answer ({error or type(error).__name__}), so it is a no"
            self._session.publish(Notice(level="warning", text=words, code="mcp"))
            answer = AnswerApproval(request_id=event.request_id, decision="deny", reason=words, by="nobody")
        self._session.pending.settle(replace(answer, agent=agent))

    async def _asked(self, event: ApprovalRequested, given: Json) -> AnswerApproval:
        """Raises TimeoutError, LookupError where there is no such tool, or ValueError for an answer that makes no
        sense."""
        self._servers.begin()
        await self._servers.settled(WAIT_S, (source_in(self._name),))
        tool = next((tool for tool in self._servers.tools if tool.name == self._name), None)
        server = self._servers.servers.get(source_in(self._name))
        if tool is None or server is None or server.connection is None:
            raise LookupError("there is no such tool")
        arguments = {"tool_name": event.tool, "input": given, "tool_use_id": str(event.call_id)}
        async with asyncio.timeout(WAIT_S):
            outcome = await server.connection.call(
                tool.offered.name, arguments, progress=lambda words: None, limit_s=WAIT_S
            )
        if outcome.is_error:
            raise ValueError(outcome.text[:200])
        return answer_of(event.request_id, outcome.text, given)


def answer_of(request_id: RequestId, text: str, given: Json) -> AnswerApproval:
    """`{"behavior": "allow", "updatedInput": {}}` or `{"behavior": "deny", "message": "..."}`. Raises ValueError."""
    try:  # what follows the document is the same once more, as structured content
        answer, _ = json.JSONDecoder().raw_decode(text.strip())
    except (ValueError, RecursionError):
        raise ValueError("its answer is not JSON") from None
    said = cast(Json, answer) if isinstance(answer, dict) else {}
    match said.get("behavior"):
        case "allow":
            changed = said.get("updatedInput")
            arguments = cast(Json, changed) if isinstance(changed, dict) and changed != given else None
            return AnswerApproval(request_id=request_id, decision="allow", arguments=arguments)
        case "deny":
            return AnswerApproval(request_id=request_id, decision="deny", reason=str(said.get("message", ""))[:2_000])
        case _:
            raise ValueError("its answer has no behavior of allow or deny")
