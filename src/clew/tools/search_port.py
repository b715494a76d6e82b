"""The port for web search: a provider that offers it plugs in here; without one the tool does not exist."""

from typing import Protocol

from msgspec import Struct


class SearchHit(Struct, frozen=True, kw_only=True):
    """One result."""

    title: str
    url: str
    snippet: str = ""


class SearchProvider(Protocol):
    """Something that can search the web."""

    name: str
    url: str
    """Where queries are sent; judged like every other request."""

    async def search(self, query: str) -> tuple[SearchHit, ...]:
        """The best results first. Raises OSError when it cannot be reached."""
        ...
