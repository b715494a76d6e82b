"""What people say in plain words crosses compactions, in any language and at any place of a message."""

import pytest
from tests.engine.compaction.measure_kept import kept
from tests.engine.compaction.phrasings import SAID


@pytest.mark.parametrize("place", ["alone", "first", "last"])
@pytest.mark.parametrize("window", [8_000, 32_000])
async def test_all_of_it_is_still_in_view_after_ten_compactions(place: str, window: int) -> None:
    assert await kept(place, window, rounds=10) == len(SAID)


@pytest.mark.parametrize("place", ["first", "last", "middle"])
async def test_what_was_said_inside_a_request_late_in_a_small_window_stays(place: str) -> None:
    assert await kept(place, 8_000, rounds=10, before=40) == len(SAID)


async def test_what_no_work_followed_stays_also_when_it_was_said_late_in_a_small_window() -> None:
    assert await kept("alone", 8_000, rounds=10, before=40) == len(SAID)
