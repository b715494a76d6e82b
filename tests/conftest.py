"""For all tests: nothing passes or fails by how fast this machine is, and no work is done again by every process."""

import compileall
import contextlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Both are asserts on elapsed time that hypothesis makes by itself.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

# Test modules are rewritten by pytest; where nothing may be written, again in every worker of every run.
sys.dont_write_bytecode = False


def bare_python() -> Path:
    """A folder in which there is `python3` and nothing else: the interpreter of this run, without its packages."""
    base = getattr(sys, "_base_executable", sys.executable)
    folder = Path(sys.prefix) / "bare"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "pyvenv.cfg").write_text(f"home = {os.path.dirname(base)}\ninclude-system-site-packages = false\n")
    with contextlib.suppress(FileExistsError):
        (folder / "bin" / "python3").symlink_to(base)
    return folder / "bin"


def pytest_configure(config: pytest.Config) -> None:
    """Thousands of commands are started, most of them told to write no bytecode: they find it here. Hundreds start
    `python3`, which may be a script that looks for one, or have much to import before its first line."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "src" / "clew", quiet=2)
        with contextlib.suppress(OSError):  # no more than slower
            os.environ["PATH"] = f"{bare_python()}:{os.environ['PATH']}"
