"""Tools that other people wrote for such transcripts read what we write: claude-code-log and ccusage."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Done, Place
from fakes.model_server import ModelServer

CCUSAGE = "ccusage@18"
"""The last major version that is plain JavaScript; later ones need a binary that not every registry carries."""
USAGE = {"input": 120, "output": 30, "cache_read": 1000, "cache_write": 50}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Done]:
    """A run of the installed command: two steps with parallel calls, then an answer."""
    folder = tmp_path_factory.mktemp("clients")
    (folder / "data.txt").write_text("the content of the file\n")
    step = {"calls": [{"call": "Read", "arguments": {"file_path": str(folder / "data.txt")}}] * 2, "usage": USAGE}
    answer = {"text": "All **done** and dusted.", "usage": {"input": 200, "output": 40}}
    with ModelServer([step, step, answer]) as server:
        place = Place(folder, server.url)
        done = place.run("-p", "please look at it", "--allowed-tools", "Read", "--output-format", "json")
    assert done.code == 0, done.err
    return place, done


def client_env(place: Place) -> dict[str, str]:
    return {**os.environ, "CLAUDE_CONFIG_DIR": str(place.clew_home), "HOME": str(place.home)}


def render(path: Path, target: Path, place: Place) -> str:
    program = Path(sys.executable).parent / "claude-code-log"
    if not program.exists():
        pytest.skip("claude-code-log is not installed (a development dependency)")
    subprocess.run(
        [str(program), str(path), "-o", str(target)],
        env=client_env(place),
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target.read_text(encoding="utf-8")


def test_claude_code_log_renders_our_transcript(session: tuple[Place, Done], tmp_path: Path) -> None:
    place, _ = session
    (path,) = place.transcripts()
    page = render(path, tmp_path / "page.md", place)
    assert "please look at it" in page
    assert "All **done** and dusted." in page
    assert page.count("data.txt") >= 4
    assert "the content of the file" in page


def test_claude_code_log_renders_our_export(session: tuple[Place, Done], tmp_path: Path) -> None:
    place, _ = session
    (path,) = place.transcripts()
    exported = tmp_path / "exported.jsonl"
    done = place.run("export", path.stem, "--to", "claude-code", "-o", str(exported))
    assert (done.code, done.out, done.err) == (0, "", "")
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    assert {line["type"] for line in lines} <= {"user", "assistant", "system", "custom-title", "ai-title"}
    assert all(line["message"]["content"] for line in lines if line["type"] == "assistant")
    assert {line["parentUuid"] for line in lines if "uuid" in line} - {None} <= {line.get("uuid") for line in lines}
    assert "All **done** and dusted." in render(exported, tmp_path / "page.md", place)


def ccusage() -> Path:
    """The program, installed once beside the virtual environment."""
    folder = Path(sys.prefix) / "ccusage"
    program = folder / "node_modules" / ".bin" / "ccusage"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed, so ccusage cannot be")
        command = [npm, "install", "--silent", "--prefix", str(folder), CCUSAGE]
        folder.mkdir(exist_ok=True)
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            pytest.skip(f"the package registry gave no {CCUSAGE}")
    return program


@pytest.mark.skipif(not os.environ.get("CLEW_REFERENCE"), reason="fetches ccusage from the network: make reference")
def test_ccusage_counts_the_same_totals(session: tuple[Place, Done]) -> None:
    place, done = session
    out = subprocess.run(
        [str(ccusage()), "session", "--json", "--offline"],
        env=client_env(place),
        check=True,
        capture_output=True,
        timeout=120,
    )
    totals: dict[str, Any] = json.loads(out.stdout)["totals"]
    usage = done.result["usage"]
    assert totals["inputTokens"] == usage["input_tokens"] == 440
    assert totals["outputTokens"] == usage["output_tokens"] == 100
    assert totals["cacheCreationTokens"] == usage["cache_creation_input_tokens"] == 100
    assert totals["cacheReadTokens"] == usage["cache_read_input_tokens"] == 2000
    assert totals["totalCost"] == pytest.approx(done.result["total_cost_usd"])


def test_tw9_each_result_hangs_under_the_block_that_asked(session: tuple[Place, Done]) -> None:
    place, _ = session
    (path,) = place.transcripts()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    asked: dict[str, str] = {}
    results = 0
    for line in lines:
        content = line.get("message", {}).get("content", [])
        for part in content if isinstance(content, list) else []:
            if part["type"] == "tool_use":
                asked[part["id"]] = line["uuid"]
            elif part["type"] == "tool_result":
                results += 1
                assert line["parentUuid"] == line["sourceToolAssistantUUID"] == asked[part["tool_use_id"]]
    assert results == len(asked) == 4
