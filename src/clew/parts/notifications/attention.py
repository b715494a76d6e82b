"""Whether a person looks: by what front ends report of the focus, else by what was asked of the session lately."""

import asyncio
from typing import Any

from clew.protocol.lookup_base import Lookup
from clew.protocol.ops import Op, ReportFocus

PAUSE_S = 30.0


class Attention:
    """Of one session. Who never reports the focus is taken to look as long as something was asked a moment ago."""

    def __init__(self, *, pause_s: float = PAUSE_S, headless: bool = False) -> None:
        self._pause_s = pause_s
        self._headless = headless
        self._focused: bool | None = None
        self._heard_s: float | None = None

    def heard(self, op: Op | Lookup[Any]) -> None:
        """An op or a lookup came through the door."""
        if isinstance(op, ReportFocus):
            self._focused = op.focused
        else:
            self._heard_s = asyncio.get_running_loop().time()

    @property
    def looking(self) -> bool:
        """Somebody sees what is told now."""
        if self._headless:
            return False
        if self._focused is not None or self._heard_s is None:
            return self._focused is not False
        return asyncio.get_running_loop().time() - self._heard_s < self._pause_s
