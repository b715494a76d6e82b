"""Timestamps and the clock that tests move."""

import time

import pytest

from clew.system.clock import ManualClock, SystemClock, iso_utc, local_date


@pytest.mark.parametrize(
    ("wall_s", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_700_000_000.5, "2023-11-14T22:13:20.500Z"),
        (1_700_000_000.9996, "2023-11-14T22:13:21.000Z"),
        (1_700_000_000.0004, "2023-11-14T22:13:20.000Z"),
    ],
)
def test_timestamps_have_milliseconds_and_carry_over(wall_s: float, text: str) -> None:
    assert iso_utc(wall_s) == text


def test_date_is_english_and_local(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 1_700_000_000  # 22:13 UTC on a Tuesday
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert local_date(moment) == "2023-11-14 (Tuesday)"
    monkeypatch.setenv("TZ", "UTC-9")
    time.tzset()
    assert local_date(moment) == "2023-11-15 (Wednesday)"
    monkeypatch.undo()
    time.tzset()


def test_manual_clock_moves_by_hand() -> None:
    clock = ManualClock(100.0)
    clock.advance(5)
    assert (clock.wall_s(), clock.monotonic_s()) == (105.0, 5.0)
    clock.set_wall(0.0)
    assert (clock.wall_s(), clock.monotonic_s()) == (0.0, 5.0)


def test_system_clock_runs_forward() -> None:
    clock = SystemClock()
    first = clock.monotonic_s()
    assert clock.monotonic_s() >= first
    before = time.time()
    now = clock.wall_s()
    assert before <= now <= time.time()
