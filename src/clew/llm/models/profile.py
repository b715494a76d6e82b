"""What can be known about a model: window, output caps, thinking, caching, images, prices."""

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
