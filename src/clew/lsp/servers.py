"""Which language servers there are: rows of data, and the one for a file."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from clew.config.schema import LanguageServer
from clew.system.environment import find_program

PYTHON = {".py": "python", ".pyi": "python"}
SCRIPT = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescriptreact",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascriptreact",
}
C_FAMILY = {".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"}

NONE: Mapping[str, str] = {}


class LanguageServerKind(Struct, frozen=True, kw_only=True):
    """One kind of server."""

    name: str
    command: tuple[str, ...]
    languages: Mapping[str, str]
    """The language's id in the protocol, by the end of a file's name."""
    root_markers: tuple[str, ...] = ()
    """The nearest directory that holds one of these is what the server works in."""


KNOWN: tuple[LanguageServerKind, ...] = (
    LanguageServerKind(
        name="pyright",
        command=("pyright-langserver", "--stdio"),
        languages=PYTHON,
        root_markers=("pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg"),
    ),
    LanguageServerKind(
        name="typescript",
        command=("typescript-language-server", "--stdio"),
        languages=SCRIPT,
        root_markers=("tsconfig.json", "jsconfig.json", "package.json"),
    ),
    LanguageServerKind(name="gopls", command=("gopls",), languages={".go": "go"}, root_markers=("go.work", "go.mod")),
    LanguageServerKind(
        name="rust-analyzer", command=("rust-analyzer",), languages={".rs": "rust"}, root_markers=("Cargo.toml",)
    ),
    LanguageServerKind(
        name="clangd",
        command=("clangd", "--background-index=false"),
        languages=C_FAMILY,
        root_markers=("compile_commands.json", "compile_flags.txt", ".clangd"),
    ),
)


def servers_of(given: Mapping[str, LanguageServer]) -> tuple[LanguageServerKind, ...]:
    """The known rows with the user's own: one of the same name takes its place, one without a command switches it
    off."""
    own = [
        LanguageServerKind(
            name=name,
            command=row.command or known_command(name),
            languages=row.languages or known_languages(name),
            root_markers=row.root_markers,
        )
        for name, row in given.items()
        if row.enabled
    ]
    return (*own, *(row for row in KNOWN if row.name not in given))


def known_command(name: str) -> tuple[str, ...]:
    """What a known server is started with."""
    return next((row.command for row in KNOWN if row.name == name), ())


def known_languages(name: str) -> Mapping[str, str]:
    """What a known server is for."""
    return next((row.languages for row in KNOWN if row.name == name), NONE)


def server_for(path: str, servers: Iterable[LanguageServerKind]) -> LanguageServerKind | None:
    """The first that knows the language of a file."""
    suffix = os.path.splitext(path)[1].lower()
    return next((row for row in servers if suffix in row.languages and row.command), None)


def program_of(server: LanguageServerKind, env: Mapping[str, str], outside: Iterable[str]) -> str:
    """The program on the user's own PATH; never one that a project brings. Empty: there is none."""
    first = server.command[0]
    roots = [Path(root) for root in outside]
    if not os.path.isabs(first):
        return find_program(first, env=env, outside=roots) if os.sep not in first else ""
    inside = any(Path(os.path.realpath(first)).is_relative_to(os.path.realpath(root)) for root in roots)
    return first if os.access(first, os.X_OK) and not inside else ""


def root_of(path: str, server: LanguageServerKind, project: str) -> str:
    """The nearest directory around a file, within the project, that holds a marker; else the project."""
    folder = os.path.dirname(path)
    while folder == project or folder.startswith(project.rstrip("/") + "/"):
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in server.root_markers):
            return folder
        folder = os.path.dirname(folder)
    return project
