"""Real processes that write to one inbox and claim from one list, some of them killed."""

import random
from pathlib import Path

import pytest

from e2e.mail_fuzz import play_claims, play_mail


@pytest.mark.parametrize("seed", [1, 2])
def test_tm_2_of_the_letters_that_were_stored_none_is_lost_doubled_or_out_of_order(tmp_path: Path, seed: int) -> None:
    told = play_mail(tmp_path, writers=8, letters=40, kills=0.25, rng=random.Random(seed))
    assert told["read"] >= told["stored"] > 0


def test_twenty_processes_with_fifty_letters_each_have_a_thousand_distinct_ones(tmp_path: Path) -> None:
    told = play_mail(tmp_path, writers=20, letters=50, kills=0.0, rng=random.Random(3))
    assert (told["read"], told["refused"]) == (told["stored"], 1_000 - told["stored"])
    assert told["stored"] == 1_000


def test_every_item_has_exactly_one_owner(tmp_path: Path) -> None:
    play_claims(tmp_path, claimers=8, items=20, kills=0.25, rng=random.Random(4))
