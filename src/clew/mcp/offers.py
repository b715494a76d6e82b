"""What a server offers beside tools: prompts for people, and resources to list and read. All of it bounded."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from clew.mcp import extras
from clew.mcp.ports import CallOutcome, ServerConnection, ServerError
from clew.mcp.server import McpServer

MAX_PAGES = 20
MAX_PROMPTS = 200
MAX_RESOURCES = 1_000
MAX_TEXT_CHARS = 100_000
"""Of a prompt, or of a resource that somebody mentioned."""
MAX_WORDS_CHARS = 300


class PromptArgument(Struct, frozen=True, kw_only=True):
    """Something that a prompt wants to know."""

    name: str
    required: bool = False


class OfferedPrompt(Struct, frozen=True, kw_only=True):
    """One prompt in the words of its server: untrusted."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class OfferedResource(Struct, frozen=True, kw_only=True):
    """One resource, or with `template` a form of addresses, in the words of its server: untrusted."""

    uri: str
    name: str = ""
    description: str = ""
    kind: str = ""
    template: bool = False


async def prompts_of(connection: ServerConnection) -> tuple[OfferedPrompt, ...]:
    """All its prompts. Raises ServerError."""
    found: list[OfferedPrompt] = []
    for one in await _pages(connection, "list_prompts", "prompts", MAX_PROMPTS):
        arguments = tuple(
            PromptArgument(name=given.name[:MAX_WORDS_CHARS], required=bool(given.required))
            for given in one.arguments or ()
        )
        words = (one.description or one.title or "")[:MAX_WORDS_CHARS]
        found.append(OfferedPrompt(name=one.name[:MAX_WORDS_CHARS], description=words, arguments=arguments))
    return tuple(found)


async def count_offers(server: McpServer) -> None:
    """Ask a server that is connected how much it offers beside tools; what it does not answer stays as it was."""
    connection = server.connection
    with suppress(ServerError):
        if connection is not None and "prompts" in connection.facts.offers:
            server.prompts = len(await prompts_of(connection))
        if connection is not None and "resources" in connection.facts.offers:
            server.resources = len(await resources_of(connection))


async def resources_of(connection: ServerConnection) -> tuple[OfferedResource, ...]:
    """All its resources and forms of addresses. Raises ServerError."""
    found = [
        OfferedResource(uri=str(one.uri), name=one.name, description=one.description or "", kind=one.mime_type or "")
        for one in await _pages(connection, "list_resources", "resources", MAX_RESOURCES)
    ]
    try:
        forms = await _pages(connection, "list_resource_templates", "resource_templates", MAX_RESOURCES)
    except ServerError:
        forms = []  # older servers have none, and say so by an error
    for one in forms:
        found.append(
            OfferedResource(uri=one.uri_template, name=one.name, description=one.description or "", template=True)
        )
    return tuple(found)


async def prompt_words(connection: ServerConnection, name: str, arguments: Mapping[str, str]) -> CallOutcome:
    """What a prompt says with these arguments. Raises ServerError."""
    said = await connection.ask(lambda client: client.get_prompt(name, dict(arguments)))
    found = extras.results().Collected()
    for message in said.messages[:MAX_RESOURCES]:
        found.add(message.content)
    return bounded(found.outcome(is_error=False))


async def resource_content(connection: ServerConnection, uri: str) -> CallOutcome:
    """What a resource holds. Raises ServerError."""
    said = await connection.ask(lambda client: client.read_resource(uri))
    return extras.results().resource_outcome(said.contents)


def bounded(outcome: CallOutcome) -> CallOutcome:
    """Cut where it is too long to be sent along; what is cut is said."""
    if len(outcome.text) <= MAX_TEXT_CHARS:
        return outcome
    left = len(outcome.text) - MAX_TEXT_CHARS
    text = f"{outcome.text[:MAX_TEXT_CHARS]}\n[{left:,} more characters are left out]"
    return CallOutcome(text=text, media=outcome.media, is_error=outcome.is_error)


async def _pages(connection: ServerConnection, method: str, field: str, most: int) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await _page(connection, method, cursor)
        found += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None or len(found) >= most:
            break
    return found[:most]


async def _page(connection: ServerConnection, method: str, cursor: str | None) -> Any:
    return await connection.ask(lambda client: getattr(client, method)(cursor=cursor))
