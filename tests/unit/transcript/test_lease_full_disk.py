"""A lease that could not be written down is not held: the next try, when there is room again, must succeed."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clew.transcript.log.lease import acquire


@contextmanager
def no_room() -> Generator[None]:
    """No file of this process can grow. Python ignores the signal, so writes fail as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_nothing_held(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    with no_room(), pytest.raises(OSError, match="too large"):
        acquire(transcript)
    assert list(tmp_path.iterdir()) == []
    lease = acquire(transcript)
    assert lease.held()
    lease.release()
