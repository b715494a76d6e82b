"""What servers offer to people: prompts as slash names, resources as mentions and as tools of the model."""

import asyncio
import re
import shlex
from collections.abc import Callable
from typing import Any

from clew.engine.turn import Content, Expand, Expansion, Turn
from clew.host.part import OpRefused
from clew.mcp.offers import (
    OfferedPrompt,
    OfferedResource,
    bounded,
    prompt_words,
    prompts_of,
    resource_content,
    resources_of,
)
from clew.mcp.ports import CallOutcome, ServerConnection, ServerError
from clew.mcp.resource_tools import ListResources, ReadResource
from clew.mcp.server import McpServer
from clew.mcp.servers import McpServers
from clew.protocol.invocables import InvocableRow
from clew.protocol.messages import TextPart, text_of
from clew.text.terminal_text import sanitize
from clew.tools.base import Tool

MENTION = re.compile(r"(?:^|(?<=[\s(\[{'\"`,;]))@([A-Za-z0-9][A-Za-z0-9_-]*):([^\s\"'`<>]+)")
MAX_MENTIONS = 10
MAX_FOUND = 20


class McpOffers:
    """One per session. Read beside the conversation, when a server is ready and when it says that it changed."""

    def __init__(self, names_changed: Callable[[], None]) -> None:
        self._names_changed = names_changed
        self._prompts: dict[str, tuple[OfferedPrompt, ...]] = {}
        self._resources: dict[str, tuple[OfferedResource, ...]] = {}
        self._known: dict[str, ServerConnection] = {}
        self._tools: dict[str, tuple[Tool[Any], ...]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    def follow(self, server: McpServer) -> tuple[Tool[Any], ...]:
        """A server's state is another now. The tools for its resources."""
        connection = server.connection
        if connection is None:
            self._known.pop(server.name, None)
            self._tools.pop(server.name, None)
            self._resources.pop(server.name, None)
            if self._prompts.pop(server.name, None):
                self._names_changed()
            return ()
        if self._known.get(server.name) is not connection:
            self._known[server.name] = connection
            server.on_list_changed[:] = [lambda _: self._read(server)]
            self._read(server)
        if "resources" not in connection.facts.offers:
            return ()
        if server.name not in self._tools:
            self._tools[server.name] = (ListResources(server), ReadResource(server))
        return self._tools[server.name]

    def _read(self, server: McpServer) -> None:
        task = asyncio.ensure_future(self._reads(server))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _reads(self, server: McpServer) -> None:
        connection = server.connection
        if connection is None:
            return
        try:
            if "prompts" in connection.facts.offers:
                self._prompts[server.name] = found = await prompts_of(connection)
                server.prompts = len(found)
                self._names_changed()
            if "resources" in connection.facts.offers:
                self._resources[server.name] = resources = await resources_of(connection)
                server.resources = len(resources)
        except ServerError:
            return  # what was known counts on; the state of the server tells what is wrong

    async def settled(self, limit_s: float) -> None:
        """Until what is being read was read, but not for ever."""
        if self._reading:
            await asyncio.wait(set(self._reading), timeout=limit_s)

    async def close(self) -> None:
        """The session ends."""
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    # Prompts: slash names of people.

    def rows(self) -> tuple[InvocableRow, ...]:
        """One for each prompt."""
        return tuple(
            InvocableRow(
                name=prompt_name(server, prompt.name),
                kind="prompt",
                level="server",
                description=sanitize(prompt.description, one_line=True),
                argument_hint=" ".join(
                    f"<{one.name}>" if one.required else f"[{one.name}]" for one in prompt.arguments
                ),
                source=f"server {server}",
            )
            for server, prompts in self._prompts.items()
            for prompt in prompts
        )

    def expansion(self, row: InvocableRow, arguments: str, servers: McpServers) -> Expand:
        """What the server makes of it, when it joins. Raises OpRefused for arguments that do not fit."""
        for server, prompts in self._prompts.items():
            for prompt in prompts:
                if prompt_name(server, prompt.name) == row.name:
                    return self._expand(server, prompt, given_arguments(prompt, arguments), servers)
        raise OpRefused(f"/{row.name} is not there any more")

    def _expand(self, server: str, prompt: OfferedPrompt, given: dict[str, str], servers: McpServers) -> Expand:
        async def expand(_turn: Turn) -> Expansion:
            connection = servers.servers[server].connection if server in servers.servers else None
            if connection is None:
                return Expansion(refused=f"the MCP server {server} is not connected, so its prompt cannot be asked for")
            try:
                outcome = await prompt_words(connection, prompt.name, given)
            except ServerError as error:
                return Expansion(refused=f"{server}: {error}")
            head = f"The user chose the prompt {prompt.name!r} of the MCP server {server}. It says:"
            return Expansion(content=framed(head, outcome))

        return expand

    # Resources: mentions of people.

    def found(self, query: str) -> tuple[str, ...]:
        """Mentions that begin so: `server:address`."""
        wanted = query.casefold()
        known = (
            f"{server}:{one.uri}"
            for server, resources in self._resources.items()
            for one in resources
            if not one.template
        )
        return tuple(sanitize(one, one_line=True) for one in known if wanted and wanted in one.casefold())[:MAX_FOUND]

    def mentioned(self, content: Content, servers: McpServers) -> Expand | None:
        """What is to be read for the resources that a prompt names; None: it names none."""
        pairs = dict.fromkeys(found.groups() for found in MENTION.finditer(text_of(content)))
        named = [(server, uri.rstrip(".,;)]}")) for server, uri in pairs if server in servers.servers and ":" in uri]
        if not named:
            return None

        async def expand(_turn: Turn) -> Expansion:
            parts: list[Any] = []
            for server, uri in named[:MAX_MENTIONS]:
                parts += await self._attached(server, uri, servers)
            return Expansion(content=tuple(parts))

        return expand

    async def _attached(self, server: str, uri: str, servers: McpServers) -> tuple[Any, ...]:
        servers.begin()
        await servers.settled(10.0, (server,))
        connection = servers.servers[server].connection if server in servers.servers else None
        if connection is None:
            return (TextPart(text=f"(The resource {uri} was not read: the MCP server {server} is not connected.)"),)
        try:
            outcome = bounded(await resource_content(connection, uri))
        except ServerError as error:
            return (TextPart(text=f"(The resource {uri} of {server} was not read: {error})"),)
        return framed(f"The user mentions @{server}:{uri}, a resource of the MCP server {server}. It holds:", outcome)


PROMPT_PREFIX = "mcp__"


def prompt_name(server: str, prompt: str) -> str:
    """`mcp__server__prompt`, as it is typed."""
    return f"{PROMPT_PREFIX}{server}__{re.sub(r'[^A-Za-z0-9_.:-]', '_', prompt)[:64]}"


def given_arguments(prompt: OfferedPrompt, typed: str) -> dict[str, str]:
    """What was typed, by the names of the arguments: one word each, or in quotes; the last one gets the rest. Raises
    OpRefused."""
    try:
        words = shlex.split(typed)
    except ValueError as error:
        raise OpRefused(f"the arguments are not understood: {error}") from error
    names = [one.name for one in prompt.arguments]
    if names and len(words) > len(names):
        words = [*words[: len(names) - 1], " ".join(words[len(names) - 1 :])]
    if words and not names:
        raise OpRefused("this prompt takes no arguments")
    missing = [one.name for one in prompt.arguments[len(words) :] if one.required]
    if missing:
        raise OpRefused(f"{missing[0]} is missing")
    return dict(zip(names, words, strict=False))


def framed(head: str, outcome: CallOutcome) -> tuple[Any, ...]:
    """Somebody else's words, marked as such, with what belongs to them."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", outcome.text))])
    return (TextPart(text=f"{head}\n{fence}\n{outcome.text}\n{fence}"), *outcome.media)
