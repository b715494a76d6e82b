"""The shape of the house: sizes, rooms, words in names."""

import ast
import re
import sys
from pathlib import Path

from architecture.sources import MODULES, ROOT, SOURCE, text_of, tree_of
from clew.tools.builtin.search_tools import CallTool
from clew.tools.registry import BUILTIN

MAX_LINES = 400
BAD_NAMES = re.compile(r"(Manager|Helper|Service)$")
BAD_FILES = {"utils", "util", "common", "misc", "helpers"}


def told(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def is_list(path: Path) -> bool:
    """Whether a module only holds data: no class, no function."""
    defined = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return not any(isinstance(node, defined) for node in tree_of(path).body)


def test_every_module_is_small() -> None:
    """A pure list may be long: a module that defines nothing but names of data."""
    sizes = {told(path): len(text_of(path).splitlines()) for path in MODULES if not is_list(path)}
    assert {name: size for name, size in sizes.items() if size > MAX_LINES} == {}, "split them: a module owns one idea"


def test_every_module_says_its_one_idea_in_its_docstring() -> None:
    assert [told(path) for path in MODULES if not ast.get_docstring(tree_of(path))] == []


def test_every_module_and_class_is_well_named() -> None:
    files = [told(path) for path in MODULES if path.stem in BAD_FILES]
    classes = [
        f"{told(path)}: {node.name}"
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and BAD_NAMES.search(node.name)
    ]
    assert files + classes == []


def test_no_package_initialiser_runs_code() -> None:
    plain = ast.Expr | ast.Import | ast.ImportFrom | ast.Assign
    initialisers = [path for path in MODULES if path.name == "__init__.py"]
    assert [
        told(path) for path in initialisers if not all(isinstance(node, plain) for node in tree_of(path).body)
    ] == []


def test_no_group_of_an_expression_is_possessive() -> None:
    """Python before 3.11.5 loses its way in such a group when it holds a choice, and finds what is not there."""
    possessive = re.compile(r"(?<![\\(])\)[*+?]\+")
    texts = {
        f"{told(path)}:{node.lineno}": node.value
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [place for place, text in texts.items() if possessive.search(text)] == []


def test_every_tool_has_its_words_beside_it() -> None:
    named = {tool.words_file for tool in (*BUILTIN, CallTool)}
    alone = [words.name for words in (SOURCE / "tools").rglob("*.md") if not words.with_suffix(".py").exists()]
    assert [name for name in alone if name not in named] == []


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
    texts = [path for path in listed if path.is_file() and path.suffix in {".py", ".md", ".toml", ".txt", ".json", ""}]
    found = {str(path.relative_to(ROOT)): forbidden.search(path.read_text("utf-8", "replace")) for path in texts}
    assert {name: match[0] for name, match in found.items() if match} == {}


def test_only_declared_packages_are_imported() -> None:
    # rich comes with textual: its segments are what a line on the screen is made of.
    declared = {
        "msgspec",
        "jsonschema_rs",
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
    sdk = {"mcp", "mcp_types", "anyio", "httpx2", "pydantic"}  # with what the SDK's API is made of; loaded late
    aliens: dict[str, set[str]] = {}
    for path in MODULES:
        extra = sdk if path.is_relative_to(SOURCE / "mcp") else set[str]()
        for node in ast.walk(tree_of(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            tops = {name.partition(".")[0] for name in names}
            if alien := tops - declared - extra - {"clew"} - sys.stdlib_module_names:
                aliens.setdefault(told(path), set()).update(alien)
    assert aliens == {}, "an installed clew does not have them"
