"""A place of its own for each test, and a model that plays a script."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.sdk import Options
from fakes.model_server import ModelServer

Serve = Callable[..., tuple[Options, ModelServer]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Options for a project whose model plays a script."""
    servers: list[ModelServer] = []
    project = tmp_path / "project"
    project.mkdir()

    def start(script: Any, **options: Any) -> tuple[Options, ModelServer]:
        server = ModelServer(script)
        server.__enter__()
        servers.append(server)
        env = {
            "HOME": str(tmp_path / "home"),
            "CLEW_HOME": str(tmp_path / "clew"),
            "ANTHROPIC_API_KEY": "sk-ant-test-canary-000000000000",
            "ANTHROPIC_BASE_URL": server.url,
            "CLEW_MODEL": "anthropic/claude-sonnet-4-5",
        }
        return Options(cwd=project, env=env, **options), server

    yield start
    for server in servers:
        server.__exit__()
