"""The tree shows the design: folders one can see at a glance, names with one meaning, imports without a circle."""

import ast
from collections import Counter
from pathlib import Path

from architecture.sources import MODULES, SOURCE, tree_of

MAX_MODULES = 20
ONE_FILE_PER_THING = {"commands", "cli/sub", "tools/builtin", "tui/dialogs"}
"""Folders that are lists: a slash command, a sub-command, a tool, a dialog is one file."""
NAMED_TWICE = {"Session", "Prompt", "Options", "Frame"}
"""The SDK's own public names and Textual's widgets, whose names stand in style sheets, beside those of the engine."""


def test_no_folder_is_too_full_to_be_seen_at_a_glance() -> None:
    counts = Counter(str(path.parent.relative_to(SOURCE)) for path in MODULES if path.name != "__init__.py")
    full = {name: count for name, count in counts.items() if count > MAX_MODULES and name not in ONE_FILE_PER_THING}
    assert full == {}, "make folders that say what belongs together"


def test_a_public_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name
        for path in MODULES
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in names.items() if count > 1} <= NAMED_TWICE


def test_no_module_imports_itself_through_others() -> None:
    """Imports inside functions count: a lazy import is a circle in hiding. Those for types only do not."""
    modules = {_name(path): path for path in MODULES}
    imports = {name: _imports(path, modules) - {name} for name, path in modules.items()}
    assert [name for name, path in modules.items() if name in _imports(path, modules)] == []
    assert _circles(imports) == []


REGISTRIES = (
    "assembly/parts.py",
    "assembly/place.py",
    "llm/wires/registry.py",
    "mcp/extras.py",
    "tools/extras.py",
    "tools/builtin/extras.py",
    "sdk/session.py",
)
"""Modules that exist to load others later: parts, answers for a place, wires, the MCP SDK, what few calls need; and the
SDK's door, which like the entry points in `cli/` brings the machine room."""
LAZY = {
    ("agents/toolbox.py", "clew.agents.tasks"): "most runs have no task",
    ("agents/undo_hook.py", "clew.undo"): "files are kept from the first call that may change some",
    ("assembly/opening.py", "clew.assembly.session_switch"): "a front end goes on with another session",
    ("assembly/opening.py", "clew.host"): "what reads logs: a new session has none",
    ("config/load.py", "clew.config.claude_settings"): "few runs give settings",
    ("headless/run.py", "clew.headless"): "lines for programs: a run that prints words has none",
    ("host/old_past.py", "clew.host"): "the list of all sessions: an id of ours needs none",
    (
        "host/past.py",
        "clew.transcript.past.reader",
    ): "a new session seldom reads its own log",
    ("host/workspace.py", "clew.llm.keys.saved_keys"): "most users have their key in a variable",
    ("permissions/policy.py", "clew.permissions.shell.verdict"): "the shell's grammar: loaded with the first command",
}
"""Imports of clew inside functions outside `cli/` and the registries, each with its reason: where it stands, and what
it imports, or from where. A change may only shorten this list."""


def test_lazy_imports_outside_the_registries_are_these() -> None:
    found = [
        (str(path.relative_to(SOURCE)), node.module)
        for path in MODULES
        if (where := str(path.relative_to(SOURCE))) not in REGISTRIES and not where.startswith("cli/")
        for node in _inside_functions(tree_of(path))
    ]
    assert sorted(found) == sorted(LAZY)
    assert len(found) <= 10


def _inside_functions(tree: ast.Module) -> set[ast.ImportFrom]:
    return {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("clew")
    }


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path, modules: dict[str, Path]) -> set[str]:
    tree = tree_of(path)
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typed:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in modules else node.module)
    return found & set(modules)


def _circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """What is left when modules that import nothing that is left are taken away, again and again."""
    left = {name: set(names) for name, names in imports.items()}
    while free := [name for name, names in left.items() if not names]:
        for name in free:
            del left[name]
        for names in left.values():
            names.difference_update(free)
    users = {name: {user for user, names in left.items() if name in names} for name in left}
    while loose := [name for name, names in users.items() if not names]:
        for name in loose:
            del users[name]
        for names in users.values():
            names.difference_update(loose)
    return [sorted(users)] if users else []
