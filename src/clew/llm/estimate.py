"""How many tokens some text will be, when no provider has counted it yet.

Pieces of text get fixed weights; what a model's own counts say about earlier estimates corrects them. The provider's
usage is the truth: only what was added since is estimated.
"""

import re
from functools import cache

from clew.llm.request import ModelRequest
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    parts_of,
)

MARGIN = 1.1
IMAGE_TOKENS = 1_600
DOCUMENT_CHARS_PER_TOKEN = 60
"""Base64 of a PDF is far larger than the text and page images a model makes of it."""
MESSAGE_TOKENS = 4
LEARNING_RATE = 0.3
RATIO_RANGE = (0.5, 3.0)

WORD_LETTERS = 7
FURTHER_LETTER = 0.2
NEWLINE = CJK = 0.75
PUNCTUATION = 0.65


@cache
def _pieces() -> re.Pattern[str]:
    """Groups: word, digits, other (a mark or a letter of another script), newline, run of spaces."""
    return re.compile(r"([A-Za-z]+)|(\d{1,3})|([^\sA-Za-z\d])|(\s*\n\s*)|(\s{2,})")


def estimate_text(text: str) -> float:
    """Tokens of a text, before any correction."""
    total = 0.0
    for word, digits, other, newline, spaces in _pieces().findall(text):
        if word:
            extra = len(word) - WORD_LETTERS
            total += 1.0 if extra <= 0 else 1.0 + FURTHER_LETTER * extra
        elif other:
            total += PUNCTUATION if other < "\u0250" else CJK
        elif newline:
            total += NEWLINE
        elif digits or spaces:
            total += 1.0
    return total


def estimate_part(part: Part) -> float:
    """Tokens of one part of a message."""
    match part:
        case TextPart():
            return estimate_text(part.text)
        case ReasoningPart():
            return estimate_text(part.text) + len(part.signature) / 4
        case RedactedReasoningPart():
            return len(part.data) / 4
        case ToolCallPart():
            return MESSAGE_TOKENS + estimate_text(part.name) + estimate_text(str(part.arguments))
        case ToolResultPart():
            content = part.content
            inner = estimate_text(content) if isinstance(content, str) else sum(map(estimate_part, content))
            return MESSAGE_TOKENS + inner
        case ImagePart():
            return IMAGE_TOKENS
        case DocumentPart():
            return len(part.source.data) / DOCUMENT_CHARS_PER_TOKEN


def estimate_message(message: Message) -> float:
    """Tokens of a message."""
    return MESSAGE_TOKENS + sum(estimate_part(part) for part in parts_of(message))


def estimate_request(request: ModelRequest) -> int:
    """Tokens that a model reads for a request: its system prompt, its tools and its history."""
    system = sum(estimate_text(text) for text in request.system)
    tools = sum(
        MESSAGE_TOKENS + estimate_text(tool.name) + estimate_text(tool.description) + estimate_text(str(tool.schema))
        for tool in request.tools
    )
    return round(system + tools + sum(map(estimate_message, request.messages)))


class TokenEstimator:
    """Estimates with a ratio per model, learned from what the provider counted."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}

    def ratio(self, model: str) -> float:
        """Actual tokens per estimated token; 1 until something was learned."""
        return self._ratios.get(model, 1.0)

    def learn(self, model: str, *, estimated: float, actual: int) -> None:
        """Move the ratio towards what was seen. Tiny samples say nothing."""
        if estimated < 200 or actual <= 0:
            return
        low, high = RATIO_RANGE
        seen = min(high, max(low, actual / estimated))
        known = self._ratios.get(model)
        self._ratios[model] = seen if known is None else known + LEARNING_RATE * (seen - known)

    def tokens(self, model: str, raw: float, *, margin: bool = True) -> int:
        """A raw estimate as tokens of this model, by default with a margin on the safe side."""
        return round(raw * self.ratio(model) * (MARGIN if margin else 1.0))
