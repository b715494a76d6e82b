"""Definitions of agents from where people and programs put them: folders of Markdown files, and JSON objects."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from clew.agents.definitions.definition import (
    AgentDefinition,
    DefinitionProblem,
    FieldChecks,
    Level,
    Origin,
    understood,
)
from clew.protocol.event_kinds.programs import HookScope
from clew.skills.definitions import SkillProblem, kept_inside, one_line, whole_text
from clew.skills.folder_walk import FilesRead, FolderWalk
from clew.skills.front_matter import FrontMatterDocument, FrontMatterError, parse
from clew.skills.nested_matter import nested_value

FOLDER_NAME = "agents"
MAX_FILES = 200
"""In one folder; more are told of and not read."""
MAX_GIVEN = 200
BUILTIN_FOLDER = str(Path(__file__).with_name("builtin"))
NESTED = frozenset({"hooks", "mcpservers"})
"""Fields whose values are objects."""


class AgentFolder(Struct, frozen=True, kw_only=True):
    """A folder that may hold definitions."""

    path: str
    level: Level
    within: str = ""
    """The directory that no link may lead out of; empty: the user's own, where links are theirs."""
    scope: HookScope = "user"
    """Whose programs its definitions bring."""


class GivenAgents(Struct, frozen=True, kw_only=True):
    """Definitions that a person or a program gave for one session, by name."""

    source: str
    """`--agents` or `SDK`."""
    definitions: Mapping[str, Any]


class FoundAgents(Struct, frozen=True, kw_only=True):
    """The definitions of one source, in the order of their files or keys, and what is wrong with others."""

    definitions: tuple[AgentDefinition, ...] = ()
    problems: tuple[str, ...] = ()


class DefinitionReader:
    """Reads definitions, and reads a file again only when it has changed."""

    def __init__(self, checks: FieldChecks) -> None:
        self._checks = checks
        self._files = FilesRead[AgentDefinition]()

    def folder(self, folder: AgentFolder) -> FoundAgents:
        """What one folder defines now. Of two files with one name the first counts."""
        problems: list[str] = []
        by_name: dict[str, AgentDefinition] = {}
        walk = FolderWalk(folder.path, within=folder.within, max_files=MAX_FILES)
        for path, _ in walk:
            found, problem = self._files.read(path, folder, partial(self._read, path, folder))
            if found is None:
                problems.append(problem)
                continue
            first = by_name.setdefault(found.name.casefold(), found)
            if first is not found:
                problems.append(f"{path}: {first.origin.source} has the name {found.name!r} already")
        return FoundAgents(definitions=tuple(by_name.values()), problems=(*problems, *walk.problems))

    def given(self, given: GivenAgents) -> FoundAgents:
        """What a JSON object defines: a definition under each name."""
        definitions: list[AgentDefinition] = []
        problems: list[str] = []
        for name, fields in list(given.definitions.items())[:MAX_GIVEN]:
            try:
                definitions.append(self._of_json(name, fields, given.source))
            except DefinitionProblem as problem:
                problems.append(f"{given.source}, {one_line(name)[:60]!r}: {problem}")
        if len(given.definitions) > MAX_GIVEN:
            problems.append(f"{given.source}: defines too many agents; only the first {MAX_GIVEN} are used")
        return FoundAgents(definitions=tuple(definitions), problems=tuple(problems))

    def _of_json(self, name: str, fields: Any, source: str) -> AgentDefinition:
        if not isinstance(fields, dict):
            raise DefinitionProblem("a definition is an object with description and prompt")
        found = cast(dict[str, Any], fields)
        if found.get("name", name) != name:
            raise DefinitionProblem(f"it names itself {one_line(str(found['name']))[:60]!r} besides")
        return understood(name, found, "", Origin(level="given", source=source), self._checks)

    def _read(self, path: str, folder: AgentFolder) -> AgentDefinition:
        """Raises SkillProblem, which names the file."""
        try:
            return self._of_file(path, folder)
        except FrontMatterError as error:
            raise SkillProblem(f"{path}, line {error.line}: {error}") from error
        except DefinitionProblem as problem:
            raise SkillProblem(f"{path}: {problem}") from problem

    def _of_file(self, path: str, folder: AgentFolder) -> AgentDefinition:
        document = parse(whole_text(path, kept_inside(path, folder.within)))
        if not document.fields:
            raise DefinitionProblem("it has no front matter with a name and a description")
        builtin = folder.level == "builtin"
        origin = Origin(level=folder.level, source="built in" if builtin else path, scope=folder.scope)
        named = os.path.basename(path).removesuffix(".md")
        return understood(named, _with_nested(document), document.body, origin, self._checks)


def _with_nested(document: FrontMatterDocument) -> dict[str, Any]:
    """The fields of a file, those that hold more than texts as objects. Raises FrontMatterError."""
    fields: dict[str, Any] = dict(document.fields)
    for key, raw in document.nested.items():
        if key.lower().replace("-", "").replace("_", "") in NESTED:
            fields[key] = nested_value(raw)
    return fields
