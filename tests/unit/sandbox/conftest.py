"""Every probe runs in every kind of sandbox that holds here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from unit.sandbox.world import KINDS, World


@pytest.fixture(params=sorted(KINDS) or ["none"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "none":
        pytest.skip("no sandbox holds on this machine")
    return request.param


@pytest.fixture
async def world(tmp_path: Path, kind: str) -> AsyncIterator[World]:
    made = World(tmp_path, kind)
    yield made
    await made.close()
