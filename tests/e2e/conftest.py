"""The model of the tests through the real command: a server that plays a script, and a place that knows it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place, Serve
from fakes.model_server import ModelServer


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Makes a place whose model plays a script."""
    servers: list[ModelServer] = []

    def start(script: Any) -> tuple[Place, ModelServer]:
        server = ModelServer(script).__enter__()
        servers.append(server)
        return Place(tmp_path, server.url), server

    yield start
    for server in servers:
        server.__exit__()
