"""A place for sessions as they are really opened."""

from pathlib import Path

import pytest

from unit.agents.opened_place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
