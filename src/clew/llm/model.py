"""The port through which the engine and side queries talk to a model."""

from collections.abc import AsyncIterator
from typing import Protocol

from clew.llm.models.target import Thinks
from clew.llm.reply import Reply, ReplyEvent
from clew.llm.request import ModelRequest
from clew.protocol.messages import Message
from clew.protocol.usage import Usage


class Model(Protocol):
    """One model of one provider. Retry lives behind it; nothing above retries a request by itself."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...

    @property
    def thinks(self) -> Thinks:
        """Whether it thinks before it answers, and can be told not to."""
        ...

    @property
    def window(self) -> int:
        """Context window in tokens."""
        ...

    @property
    def max_output_tokens(self) -> int:
        """The largest output cap the model accepts; the default cap of a request may be lower."""
        ...

    @property
    def side_query_timeout_s(self) -> float:
        """How long a side query may take, unless the user says otherwise."""
        ...

    @property
    def side_query_chars(self) -> int:
        """How much text a side query may hold."""
        ...

    @property
    def lifts_text_calls(self) -> bool:
        """Whether a reply that is only a call written as text comes as a call (see `llm.text_calls`)."""
        ...

    def stream(self, request: ModelRequest, *, whole: bool = False) -> AsyncIterator[ReplyEvent]:
        """Ask and yield the reply as it arrives; closing the iterator drops the connection.

        With `whole` the provider is asked for the reply in one piece; the events and their order are the same.
        """
        ...

    async def complete(self, request: ModelRequest) -> Reply:
        """Ask for the reply in one piece; same errors, same retry."""
        ...

    def sent_effort(self, effort: str | None) -> str | None:
        """The effort that a request for this one carries: the nearest that the model takes; None: none."""
        ...

    def history(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages as this model is sent them: repaired, and without reasoning that it may not see."""
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """Price of some usage; None when the price is unknown."""
        ...

    async def close(self) -> None:
        """Drop connections."""
        ...
