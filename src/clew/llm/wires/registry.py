"""Which module speaks which dialect. Only the one in use is imported."""

from clew.llm.providers import Dialect
from clew.llm.wires.base import Wire


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
