"""A lab for each test; whatever hangs ends."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.effort import not_hanging
from sdk.lab import Lab

MakeLab = Callable[[Any], Lab]


@pytest.fixture(autouse=True)
def in_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK", "1")
    with not_hanging():
        yield


@pytest.fixture(autouse=True)
async def nothing_left_behind() -> AsyncIterator[None]:
    """The SDK leaves pipes of processes that ended badly to the garbage collector, which must come while the loop is
    there to close them."""
    yield
    gc.collect()
    await asyncio.sleep(0)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[MakeLab]:
    labs: list[Lab] = []

    def make(script: Any) -> Lab:
        labs.append(Lab(tmp_path, script))
        return labs[-1]

    yield make
    for made in labs:
        made.close()
