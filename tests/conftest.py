"""For all tests: nothing passes or fails by whose machine this is or how fast it is, and no work is done again by every
process."""

import compileall
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

KEPT = ("PATH", "TMPDIR", "USER", "LOGNAME", "LD_LIBRARY_PATH")
KEPT_STARTS = ("PYTEST_", "PIP_", "COVERAGE_", "CLEW_UPDATE_", "CLEW_FUZZ_", "CLEW_RANDOM", "CLEW_TESTS_")
OWN_HOME = "CLEW_TESTS_HOME"

# The first two are asserts on elapsed time that hypothesis makes by itself. Nobody is surprised by an example that was
# never tried before, unless they ask for such: CLEW_RANDOM=1 make test.
settings.register_profile(
    "any-machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("CLEW_RANDOM"),
    database=None,
    print_blob=True,
)
settings.load_profile("any-machine")

# Test modules are rewritten by pytest; where nothing may be written, again in every worker of every run.
sys.dont_write_bytecode = False


def leave_the_users_environment() -> None:
    """Keys, proxies, PYTHONPATH, XDG_*, the locale and settings of other programs are the user's and no part of a test;
    neither is the home, which is empty here. Done once by the process that starts the others."""
    own = os.environ.get(OWN_HOME)
    if own is None:
        own = tempfile.mkdtemp(prefix="clew-tests-home-")
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_STARTS)}
    os.environ.clear()
    os.environ.update({**kept, OWN_HOME: own, "HOME": own, "LANG": "C.UTF-8", "TERM": "xterm-256color"})
    os.umask(0o022)


if not os.environ.get("CLEW_REFERENCE"):  # those tests fetch programs of others, by the user's own settings
    leave_the_users_environment()


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
    if OWN_HOME in os.environ:
        set_hypothesis_home_dir(Path(os.environ[OWN_HOME]) / "hypothesis")
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "src" / "clew", quiet=2)
        with contextlib.suppress(OSError):  # no more than slower
            os.environ["PATH"] = f"{bare_python()}:{os.environ['PATH']}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """The empty home goes with the run."""
    if not hasattr(config, "workerinput") and OWN_HOME in os.environ:
        shutil.rmtree(os.environ[OWN_HOME], ignore_errors=True)
