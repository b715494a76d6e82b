"""Callbacks that the program registered: called over the channel, answered to the host, taken back in time."""

from clew.headless.control_channel import ControlChannel, NotAnswered, OpenAsks
from clew.protocol.client import Client
from clew.protocol.events import Event, HookCalled, HookCallWithdrawn
from clew.protocol.ops import AnswerHookCall, CallbackHook
from clew.streaming.shapes.control import HookCallbackRequest, HookMatcherGiven

DEFAULT_TIMEOUT_S = 60.0


class HookCalls:
    """Fed with every event. The host bounds the time; here nobody waits on his own."""

    def __init__(self, client: Client, channel: ControlChannel) -> None:
        self._client = client
        self._channel = channel
        self._open = OpenAsks()

    def take(self, event: Event) -> None:
        """A callback is due, or no longer."""
        match event:
            case HookCalled():
                self._open.begin(event.request_id, self._call(event))
            case HookCallWithdrawn():
                self._open.withdraw(event.request_id)
            case _:
                pass

    def close(self) -> None:
        """The session is over."""
        self._open.close()

    async def _call(self, event: HookCalled) -> None:
        request = HookCallbackRequest(callback_id=event.callback_id, input=event.input, tool_use_id=event.call_id)
        try:
            answer = AnswerHookCall(request_id=event.request_id, output=await self._channel.ask(request))
        except NotAnswered as none:
            answer = AnswerHookCall(request_id=event.request_id, error=str(none))
        await self._client.submit(answer)


def callback_hooks(given: dict[str, tuple[HookMatcherGiven, ...]]) -> tuple[CallbackHook, ...]:
    """The registration of a program, a hook for each callback."""
    return tuple(
        CallbackHook(
            callback_id=callback_id,
            moment=moment,
            matcher=matcher.matcher or "",
            timeout_s=matcher.timeout if matcher.timeout is not None else DEFAULT_TIMEOUT_S,
            blocks_on_failure=matcher.on_failure not in (None, "continue"),
        )
        for moment, matchers in given.items()
        for matcher in matchers
        for callback_id in matcher.hook_callback_ids
    )
