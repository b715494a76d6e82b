"""Messages to MCP servers that live in the program: carried over the channel, and its answers carried back."""

from typing import Any, cast

from clew.headless.control_channel import ControlChannel, NotAnswered, OpenAsks
from clew.protocol.client import Client
from clew.protocol.event_kinds.programs import McpMessageSent, McpMessageWithdrawn
from clew.protocol.events import Event
from clew.protocol.ops import AnswerMcpMessage
from clew.streaming.shapes.control import McpMessageRequest


class McpMessages:
    """Fed with every event. The host bounds the time; here nobody waits on his own."""

    def __init__(self, client: Client, channel: ControlChannel) -> None:
        self._client = client
        self._channel = channel
        self._open = OpenAsks()

    def take(self, event: Event) -> None:
        """A message is to be carried, or no longer."""
        match event:
            case McpMessageSent():
                self._open.begin(event.request_id, self._carry(event))
            case McpMessageWithdrawn():
                self._open.withdraw(event.request_id)
            case _:
                pass

    def close(self) -> None:
        """The session is over."""
        self._open.close()

    async def _carry(self, event: McpMessageSent) -> None:
        request = McpMessageRequest(server_name=event.server, message=event.message)
        try:
            said = (await self._channel.ask(request)).get("mcp_response")
            if not isinstance(said, dict):
                raise NotAnswered("the program gave no mcp_response")
            answer = AnswerMcpMessage(request_id=event.request_id, message=cast("dict[str, Any]", said))
        except NotAnswered as none:
            answer = AnswerMcpMessage(request_id=event.request_id, error=str(none))
        await self._client.submit(answer)
