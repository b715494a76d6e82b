"""Tools that only some sessions have, decided once when the session starts: a search among tools that come later, and
one for the shape of an answer. `assembly/parts.py` loads this where either is wanted."""

from typing import Any

import msgspec

from clew.config.errors import SettingsError
from clew.engine.middleware.structured_output import StructuredOutputCheck
from clew.engine.middleware.tool_news import ToolNews
from clew.host.part import MoreTools
from clew.llm.estimate import estimate_text
from clew.protocol.entries import SystemPromptEntry
from clew.protocol.meant_calls import ToolSpec
from clew.tools.builtin.search_tools import CallTool, SearchTools
from clew.tools.builtin.structured_output import StructuredOutput
from clew.tools.deferred.told_tools import told_spec
from clew.tools.deferred.tool_news import MAX_BYTES
from clew.tools.schemas.answer_schema import AnswerSchema
from clew.tools.schemas.keywords import SchemaError
from clew.tools.toolset import LateTools

AUTO_PERCENT = 10
SMALL_NEWS_BYTES = 500


def tool_search(
    mode: str, late: LateTools | None, began: SystemPromptEntry | None, *, window: int, small: bool
) -> MoreTools:
    """As the session began, where it goes on; else by the mode. `late`: who may bring tools later, None: nobody.
    `small`: the model has little room for news."""
    if began is not None and (began.searched or began.told):
        searched, told = began.searched, began.told
    else:
        searched, told = mode != "off", told_in_full(mode, late, window=window)
    if not searched:
        return MoreTools(told=told)
    news = ToolNews(max_bytes=SMALL_NEWS_BYTES if small else MAX_BYTES)
    return MoreTools(tools=(SearchTools(), CallTool()), told=told, middlewares=(news,), searched=True)


def told_in_full(mode: str, late: LateTools | None, *, window: int) -> tuple[ToolSpec, ...]:
    """The tools known by now, where the mode wants them in the list from the first request on."""
    if mode == "on" or late is None:
        return ()
    specs = tuple(told_spec(tool.spec()) for tool in sorted(late.known_tools(), key=lambda tool: tool.name))
    if mode == "off":
        return specs
    _, _, percent = mode.partition(":")
    share = int(percent) if percent else AUTO_PERCENT
    size = estimate_text(msgspec.json.encode(specs).decode()) if specs else 0
    return specs if share == 100 or (size <= window * share / 100 and share) else ()


def output_tools(schema: dict[str, Any]) -> MoreTools:
    """The tool that takes the output, and what sees to it that there is one. Raises SettingsError."""
    try:
        shape = AnswerSchema(schema)
    except SchemaError as error:
        raise SettingsError(f"--json-schema: {error}") from error
    return MoreTools(tools=(StructuredOutput(shape),), middlewares=(StructuredOutputCheck(shape),))
