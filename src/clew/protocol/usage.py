"""Token counts, in the four kinds that are priced apart."""

from msgspec import Struct


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of one reply or of many. No kind is contained in another."""

    input_tokens: int = 0
    """Uncached input only."""
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
        )

    def __sub__(self, earlier: "Usage") -> "Usage":
        """What was added since."""
        return Usage(
            input_tokens=self.input_tokens - earlier.input_tokens,
            output_tokens=self.output_tokens - earlier.output_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens - earlier.cache_creation_input_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens - earlier.cache_read_input_tokens,
        )

    @property
    def prompt_tokens(self) -> int:
        """Everything the model read: the size of the context at that request."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
