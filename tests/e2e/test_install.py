"""The wheel in a fresh environment: the command works with what it declares and nothing more. No network is needed."""

import ast
import importlib.metadata
import json
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from e2e.command import LIMIT_S, Place
from fakes.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip("hatchling", reason="the dev extra was not installed anew since hatchling joined it: run make test")


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def declared(name: str, extras: frozenset[str] = frozenset(), seen: set[str] | None = None) -> set[str]:
    """The distributions that an installed one brings along on this machine: for clew, without any extra of its own."""
    seen = set() if seen is None else seen
    for needed in map(Requirement, importlib.metadata.requires(name) or []):
        wanted = not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        if wanted and (needed.name not in seen or needed.extras):
            seen.add(needed.name)
            declared(needed.name, frozenset(needed.extras), seen)
    return seen


def copy_distribution(name: str, site: Path) -> None:
    """Take an installed distribution over as pip would have put it there."""
    found = importlib.metadata.distribution(name)
    for file in found.files or []:
        source, target = Path(str(found.locate_file(file))).resolve(), (site / file).resolve()
        if source.is_file() and source.suffix != ".pyc":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def imported() -> set[str]:
    """The packages of others that some module of ours imports, at any time."""
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"clew"}


def test_whatever_is_imported_comes_with_an_install() -> None:
    """`pip install .`, pipx and `uv tool install .` bring what the project declares, and nothing of the dev extra."""
    known = importlib.metadata.packages_distributions()
    needed = {name.lower().replace("_", "-") for name in declared("clew")}
    brought = {
        package for package in imported() if needed & {name.lower().replace("_", "-") for name in known[package]}
    }
    assert imported() - brought == set()
    assert {"mcp", "textual", "tree_sitter"} <= brought


def test_the_installed_wheel_runs_without_the_dev_extra(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("src", "pyproject.toml", "README.md", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        source.mkdir(exist_ok=True)
        copy(ROOT / name, source / name)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist", cwd=source)
    (wheel,) = (tmp_path / "dist").glob("clew-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    ours = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert [path for path in ours if path.relative_to(ROOT / "src").as_posix() not in names] == []

    fresh = tmp_path / "fresh"
    venv.create(fresh, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = fresh / "lib" / version / "site-packages"
    needed = declared("clew")
    assert {"msgspec", "h11"} <= needed
    assert "pytest" not in needed
    for name in needed:
        copy_distribution(name, site)
    options = ("--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", fresh / "bin" / "python", "install", *options, wheel, cwd=tmp_path)

    command = str(fresh / "bin" / "clew")
    echo = {"tool": "mcp__raw__echo", "arguments": {"text": "from the server"}}
    script = [
        {"calls": [{"call": "Bash", "arguments": {"command": "echo $((6*7))"}}]},
        {"text": "done"},
        {"calls": [{"call": "CallTool", "arguments": echo}]},
        {"text": "done"},
    ]
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        place.env["PATH"] = "/usr/bin:/bin"
        assert place.run_anew("--version", command=command).out.startswith("clew ")
        tour = place.run_anew("tour", "--headless", command=command)
        assert tour.code == 0, tour.out + tour.err  # its script is in the wheel
        assert "search" in place.run_anew("doctor", command=command).out
        answer = place.run_anew("--trust", "-p", "go", command=command)
        assert (answer.code, answer.out) == (0, "done\n"), answer.err
        assert len(server.requests) == 2
        raw = {"command": sys.executable, "args": [str(ROOT / "tests" / "fakes" / "raw_mcp.py")]}
        config = json.dumps({"mcpServers": {"raw": raw}})
        flags = ("--mcp-config", config, "--allowed-tools", "mcp__raw", "--mcp-wait", "60")
        answer = place.run_anew("--trust", "-p", "say it", *flags, command=command)
        assert (answer.code, answer.out) == (0, "done\n"), answer.err
        assert "from the server" in str(server.requests[-1].body["messages"][-1]), "the SDK is installed with clew"
    assert str(fresh) in run(command, "doctor", cwd=tmp_path)
    tools = run(
        fresh / "bin" / "python", "-c", "import clew.tools, pathlib; print(clew.tools.__path__[0])", cwd=tmp_path
    )
    assert list(Path(tools.strip()).rglob("*.md")), "the words of the tools are in the wheel"
