"""How many tokens some text will be, when no provider has counted it yet.

Pieces of text get fixed weights, apart by script; what a model's own counts say about earlier estimates corrects them,
for each script by itself. The provider's usage is the truth: only what was added since is estimated.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from msgspec import Struct

from clew.llm.request import ModelRequest
from clew.protocol.meant_calls import ToolSpec
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
    arguments_of,
    parts_of,
)

IMAGE_TOKENS = 1_600
DOCUMENT_CHARS_PER_TOKEN = 60
"""Base64 of a PDF is far larger than the text and page images a model makes of it."""
MESSAGE_TOKENS = 4
LEARNING_RATE = 0.3
MIN_SAMPLE = 200
RATIO_RANGE = (0.4, 3.0)

WORD_LETTERS = 7
FURTHER_LETTER = 0.2
NEWLINE = CJK = OTHER_LETTER = 0.75
PUNCTUATION = 0.65
FURTHER_MARK = 1 / 12
"""Rulers and dots in a row are few tokens."""

WHOLE_CHARS, SAMPLES, SAMPLE_CHARS = 60_000, 40, 1_000
"""Reading all of a very long text would take longer than the answer is worth."""

Script = Literal["latin", "cjk", "other"]
SCRIPTS: tuple[Script, ...] = ("latin", "cjk", "other")


class Weights(Struct, frozen=True):
    """Raw tokens of something, by script; `fixed` has no script: media, signatures, the frame of a message."""

    latin: float = 0.0
    cjk: float = 0.0
    other: float = 0.0
    fixed: float = 0.0

    @property
    def total(self) -> float:
        """All of it, before any correction."""
        return self.latin + self.cjk + self.other + self.fixed

    @property
    def written(self) -> float:
        """What is text."""
        return self.latin + self.cjk + self.other

    def __add__(self, more: "Weights") -> "Weights":
        return Weights(self.latin + more.latin, self.cjk + more.cjk, self.other + more.other, self.fixed + more.fixed)

    def __sub__(self, less: "Weights") -> "Weights":
        return Weights(self.latin - less.latin, self.cjk - less.cjk, self.other - less.other, self.fixed - less.fixed)


FRAME = Weights(fixed=MESSAGE_TOKENS)
"""What every message costs beside its parts."""


@cache
def _pieces() -> re.Pattern[str]:
    """Groups: word, digits, run of one mark, the mark, another mark or a letter of another script, newline, spaces."""
    return re.compile(r"([A-Za-z]+)|(\d{1,3})|(([^\w\s])\4{3,})|([^\sA-Za-z\d])|(\s*\n\s*)|(\s{2,})")


def weigh_text(text: str) -> Weights:
    """Raw tokens of a text, by script; of a long one by samples from all of it."""
    if len(text) <= WHOLE_CHARS:
        return _weigh(text)
    step = len(text) / SAMPLES
    sampled = [_weigh(text[start : start + SAMPLE_CHARS]) for start in (int(n * step) for n in range(SAMPLES))]
    found, scale = weigh_all(sampled), len(text) / (SAMPLES * SAMPLE_CHARS)
    return Weights(found.latin * scale, found.cjk * scale, found.other * scale)


def _weigh(text: str) -> Weights:
    latin = cjk = other = 0.0
    for word, digits, run, mark, letter, newline, spaces in _pieces().findall(text):
        if word:
            extra = len(word) - WORD_LETTERS
            latin += 1.0 if extra <= 0 else 1.0 + FURTHER_LETTER * extra
        elif run:
            few = 1.0 + FURTHER_MARK * len(run)
            if mark < "\u0250":
                latin += few
            else:
                other += few
        elif letter:
            if letter < "\u0250":
                latin += PUNCTUATION
            elif _is_cjk(letter):
                cjk += CJK
            else:
                other += OTHER_LETTER
        elif newline:
            latin += NEWLINE
        elif digits or spaces:
            latin += 1.0
    return Weights(latin, cjk, other)


def _is_cjk(char: str) -> bool:
    return (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7ff"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or "\U00020000" <= char < "\U00040000"
    )


def weigh_part(part: Part) -> Weights:
    """Raw tokens of one part of a message."""
    match part:
        case TextPart():
            return weigh_text(part.text)
        case ReasoningPart():
            return weigh_text(part.text) + Weights(fixed=len(part.signature) / 4)
        case RedactedReasoningPart():
            return Weights(fixed=len(part.data) / 4)
        case ToolCallPart():
            return FRAME + weigh_text(part.name) + weigh_text(str(arguments_of(part)))
        case ToolResultPart():
            content = part.content
            return FRAME + (weigh_text(content) if isinstance(content, str) else weigh_all(map(weigh_part, content)))
        case ImagePart():
            return Weights(fixed=IMAGE_TOKENS)
        case DocumentPart() if part.source.type == "text":
            return weigh_text(part.source.data)
        case DocumentPart():
            return Weights(fixed=len(part.source.data) / DOCUMENT_CHARS_PER_TOKEN)


def weigh_tool(tool: ToolSpec) -> Weights:
    """Raw tokens of what a model is told of a tool."""
    return FRAME + weigh_text(tool.name) + weigh_text(tool.description) + weigh_text(str(tool.schema))


def weigh_all(weights: Iterable[Weights]) -> Weights:
    """The sum."""
    latin = cjk = other = fixed = 0.0
    for one in weights:
        latin += one.latin
        cjk += one.cjk
        other += one.other
        fixed += one.fixed
    return Weights(latin, cjk, other, fixed)


def estimate_text(text: str) -> float:
    """Tokens of a text, before any correction."""
    return weigh_text(text).total


def estimate_part(part: Part) -> float:
    """Tokens of one part of a message, before any correction."""
    return weigh_part(part).total


def estimate_message(message: Message) -> float:
    """Tokens of a message, before any correction."""
    return MESSAGE_TOKENS + sum(estimate_part(part) for part in parts_of(message))


def estimate_request(request: ModelRequest) -> int:
    """Tokens that a model reads for a request: its system prompt, its tools and its history."""
    system = sum(estimate_text(text) for text in request.system)
    tools = sum(weigh_tool(tool).total for tool in request.tools)
    return round(system + tools + sum(map(estimate_message, request.messages)))


class TokenEstimator:
    """Estimates with a ratio per model and script, learned from what the provider counted."""

    def __init__(self) -> None:
        self._ratios: dict[str, dict[Script, float]] = {}

    def knows(self, model: str) -> bool:
        """Whether anything was learned of this model."""
        return model in self._ratios

    def ratio(self, model: str, script: Script = "latin") -> float:
        """Actual tokens per raw token; 1 until something was learned."""
        return self._ratios.get(model, {}).get(script, 1.0)

    def tokens(self, model: str, weights: Weights) -> float:
        """Raw weights as tokens of this model."""
        ratios = self._ratios.get(model)
        if ratios is None:
            return weights.total
        return (
            weights.latin * ratios["latin"]
            + weights.cjk * ratios["cjk"]
            + weights.other * ratios["other"]
            + weights.fixed
        )

    def learn(self, model: str, weights: Weights, *, actual: int) -> None:
        """Move the ratios towards what was counted: each script answers for the error by its share of the sample, so
        that Chinese corrects Chinese. Tiny samples say nothing, and neither do samples that are mostly media."""
        if weights.written < MIN_SAMPLE or weights.fixed > weights.written or actual <= weights.fixed:
            return
        first = model not in self._ratios
        ratios = self._ratios.setdefault(model, dict.fromkeys(SCRIPTS, 1.0))
        error = actual - self.tokens(model, weights)
        parts: dict[Script, float] = {"latin": weights.latin, "cjk": weights.cjk, "other": weights.other}
        square = sum(part * part for part in parts.values())
        low, high = RATIO_RANGE
        for script, part in parts.items():
            moved = ratios[script] + (1.0 if first else LEARNING_RATE) * error * part / square
            ratios[script] = min(high, max(low, moved))
