"""What is known about models (window, caps, thinking, caching, images, prices), and the table of known ones, from the
vendors' public lists of November 2026."""

from functools import cache
from typing import Literal

from msgspec import Struct

from clew.protocol.usage import Usage

LEVELS = ("low", "medium", "high", "xhigh", "max")
Thinking = Literal["none", "adaptive", "budget", "level", "effort"]


class Price(Struct, frozen=True, kw_only=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float = 0.0
    long_prompt_tokens: int = 0
    """Prompts above this size cost `long_input` and `long_output` times as much; 0: one price for all."""
    long_input: float = 2.0
    long_output: float = 1.5

    def cost_usd(self, usage: Usage) -> float:
        """Price of the usage of one reply."""
        long = self.long_prompt_tokens and usage.prompt_tokens > self.long_prompt_tokens
        prompt = (
            usage.input_tokens * self.input
            + usage.cache_read_input_tokens * self.cache_read
            + usage.cache_creation_input_tokens * (self.cache_write or self.input)
        )
        factors = (self.long_input, self.long_output) if long else (1.0, 1.0)
        return (prompt * factors[0] + usage.output_tokens * self.output * factors[1]) / 1_000_000


class Profile(Struct, frozen=True, kw_only=True):
    """One model, or a family of models that share these facts."""

    window: int = 128_000
    max_output: int = 32_000
    default_output: int | None = None
    """Cap of a request that names none; None: send no cap and let the server decide."""
    thinking: Thinking = "none"
    """adaptive and budget: Anthropic's forms; budget and level: Gemini's; effort: a level by name."""
    efforts: tuple[str, ...] = ()
    """Accepted levels, lowest first."""
    always_thinks: bool = False
    """It refuses to be told not to."""
    images: bool = True
    documents: bool = False
    cache: bool = False
    """Takes explicit cache breakpoints."""
    sampling: bool = True
    """Accepts a temperature."""
    json_schema: bool = True
    price: Price | None = None

    def clamp_effort(self, effort: str | None) -> str | None:
        """The highest accepted level that is not above the asked one, else the lowest accepted; None: send none."""
        if effort is None or not self.efforts or effort not in LEVELS:
            return None
        wanted = LEVELS.index(effort)
        below = [level for level in self.efforts if LEVELS.index(level) <= wanted]
        return below[-1] if below else self.efforts[0]


UNKNOWN = Profile()
"""A model we know nothing about: no price, no cap sent."""

UNKNOWN_LOCAL = Profile(window=32_768, max_output=8_192, images=False, json_schema=True)
"""A model on this machine that we know nothing about: small window, text only."""


_FOUR = ("low", "medium", "high", "max")
_THREE = ("low", "medium", "high")
_TO_XHIGH = ("low", "medium", "high", "xhigh")


def _claude(
    window: int, output: int, price: Price | None, efforts: tuple[str, ...] = LEVELS, *, always_thinks: bool = False
) -> Profile:
    return Profile(
        window=window,
        max_output=output,
        default_output=32_000,
        thinking="adaptive",
        efforts=efforts,
        always_thinks=always_thinks,
        documents=True,
        cache=True,
        sampling=False,
        price=price,
    )


def _old_claude(output: int, price: Price) -> Profile:
    return Profile(
        window=200_000,
        max_output=output,
        default_output=min(output, 32_000),
        thinking="budget",
        efforts=LEVELS,
        documents=True,
        cache=True,
        price=price,
    )


def _gpt(
    price: Price | None,
    *,
    window: int = 1_050_000,
    efforts: tuple[str, ...] = LEVELS,
    always_thinks: bool = False,
) -> Profile:
    return Profile(
        window=window,
        max_output=128_000,
        default_output=32_000,
        thinking="effort",
        efforts=efforts,
        always_thinks=always_thinks,
        documents=True,
        sampling=False,
        price=price,
    )


def _gemini(
    thinking: Thinking, price: Price | None, efforts: tuple[str, ...] = _THREE, *, always_thinks: bool = False
) -> Profile:
    return Profile(
        window=1_048_576,
        max_output=65_536,
        default_output=32_000,
        thinking=thinking,
        efforts=efforts,
        always_thinks=always_thinks,
        documents=True,
        price=price,
    )


def _open(
    window: int,
    output: int,
    price: Price | None = None,
    efforts: tuple[str, ...] = (),
    *,
    images: bool = False,
    always_thinks: bool = False,
) -> Profile:
    """An open-weight or compatible model."""
    return Profile(
        window=window,
        max_output=output,
        default_output=min(output, 32_000),
        thinking="effort",
        efforts=efforts,
        always_thinks=always_thinks,
        images=images,
        price=price,
    )


def _price(input_: float, output: float, cache_read: float, cache_write: float = 0.0, long: int = 0) -> Price:
    return Price(input=input_, output=output, cache_read=cache_read, cache_write=cache_write, long_prompt_tokens=long)


@cache
def rows() -> tuple[tuple[str, Profile], ...]:
    """Patterns (`*` at the end: any rest) and profiles; the longest matching pattern wins."""
    million, half = 1_000_000, 512_000
    long = 272_000
    two = ("high", "max")
    return (
        ("claude-*", _claude(million, 128_000, None)),
        ("claude-fable-5*", _claude(million, 128_000, _price(10, 50, 1, 12.5), always_thinks=True)),
        ("claude-mythos-5*", _claude(million, 128_000, _price(10, 50, 1, 12.5), always_thinks=True)),
        ("claude-opus-5-5*", _claude(million, 128_000, _price(4, 20, 0.4, 5), always_thinks=True)),
        ("claude-opus-5*", _claude(million, 128_000, _price(5, 25, 0.5, 6.25))),
        ("claude-sonnet-5-5*", _claude(million, 128_000, _price(2, 10, 0.1, 2.5), always_thinks=True)),
        ("claude-sonnet-5*", _claude(million, 128_000, _price(2, 10, 0.2, 2.5))),
        ("claude-haiku-5-5*", _claude(million, 128_000, _price(0.1, 0.5, 0.01, 0.125))),
        ("claude-opus-4-8*", _claude(million, 128_000, _price(5, 25, 0.5, 6.25))),
        ("claude-opus-4-7*", _claude(million, 128_000, _price(5, 25, 0.5, 6.25))),
        ("claude-opus-4-6*", _claude(million, 128_000, _price(5, 25, 0.5, 6.25), _FOUR)),
        ("claude-sonnet-4-6*", _claude(million, 64_000, _price(3, 15, 0.3, 3.75), _THREE)),
        ("claude-opus-4-5*", _old_claude(64_000, _price(5, 25, 0.5, 6.25))),
        ("claude-opus-4*", _old_claude(32_000, _price(15, 75, 1.5, 18.75))),
        ("claude-sonnet-4*", _old_claude(64_000, _price(3, 15, 0.3, 3.75))),
        ("claude-haiku-4-5*", _old_claude(64_000, _price(1, 5, 0.1, 1.25))),
        ("claude-3*", Profile(window=200_000, max_output=8_192, default_output=8_192, cache=True, json_schema=False)),
        ("gpt-*", _gpt(None, window=400_000, always_thinks=True)),
        ("gpt-6-astra*", _gpt(_price(10, 50, 1, 12.5, long))),
        ("gpt-6.1-sol*", _gpt(_price(2, 10, 0.1, 2.5, long), always_thinks=True)),
        ("gpt-6.1-terra*", _gpt(_price(1, 5, 0.05, 1.25, long), always_thinks=True)),
        ("gpt-6-sol*", _gpt(_price(2, 10, 0.2, 2.5, long))),
        ("gpt-6-luna*", _gpt(_price(0.1, 0.5, 0.01, 0.125, long))),
        ("gpt-5.6-sol*", _gpt(_price(4, 20, 0.4, 5, long))),
        ("gpt-5.6-terra*", _gpt(_price(2, 12, 0.2, 2.5, long))),
        ("gpt-5.6-luna*", _gpt(_price(0.2, 1.2, 0.02, 0.25, long))),
        ("gpt-5*", _gpt(_price(1.25, 10, 0.125), window=400_000, efforts=_THREE, always_thinks=True)),
        ("gpt-5-mini*", _gpt(_price(0.25, 2, 0.025), window=400_000, efforts=_THREE, always_thinks=True)),
        ("gpt-5-nano*", _gpt(_price(0.05, 0.4, 0.005), window=400_000, efforts=_THREE, always_thinks=True)),
        ("gpt-5.1*", _gpt(_price(1.25, 10, 0.125), window=400_000, efforts=_THREE)),
        ("gpt-5.2*", _gpt(_price(1.75, 14, 0.175), window=400_000, efforts=_TO_XHIGH)),
        ("gpt-5.3*", _gpt(None, window=400_000, efforts=_TO_XHIGH)),
        ("gpt-5.4*", _gpt(None, window=400_000, efforts=_TO_XHIGH)),
        ("gpt-5.5*", _gpt(None, efforts=_TO_XHIGH)),
        ("gpt-5.6*", _gpt(None)),
        ("gpt-4*", Profile(window=128_000, max_output=16_384, default_output=16_384)),
        ("gpt-4.1*", Profile(window=1_047_576, max_output=32_768, default_output=32_000, price=_price(2, 8, 0.5))),
        ("gpt-4o*", Profile(window=128_000, max_output=16_384, default_output=16_384, price=_price(2.5, 10, 1.25))),
        ("gpt-oss*", _open(131_072, 32_000, None, _THREE, always_thinks=True)),
        ("o1*", _gpt(None, window=200_000, efforts=_THREE, always_thinks=True)),
        ("o3*", _gpt(None, window=200_000, efforts=_THREE, always_thinks=True)),
        ("o4*", _gpt(None, window=200_000, efforts=_THREE, always_thinks=True)),
        ("gemini-*", _gemini("level", None)),
        ("gemini-3-pro*", _gemini("level", _price(2, 12, 0.2, long=200_000), ("low", "high"))),
        ("gemini-3.1-pro*", _gemini("level", _price(2, 12, 0.2, long=200_000))),
        ("gemini-3-flash*", _gemini("level", _price(0.5, 3, 0.05))),
        ("gemini-3.5-flash*", _gemini("level", _price(1.5, 9, 0.15))),
        ("gemini-3.6-flash*", _gemini("level", _price(0.75, 3.75, 0.075))),
        ("gemini-3.7-flash*", _gemini("level", _price(0.75, 3.75, 0.075))),
        ("gemini-3.8-flash*", _gemini("level", _price(0.75, 3.75, 0.075))),
        ("gemini-2.5-pro*", _gemini("budget", _price(1.25, 10, 0.125, long=200_000), always_thinks=True)),
        ("gemini-2.5-flash*", _gemini("budget", _price(0.3, 2.5, 0.03))),
        ("gemini-2.5-flash-lite*", _gemini("budget", _price(0.1, 0.4, 0.01))),
        ("deepseek-*", _open(million, 384_000, None, two)),
        ("deepseek-v4-flash*", _open(million, 384_000, _price(0.14, 0.28, 0.0028), two)),
        ("deepseek-v4-pro*", _open(million, 384_000, _price(0.435, 0.87, 0.003625), two)),
        ("kimi-*", _open(262_144, 32_000, None, images=True, always_thinks=True)),
        ("kimi-k3*", _open(1_048_576, 128_000, _price(3, 15, 0.3), ("max",), images=True, always_thinks=True)),
        ("glm-*", _open(200_000, 128_000)),
        ("glm-5.2*", _open(1_048_576, 128_000, _price(1.4, 4.4, 0.26), two)),
        ("glm-5.3*", _open(1_048_576, 128_000, _price(1.4, 4.4, 0.26), two)),
        ("qwen*", _open(262_144, 32_000)),
        ("qwen3.7*", _open(million, 65_536)),
        ("qwen3-coder*", _open(262_144, 65_536)),
        ("qwen3-coder-plus*", _open(million, 65_536)),
        ("grok-*", _open(half, 64_000, None, _THREE, images=True, always_thinks=True)),
        ("mistral-*", _open(262_144, 32_000, None, images=True)),
        ("devstral-*", _open(262_144, 32_000)),
        ("codestral-*", _open(262_144, 32_000)),
        ("llama-*", _open(131_072, 32_000)),
        ("gemma*", _open(131_072, 8_192, None, images=True)),
    )


def profile_of(model: str, *, local: bool = False) -> Profile:
    """The profile of a model id. Vendor prefixes (`openai/gpt-5`) and tags (`qwen3:8b`) do not matter.

    A model on this machine keeps its family's abilities, but never its price, and not a window that the server's
    own settings rarely allow.
    """
    name = plain_name(model)
    matches = [(pattern, profile) for pattern, profile in rows() if _matches(pattern, name)]
    if not matches:
        return UNKNOWN_LOCAL if local else UNKNOWN
    found = max(matches, key=lambda row: len(row[0]))[1]
    if not local:
        return found
    return Profile(window=UNKNOWN_LOCAL.window, max_output=UNKNOWN_LOCAL.max_output, images=found.images)


def known_models() -> tuple[str, ...]:
    """Model names that stand in the table in full, for suggestions."""
    return tuple(pattern.removesuffix("*") for pattern, _ in rows() if not pattern.endswith("-*"))


def is_known(model: str) -> bool:
    """Whether some row speaks of this model."""
    name = plain_name(model)
    return any(_matches(pattern, name) for pattern, _ in rows())


def plain_name(model: str) -> str:
    """The name as the table spells it; resellers write Claude's versions with dots, Bedrock its vendor in front."""
    name = model.lower().rpartition("/")[2].rpartition("anthropic.")[2]
    return name.replace(".", "-") if name.startswith("claude") else name


def _matches(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
