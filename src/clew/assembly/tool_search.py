"""Tools that only some sessions have: a search among tools that come later, and one for the shape of an answer. Both
are decided once, when the session starts."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from clew.config.errors import SettingsError
from clew.engine.middleware.base import Middleware
from clew.llm.estimate import estimate_text
from clew.llm.model import Model
from clew.protocol.entries import Entry, SystemPromptEntry
from clew.protocol.tools import ToolSpec
from clew.tools.base import Tool
from clew.tools.toolset import LateTools, ToolSet

SMALL_WINDOW = 16_000
"""Tokens. Below that all tools and the whole prompt would take too much of it."""


def is_small(window: int) -> bool:
    """Whether a session that starts with such a window needs the small set."""
    return window < SMALL_WINDOW


def small_words(model: Model, *, chosen: bool) -> str:
    """The line that tells a person. `chosen`: the tools are those that were asked for."""
    tools = "the tools you named" if chosen else "Read, Edit, Write, Bash and Grep only (--tools names others)"
    return f"{model.name} has a window of {model.window:,} tokens: a short prompt, and {tools}"


AUTO_PERCENT = 10
SMALL_NEWS_BYTES = 500


class ToolSearch(Struct, kw_only=True):
    """What a session gets of it: nothing, where no tool can come later."""

    tools: tuple[Tool[Any], ...] = ()
    told: tuple[ToolSpec, ...] = ()
    """Tools that come and go, told in full."""
    middlewares: tuple[Middleware, ...] = ()
    searched: bool = False

    def attach(self, tools: ToolSet) -> None:
        """The set of the session is there."""
        for tool in self.tools:
            look = getattr(tool, "look_through", None)
            if look is not None:
                look(tools)


def tool_search(
    mode: str, late: LateTools | None, past: Sequence[Entry], *, window: int, small: bool = False
) -> ToolSearch:
    """As the session began, where it goes on; else by the mode. `late`: who may bring tools later, None: nobody.
    `small`: the model has little room for news."""
    began = next((entry for entry in reversed(past) if isinstance(entry, SystemPromptEntry)), None)
    if late is None and (began is None or not (began.searched or began.told)):
        return ToolSearch()
    if began is not None and (began.searched or began.told):
        searched, told = began.searched, began.told
    else:
        searched, told = mode != "off", told_in_full(mode, late, window=window)
    return parts(told, searched=searched, small=small)


def parts(told: tuple[ToolSpec, ...], *, searched: bool, small: bool) -> ToolSearch:
    """Loaded only where tools are searched for."""
    if not searched:
        return ToolSearch(told=told)
    from clew.engine.middleware.tool_news import ToolNews
    from clew.tools.builtin.call_tool import CallTool
    from clew.tools.builtin.search_tools import SearchTools
    from clew.tools.deferred.tool_news import MAX_BYTES

    news = ToolNews(max_bytes=SMALL_NEWS_BYTES if small else MAX_BYTES)
    return ToolSearch(tools=(SearchTools(), CallTool()), told=told, middlewares=(news,), searched=True)


def told_in_full(mode: str, late: LateTools | None, *, window: int) -> tuple[ToolSpec, ...]:
    """The tools known by now, where the mode wants them in the list from the first request on."""
    if mode == "on" or late is None:
        return ()
    from clew.tools.deferred.told_tools import told_spec

    specs = tuple(told_spec(tool.spec()) for tool in sorted(late.known_tools(), key=lambda tool: tool.name))
    if mode == "off":
        return specs
    _, _, percent = mode.partition(":")
    share = int(percent) if percent else AUTO_PERCENT
    size = estimate_text(msgspec.json.encode(specs).decode()) if specs else 0
    return specs if share == 100 or (size <= window * share / 100 and share) else ()


class OutputParts(Struct, frozen=True, kw_only=True):
    """Nothing, where answers are free."""

    tools: tuple[Tool[Any], ...] = ()
    middlewares: tuple[Middleware, ...] = ()


def output_parts(schema: dict[str, Any] | None) -> OutputParts:
    """The tool that takes the output, and what sees to it that there is one. Raises SettingsError."""
    if schema is None:
        return OutputParts()
    from clew.engine.middleware.structured_output import StructuredOutputCheck
    from clew.tools.builtin.structured_output import StructuredOutput
    from clew.tools.schemas.answer_schema import AnswerSchema
    from clew.tools.schemas.keywords import SchemaError

    try:
        shape = AnswerSchema(schema)
    except SchemaError as error:
        raise SettingsError(f"--json-schema: {error}") from error
    return OutputParts(tools=(StructuredOutput(shape),), middlewares=(StructuredOutputCheck(shape),))
