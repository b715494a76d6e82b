"""Token counts in the words of each dialect. Counts may come early, late or again: the last value of a field wins."""

from typing import Any

from clew.llm.reply import UsageSeen
from clew.llm.wires.base import Json, obj
from clew.protocol.usage import Usage


class UsageTally:
    """Collects what a provider says about one reply. Nothing said: no usage, which is not zero."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._told: Usage | None = None

    def news(self) -> list[UsageSeen]:
        """What became known since the last time."""
        usage = self.usage
        if usage is None or usage == self._told:
            return []
        self._told = usage
        return [UsageSeen(usage=usage)]

    @property
    def usage(self) -> Usage | None:
        """The four kinds, none contained in another, none negative."""
        if not self._counts:
            return None
        count = self._counts.get
        read, written = count("read", 0), count("written", 0)
        fresh = count("input", 0)
        if "prompt" in self._counts:  # these providers count cached tokens inside the prompt
            fresh = max(0, self._counts["prompt"] - read - written)
        return Usage(
            input_tokens=fresh,
            output_tokens=count("output", 0) + count("thoughts", 0),
            cache_creation_input_tokens=written,
            cache_read_input_tokens=read,
        )

    def anthropic(self, usage: Json) -> None:
        """Uncached input is given apart."""
        self._set("input", usage.get("input_tokens"))
        self._set("output", usage.get("output_tokens"))
        self._set("written", usage.get("cache_creation_input_tokens"))
        self._set("read", usage.get("cache_read_input_tokens"))

    def chat(self, usage: Json) -> None:
        """Cached tokens are part of the prompt, under one of three names."""
        details = obj(usage.get("prompt_tokens_details"))
        self._set("prompt", usage.get("prompt_tokens"))
        self._set("output", usage.get("completion_tokens"))
        for value in (usage.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), details.get("cached_tokens")):
            self._set("read", value)
        self._set("written", details.get("cache_write_tokens"))

    def responses(self, usage: Json) -> None:
        """As chat, with other names."""
        details = obj(usage.get("input_tokens_details"))
        self._set("prompt", usage.get("input_tokens"))
        self._set("output", usage.get("output_tokens"))
        self._set("read", details.get("cached_tokens"))
        self._set("written", details.get("cache_write_tokens"))

    def gemini(self, usage: Json) -> None:
        """Cached tokens are part of the prompt; thoughts are output, counted apart from the candidates."""
        self._set("prompt", usage.get("promptTokenCount"))
        self._set("read", usage.get("cachedContentTokenCount"))
        self._set("output", usage.get("candidatesTokenCount"))
        self._set("thoughts", usage.get("thoughtsTokenCount"))

    def _set(self, name: str, value: Any) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._counts[name] = max(0, int(value))
