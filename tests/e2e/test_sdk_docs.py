"""The examples of docs/sdk.md, each as a program of its own: they print what the page says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.command import LIMIT_S, Place
from fakes.model_server import ModelServer

PAGE = (Path(__file__).parents[2] / "docs" / "sdk.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"<!-- replies: (.*?) -->\n```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE)


def test_every_program_of_the_page_is_run() -> None:
    assert len(EXAMPLES) == PAGE.count("```python") >= 4


@pytest.mark.parametrize(("replies", "program", "printed"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_prints_what_the_page_says(tmp_path: Path, replies: str, program: str, printed: str) -> None:
    with ModelServer(json.loads(replies)) as server:
        place = Place(tmp_path, server.url)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            cwd=place.project,
            env=place.env,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_importing_it_loads_no_machine_room() -> None:
    look = (
        "import sys, clew.sdk; print(*sorted({name.split('.')[1] for name in sys.modules if name.startswith('clew.')}))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "protocol sdk streaming\n"
