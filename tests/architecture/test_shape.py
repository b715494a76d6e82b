"""The shape of the house: sizes, rooms, words in names."""

import ast
import re
import sys
from pathlib import Path

import pytest

from architecture.sources import MODULES, ROOT, SOURCE, text_of, tree_of

MAX_LINES = 400
BAD_NAMES = re.compile(r"(Manager|Helper|Service)$")
BAD_FILES = {"utils", "util", "common", "misc", "helpers"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_small_says_its_idea_and_is_well_named(path: Path) -> None:
    assert len(text_of(path).splitlines()) <= MAX_LINES, "split it: a module owns one idea"
    tree = tree_of(path)
    assert ast.get_docstring(tree), "a module says its one idea in its docstring"
    assert path.stem not in BAD_FILES
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert not [name for name in names if BAD_NAMES.search(name)]


def test_no_package_initialiser_runs_code() -> None:
    for path in SOURCE.rglob("__init__.py"):
        for node in tree_of(path).body:
            plain = isinstance(node, ast.Expr | ast.Import | ast.ImportFrom | ast.Assign)
            assert plain, f"{path} runs code at import"


def test_every_tool_has_its_words_beside_it() -> None:
    for words in (SOURCE / "tools").glob("*.md"):
        assert words.with_suffix(".py").exists(), words.name


def test_the_loop_fits_on_a_screen() -> None:
    tree = tree_of(SOURCE / "engine" / "loop.py")
    (loop,) = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef) and node.name == "run_turn"]
    assert loop.end_lineno is not None
    assert loop.end_lineno - loop.lineno + 1 <= 45


def test_nothing_names_this_machine() -> None:
    forbidden = re.compile(r"/work/(main|shared)|/root/")
    listed = [
        *(path for path in ROOT.glob("*.*") if path.name != ".git"),  # a file that names its repository, in a worktree
        *ROOT.glob("docs/**/*"),
        *ROOT.glob("src/**/*"),
        *ROOT.glob("bench/**/*"),
        ROOT / "Makefile",
    ]
    for path in listed:
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".txt", ".json", ""}:
            found = forbidden.search(path.read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{path.relative_to(ROOT)} names {found and found[0]}"


def test_only_declared_packages_are_imported() -> None:
    # rich comes with textual: its segments are what a line on the screen is made of.
    declared = {
        "msgspec",
        "fastjsonschema",
        "h11",
        "tree_sitter",
        "tree_sitter_bash",
        "pathspec",
        "pypdf",
        "textual",
        "rich",
        "markdown_it",
        "pygments",
    }
    sdk = {"mcp", "mcp_types", "anyio", "httpx2", "pydantic"}  # the extra `mcp`, with what its API is made of
    for path in MODULES:
        extra = sdk if path.is_relative_to(SOURCE / "mcp") else set[str]()
        for node in ast.walk(tree_of(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            tops = {name.partition(".")[0] for name in names}
            alien = tops - declared - extra - {"clew"} - sys.stdlib_module_names
            assert not alien, (
                f"{path.relative_to(SOURCE)} imports {sorted(alien)}, which an installed clew does not have"
            )
