"""For all tests: nothing passes or fails by how fast this machine is, and no work is done again by every process."""

import compileall
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Both are asserts on elapsed time that hypothesis makes by itself.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

# Test modules are rewritten by pytest; where nothing may be written, again in every worker of every run.
sys.dont_write_bytecode = False


def pytest_configure(config: pytest.Config) -> None:
    """Thousands of commands are started, most of them told to write no bytecode: they find it here."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "src" / "clew", quiet=2)
