"""Where a window counts as filling and full: the numbers of spec/orientation.md 4.1 and 4.4, and what holds for all."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.config.schema import Compaction
from clew.engine.compaction.thresholds import thresholds, thresholds_in_force, wants_snapshot


@pytest.mark.parametrize(
    ("window", "warn", "auto", "hard"),
    [
        (0, 0, 0, 0),
        (10_000, 0, 8_500, 10_000),
        (32_000, 7_200, 27_200, 30_200),
        (60_000, 12_000, 32_000, 42_000),  # a quarter of the window is reserved, not 20,000
        (128_000, 75_000, 95_000, 105_000),
        (200_000, 147_000, 167_000, 177_000),
        (1_000_000, 830_000, 850_000, 977_000),
    ],
)
def test_the_table(window: int, warn: int, auto: int, hard: int) -> None:
    limits = thresholds(window, output_cap=64_000)
    assert (limits.warn, limits.auto, limits.hard) == (warn, auto, hard)


@pytest.mark.parametrize(
    ("fraction", "auto"),
    [
        (0.5, 100_000),
        (0.8, 160_000),
        (0.9, 167_000),  # the room for the reply caps it
        (1, 167_000),
        (0, 0),
        (-3, 0),
        (7, 167_000),
        (math.inf, 167_000),
        (-math.inf, 0),
        (math.nan, 167_000),
        (None, 167_000),
    ],
)
def test_the_share_that_the_user_sets(fraction: float | None, auto: int) -> None:
    assert thresholds(200_000, output_cap=20_000, fraction=fraction).auto == auto


def test_a_higher_share_counts_where_the_window_is_large() -> None:
    assert thresholds(1_000_000, fraction=0.9).auto == 900_000
    assert thresholds(32_000, fraction=0.5).auto <= 20_000 < thresholds(32_000).auto


@pytest.mark.parametrize(
    ("window", "quiet", "fires"),
    [(131_072, 60_000, 120_000), (131_072, 90_000, 120_000), (200_000, 160_000, 171_000)],
)
def test_where_it_fires(window: int, quiet: int, fires: int) -> None:
    assert quiet < thresholds(window).auto <= fires


@pytest.mark.parametrize(
    ("cap", "effective"), [(None, 180_000), (0, 180_000), (-1, 180_000), (4_096, 195_904), (64_000, 180_000)]
)
def test_what_is_kept_free_for_the_reply(cap: int | None, effective: int) -> None:
    assert thresholds(200_000, output_cap=cap).effective == effective
    assert thresholds(8_000, output_cap=64_000).effective == 6_000


@pytest.mark.parametrize("window", [8_192, 32_768, 65_536, 128_000, 200_000, 1_000_000])
def test_a_turn_that_begins_near_the_brim_is_expected_to_overflow(window: int) -> None:
    """CP-4: 20,000 below the effective window of 200,000; smaller windows in proportion."""
    limits = thresholds(window, output_cap=20_000)
    near = min(20_000, window // 10)
    assert limits.predicts(limits.effective - near)
    assert limits.predicts(limits.window)
    assert not limits.predicts(limits.effective // 2)


def test_growth_is_that_of_a_turn_and_in_proportion() -> None:
    assert thresholds(200_000, output_cap=64_000).growth == 35_000
    assert thresholds(1_000_000, output_cap=4_000).growth == 19_000
    assert thresholds(20_000, output_cap=64_000).growth == 3_500
    assert not thresholds(0).predicts(10**9)


def test_with_automatic_compaction_off_only_a_full_window_stops() -> None:
    assert thresholds(200_000).blocking == 177_000
    assert thresholds(8_000, output_cap=8_000).blocking > 8_000 // 2


@given(
    window=st.integers(1, 3_000_000),
    cap=st.none() | st.integers(-5, 300_000),
    fraction=st.floats(allow_nan=True, allow_infinity=True),
)
def test_the_order_holds_for_every_window(window: int, cap: int | None, fraction: float) -> None:
    limits = thresholds(window, output_cap=cap, fraction=fraction)
    assert 0 <= limits.warn <= limits.auto < limits.hard <= window
    assert 0 < limits.effective <= window
    assert 0 < limits.blocking <= window
    assert 0 < limits.growth <= window


@given(window=st.integers(2_000, 3_000_000), cap=st.integers(1, 300_000))
def test_no_window_is_called_full_while_half_of_it_is_free(window: int, cap: int) -> None:
    """A fixed buffer of 13,000 would call a window of 18,000 full at 500 tokens."""
    assert thresholds(window, output_cap=cap).auto >= window // 2


def test_the_table_of_the_page_is_the_one_in_force() -> None:
    page = (Path(__file__).parents[2] / "docs" / "compaction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d,]+) \(([\d,]+)\) \| (.+) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == ["8,192", "32,768", "128,000", "200,000", "1,000,000"]
    for window, cap, numbers in rows:
        limits = thresholds(int(window.replace(",", "")), output_cap=int(cap.replace(",", "")))
        predicted = limits.effective - limits.growth
        told = (limits.effective, limits.warn, predicted, limits.auto, limits.hard, limits.blocking)
        assert numbers == " | ".join(f"{number:,}" for number in told)


def test_the_user_s_share_is_the_one_in_force() -> None:
    settings = Compaction(auto_threshold=0.4)
    assert thresholds_in_force(settings, window=200_000, output_cap=8_000).auto == 80_000


def test_sections_are_written_ahead_above_half_of_the_window() -> None:
    limits = thresholds(100_000)
    assert wants_snapshot(Compaction(), limits, 50_001)
    assert not wants_snapshot(Compaction(), limits, 50_000)
    assert not wants_snapshot(Compaction(), limits, None)
    assert not wants_snapshot(Compaction(snapshot=False), limits, 90_000)
    assert not wants_snapshot(Compaction(), thresholds(0), 90_000)
