"""The world of permission tests."""

from pathlib import Path

import pytest

from unit.permissions.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("CLEW_HOME", str(world.clew_home))
    monkeypatch.chdir(world.workspace)
    return world
