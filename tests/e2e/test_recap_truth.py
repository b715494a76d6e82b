"""A sample of recaps of random work against the disk; `make soak ARGS="--recaps 200"` makes more."""

from pathlib import Path

import pytest

from e2e.recap_fuzz import Truth, play, wrong_in


@pytest.mark.parametrize("seed", [103, 120, 127, 135, 207, 225, 230, 255])
def test_a_recap_says_what_is_so_on_disk_in_git_and_in_the_tests(tmp_path: Path, seed: int) -> None:
    assert play(seed, tmp_path / "session") == []


def test_what_is_not_so_is_seen() -> None:
    told = ["alpha.py", "beta.py deleted", "make test: ok", "commit 1a2b3c4 Change it"]
    recap = {"state": "idle", "facts": [{"field": "changed", "text": text} for text in told]}
    recap["facts"].append({"field": "state", "text": "finished"})
    truth = Truth(changed={"gamma.py"}, deleted=set(), commits=["9f8e7d6 Another"], tests=["fail"])
    assert len(wrong_in(recap, truth, ended=False, whole=True)) == 7
    assert wrong_in({"state": "idle", "facts": []}, Truth(set(), set(), [], []), ended=True, whole=True) == []
