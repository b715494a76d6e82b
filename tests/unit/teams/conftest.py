"""A project and a home for each test."""

from pathlib import Path

import pytest

from unit.agents.opened_place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
