"""A lab for each test; whatever hangs ends."""

import asyncio
from asyncio.base_subprocess import BaseSubprocessTransport
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
async def nothing_left_behind(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The SDK leaves pipes of processes that ended badly to the garbage collector, which may come when the loop that
    could close them is gone: they are closed here."""
    made: list[BaseSubprocessTransport] = []
    begin = BaseSubprocessTransport.__init__

    def noted(self: BaseSubprocessTransport, *args: Any, **more: Any) -> None:
        made.append(self)
        begin(self, *args, **more)

    monkeypatch.setattr(BaseSubprocessTransport, "__init__", noted)
    yield
    for transport in made:
        transport.close()
    for _ in range(3):  # each pipe says in a call of its own that it is gone
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
