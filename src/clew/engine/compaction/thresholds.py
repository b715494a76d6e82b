"""Where a window counts as filling, full and overfull: numbers from its size alone (table in docs/compaction.md)."""

import math

from msgspec import Struct

from clew.config.schema import Compaction

RESERVE = 20_000
"""Kept free for the reply that is being asked for."""
RESERVE_SHARE = 4
"""At most a quarter of the window."""
AUTO_BUFFER = 13_000
WARN_BUFFER = 20_000
HARD_BUFFER = 3_000
GROWTH = 15_000
"""What the results of one turn add, beside its reply."""
DEFAULT_FRACTION = 0.85
BUFFERED_WINDOW = 128_000
"""The smallest window that the distance to the brim is meant for; smaller ones get their share of it."""
GROWING_WINDOW = 200_000
"""The same for the growth of one turn."""


class Thresholds(Struct, frozen=True, kw_only=True):
    """Tokens of a request at which something is done. All zero: no window, nothing is ever done."""

    window: int
    effective: int
    """The window without what the reply needs."""
    warn: int
    auto: int
    """Compaction comes by itself."""
    hard: int
    """No request is made without it."""
    blocking: int
    """With automatic compaction off: nothing is sent from here on."""
    growth: int
    """What one turn is expected to add."""

    def predicts(self, tokens: int) -> bool:
        """Whether a turn that begins with so many tokens is expected to outgrow the window before it ends."""
        return self.window > 0 and tokens + self.growth > self.effective


def thresholds(window: int, *, output_cap: int | None = None, fraction: float | None = DEFAULT_FRACTION) -> Thresholds:
    """The numbers for a window. `output_cap`: the largest reply; None or 0: unknown. `fraction`: the share of the
    window at which compaction comes, as far as the room for the reply allows it; not a number: the default."""
    if window <= 0:
        return Thresholds(window=0, effective=0, warn=0, auto=0, hard=0, blocking=0, growth=0)
    cap = output_cap if output_cap is not None and output_cap > 0 else RESERVE
    effective = window - min(cap, RESERVE, window // RESERVE_SHARE)
    share = DEFAULT_FRACTION if fraction is None or math.isnan(fraction) else min(1.0, max(0.0, fraction))
    wanted = round(share * window)
    ceiling = effective - AUTO_BUFFER
    # On a small window the fixed buffer would leave next to nothing to work with: there only the share counts.
    auto = min(wanted, ceiling) if ceiling >= window // 2 else wanted
    auto = min(auto, window - 1)
    return Thresholds(
        window=window,
        effective=effective,
        warn=max(0, auto - WARN_BUFFER),
        auto=auto,
        hard=min(window, max(effective - HARD_BUFFER, auto + HARD_BUFFER)),
        blocking=max(1, effective - _scaled(HARD_BUFFER, window, BUFFERED_WINDOW)),
        growth=_scaled(min(cap, RESERVE) + GROWTH, window, GROWING_WINDOW),
    )


def thresholds_in_force(settings: Compaction, *, window: int, output_cap: int | None) -> Thresholds:
    """The numbers for a window as the user wants them."""
    return thresholds(window, output_cap=output_cap, fraction=settings.auto_threshold)


def wants_snapshot(settings: Compaction, limits: Thresholds, tokens: int | None) -> bool:
    """Whether sections should be written ahead of need: switched on, and more than half of the window is in use."""
    return settings.snapshot and tokens is not None and limits.window > 0 and tokens > limits.window // 2


def _scaled(amount: int, window: int, full: int) -> int:
    return min(amount, max(1, amount * window // full))
