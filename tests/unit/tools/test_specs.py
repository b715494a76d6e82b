"""What models are told is pinned, and telling it loads nothing heavy."""

import json
import subprocess
import sys
from pathlib import Path

from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession

PINNED = Path(__file__).with_name("specs.json")
HEAVY = ("ctypes", "difflib", "html.parser", "httpcore2", "httpx2", "mmap", "pathspec", "pypdf", "shutil", "tempfile")
HEAVY += ("clew.system.process", "clew.system.http_fetch", "clew.system.sandbox.kernel")
LOAD = """
import sys
from clew.tools.registry import builtin_tools
from clew.tools.session import open_sandbox
from clew.tools.session import ToolSession
from pathlib import Path
sandbox = open_sandbox(mode="auto", network=False, clew_home=Path("/proc/nonexistent"))
[tool.spec() for tool in builtin_tools(ToolSession(cwd="/", sandbox=sandbox))]
print("\\n".join(sys.modules))
"""


def test_specs_are_pinned(tmp_path: Path):
    """A change must be seen in review: write the new text to specs.json when it is meant."""
    specs = {
        tool.name: {"description": tool.description, "schema": tool.spec().schema}
        for tool in builtin_tools(ToolSession(cwd=str(tmp_path)))
    }
    assert json.loads(PINNED.read_text(encoding="utf-8")) == specs


def test_specs_load_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & set(HEAVY)
