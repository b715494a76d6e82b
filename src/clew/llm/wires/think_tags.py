"""Reasoning that a local server left inside the text: a reply that opens with <think> … </think>."""

from collections.abc import Iterator

OPEN, CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits streamed text into thought and speech. Only a block at the very start counts; later tags are text."""

    def __init__(self, *, enabled: bool) -> None:
        self._state = "start" if enabled else "speech"
        self._held = ""

    def feed(self, text: str) -> Iterator[tuple[bool, str]]:
        """Pieces in order, each with whether it is thought. Text that may be half of a tag is held back."""
        if self._state == "speech":
            yield False, text
            return
        self._held += text
        if self._state == "start":
            opening = self._held.lstrip()
            if not opening.startswith(OPEN):
                if OPEN.startswith(opening):
                    return
                self._state = "speech"
                yield False, self._take()
                return
            self._state, self._held = "thought", opening.removeprefix(OPEN)
        yield from self._thought()

    def flush(self) -> Iterator[tuple[bool, str]]:
        """What was held back when the text ended."""
        if self._held:
            yield self._state == "thought", self._take()

    def _thought(self) -> Iterator[tuple[bool, str]]:
        thought, closed, speech = self._held.partition(CLOSE)
        if closed:
            self._state, self._held = "speech", ""
            if thought:
                yield True, thought
            if speech := speech.lstrip("\n"):
                yield False, speech
            return
        keep = next((n for n in range(len(CLOSE) - 1, 0, -1) if self._held.endswith(CLOSE[:n])), 0)
        safe, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        if safe:
            yield True, safe

    def _take(self) -> str:
        held, self._held = self._held, ""
        return held
