"""Waiting for the screen by what is left to do, not by a clock: Textual's own wait sleeps 20 ms at least, and up to a
second on a busy machine, several times for each key."""

import asyncio
from typing import Any

import pytest

QUIET_ROUNDS = 5


async def until_idle(*_limits: float) -> None:
    """Until every task waits for a timer, a thread or input; nothing that is ready to run is left."""
    loop: Any = asyncio.get_running_loop()
    quiet = 0
    while quiet < QUIET_ROUNDS:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", until_idle)
