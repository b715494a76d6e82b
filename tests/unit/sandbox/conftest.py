"""Every probe runs in every kind of sandbox that holds here."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clew.system.process import ProcessStarter
from unit.sandbox.world import KINDS, SharedStarter, World, make_workspace


@pytest.fixture(params=sorted(KINDS) or ["none"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "none":
        pytest.skip("no sandbox holds on this machine")
    return request.param


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every workspace begins as; nobody writes to it."""
    place = tmp_path_factory.mktemp("pristine") / "ws"
    make_workspace(place)
    return place


@pytest.fixture(scope="module")
def starter() -> Iterator[ProcessStarter | None]:
    """Of all tests of a module. A module whose tests are about what a session shares has one for each (None)."""
    shared = SharedStarter()
    yield shared
    shared.end()


@pytest.fixture
async def world(tmp_path: Path, kind: str, pristine: Path, starter: ProcessStarter | None) -> AsyncIterator[World]:
    made = World(tmp_path, kind, pristine, starter)
    yield made
    await made.close()
