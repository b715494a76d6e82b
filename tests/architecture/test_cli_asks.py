"""`cli` asks the hub: it opens no store, permission file or kept file itself, imports inside functions included."""

import ast
from pathlib import Path

from architecture.sources import SOURCE, tree_of

KEEPERS = (
    "clew.agents",
    "clew.catalog",
    "clew.hooks",
    "clew.ledger",
    "clew.llm.keys",
    "clew.llm.probe.report_card",
    "clew.mcp",
    "clew.orient",
    "clew.parts",
    "clew.permissions",
    "clew.transcript",
    "clew.undo",
)
"""Packages that keep or read files of users: sessions, rules, trust, kept files, keys, logins, recaps."""
ALLOWED = {
    "clew.transcript.errors": "exceptions that the host raises",
    "clew.catalog.found_session": "a type of the request, for type checkers only",
    "clew.catalog.opening": "reads one transcript that the hub named, for show, export and mcp serve: it keeps nothing",
    "clew.catalog.exporting": "writes what was read in another format",
    "clew.transcript.mapping.render": "entries as text: no file is touched",
    "clew.orient.load": "folds one transcript that the hub named into facts, for ledger and mcp serve",
    "clew.orient.wording": "words for standings: no file is touched",
    "clew.ledger.facts": "the shape of facts: no file is touched",
    "clew.permissions.access": "types of a verdict",
    "clew.permissions.own_commands": "which sub-commands change clew's own state: a table",
    "clew.permissions.policy": "`clew permissions check|explain` and mcp serve judge what they are given: no rule file",
    "clew.permissions.rules": "as above: a rule as text",
    "clew.permissions.shell.verdict": "as above: a command as text",
    "clew.hooks.definitions": "the shape of a hook, to show it",
    "clew.hooks.digests": "which files a hook's command names, to show them",
    "clew.mcp.definitions": "which scopes need an approval: no file is touched",
    "clew.mcp.tool_server": "the SDK's server for `clew mcp serve`",
    "clew.llm.probe.report_card": "`clew doctor --probe` keeps the card that it has just made",
}
"""What `cli` still imports of them, and why."""


def imported(path: Path) -> set[str]:
    """The modules that a module names in import statements, wherever they stand."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if _is_module(name)} or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def kept_by(name: str) -> bool:
    return any(name == keeper or name.startswith(f"{keeper}.") for keeper in KEEPERS)


def test_the_command_line_opens_no_store_itself() -> None:
    used = {
        (str(path.relative_to(SOURCE)), name)
        for path in sorted((SOURCE / "cli").rglob("*.py"))
        for name in imported(path)
        if kept_by(name)
    }
    assert sorted(row for row in used if row[1] not in ALLOWED) == [], "ask the hub: assembly/place.py"
    assert set(ALLOWED) - {name for _, name in used} == set(), "what nobody imports needs no leave"
