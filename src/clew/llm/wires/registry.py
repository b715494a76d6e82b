"""Which module speaks which dialect, knows which platform, reads which framing, gets which key. Only those in use are
imported."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from clew.config.schema import Provider
from clew.llm.http.sse import SseEvent, SseParser
from clew.llm.models.providers import Dialect, Framing, Platform, ProviderRow
from clew.llm.models.target import Target
from clew.llm.wires.base import HttpRequest, Wire

if TYPE_CHECKING:
    from clew.llm.platforms.base import Placement


class PlatformModule(Protocol):
    """A platform, as its module offers it."""

    def placed(self, row: ProviderRow, model: str, override: Provider, env: Mapping[str, str]) -> "Placement":
        """Where requests for this model go. Raises MissingCredential for what is not set."""
        ...

    def lacks(self, row: ProviderRow, override: Provider, env: Mapping[str, str]) -> tuple[str, ...]:
        """What must be set besides the key, in words; empty: nothing."""
        ...


class Parser(Protocol):
    """Bytes in, whole events out."""

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that became whole with these bytes."""
        ...

    def close(self) -> list[SseEvent]:
        """What was still open when the bytes ended."""
        ...


class Credential(Protocol):
    """A key that is not simply there: asked for when it is needed, or made for each request."""

    async def headers(self, request: HttpRequest) -> list[tuple[str, str]]:
        """The headers that authorise this request. Raises MissingCredential."""
        ...

    def renew(self) -> bool:
        """It was refused. True: another one can be had, so asking again makes sense."""
        ...


def wire_for(dialect: Dialect) -> Wire:
    """The wire of a dialect."""
    match dialect:
        case "anthropic":
            from clew.llm.wires import anthropic

            return anthropic
        case "openai-chat":
            from clew.llm.wires import openai_chat

            return openai_chat
        case "openai-responses":
            from clew.llm.wires import openai_responses

            return openai_responses
        case "gemini":
            from clew.llm.wires import gemini

            return gemini


def platform_for(platform: Platform) -> PlatformModule | None:
    """The platform of this name; None: the vendor serves its dialect itself."""
    match platform:
        case "vertex":
            from clew.llm.platforms import vertex

            return vertex
        case "azure":
            from clew.llm.platforms import azure

            return azure
        case "bedrock":
            from clew.llm.platforms import bedrock

            return bedrock
        case "":
            return None


def parser_for(framing: Framing) -> Parser:
    """A parser for one stream."""
    if framing == "sse":
        return SseParser()
    from clew.llm.http.event_stream import EventStreamParser

    return EventStreamParser()


def credential_for(target: Target) -> Credential | None:
    """What authorises the requests of a target; None: its key, as it stands."""
    if target.key_command is None and target.auth != "aws-sigv4":
        return None
    from clew.llm.keys.credentials import credential_of

    return credential_of(target)
