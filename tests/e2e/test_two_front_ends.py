"""A sample of `make soak ARGS="--front-ends 200"`: two agents, two front ends in two processes, random faults."""

from pathlib import Path

import pytest

from clew.system.peers import has_peer_credentials
from e2e.two_front_ends import play


@pytest.mark.skipif(not has_peer_credentials(), reason="sessions serve no socket on this system")
@pytest.mark.parametrize("seed", range(3))
def test_every_ask_is_answered_once_by_who_may(seed: int, tmp_path: Path) -> None:
    assert play(seed, tmp_path / "play") == []
