"""WebSearch: there only when a provider offers it."""

from typing import ClassVar

from msgspec import Struct

from clew.permissions.access import Access, FetchAccess
from clew.protocol.display import TableBlock
from clew.tools.base import ToolContext, ToolResult
from clew.tools.builtin import BuiltinTool
from clew.tools.paths import problem
from clew.tools.web_fetch import frame


class WebSearchParams(Struct, frozen=True, kw_only=True):
    """What to look for."""

    query: str


class WebSearch(BuiltinTool[WebSearchParams]):
    """Ask the session's search provider."""

    name = "WebSearch"
    params: ClassVar[type[Struct]] = WebSearchParams

    def is_concurrency_safe(self, params: WebSearchParams) -> bool:
        return True

    def accesses(self, params: WebSearchParams, context: ToolContext) -> tuple[Access, ...]:
        assert self.session.search is not None
        return (FetchAccess(url=self.session.search.url),)

    async def run(self, params: WebSearchParams, context: ToolContext) -> ToolResult:
        provider = self.session.search
        if provider is None or not params.query.strip():
            return problem("There is nothing to search for." if provider else "No provider offers web search.")
        try:
            hits = await provider.search(params.query)
        except OSError as error:
            return problem(f"The search failed: {error}.")
        if not hits:
            return ToolResult(text=f"No results for {params.query!r}.")
        lines = [f"{number}. {hit.title}\n   {hit.url}\n   {hit.snippet}" for number, hit in enumerate(hits, 1)]
        rows = tuple((hit.title, hit.url) for hit in hits)
        text = frame("\n".join(lines), f"Results of {provider.name} for {params.query!r}.")
        return ToolResult(text=text, display=(TableBlock(columns=("title", "url"), rows=rows),))
