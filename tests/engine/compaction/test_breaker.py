"""When automatic compaction is not tried any more."""

from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from clew.config.schema import Compaction
from clew.engine.compaction.compactor import MAX_FAILURES, Compactor
from clew.engine.compaction.live_state import NothingLive
from clew.protocol.events import CompactionFailed, Event, Notice

CLEARED = Notice(level="info", text="old outputs were cleared")


async def failing(kind: Any, focus: str) -> AsyncGenerator[Event]:
    """A summary that was paid for and cannot be had."""
    yield CompactionFailed(kind=kind, reason="the model did not answer")


async def test_room_that_clearing_makes_does_not_hide_that_summaries_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = iter([900, 10] * MAX_FAILURES)  # before and after: clearing is enough each time
    meter: Any = SimpleNamespace(tokens=lambda agent: next(tokens), limits=lambda agent: SimpleNamespace(auto=800))
    agent: Any = SimpleNamespace()
    compactor = Compactor(
        agent, Compaction(), meter=meter, live=NothingLive(), forget_reads=lambda paths: None, log=lambda text: None
    )
    monkeypatch.setattr(compactor, "_summarised", failing)
    monkeypatch.setattr(compactor, "cleared", lambda why: CLEARED)
    told: list[list[Event]] = []
    for _ in range(MAX_FAILURES):
        told.append([event async for event in compactor.by_itself("auto")])
    assert [CLEARED in events for events in told] == [True] * MAX_FAILURES
    assert [getattr(events[-1], "code", "") for events in told] == ["", "", "compaction-off"]
    assert compactor.is_off
