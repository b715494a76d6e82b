"""Looking through folders for skills and commands: what did not change is not read again."""

from pathlib import Path

from msgspec import Struct

from clew.config.skill_places import Folder
from clew.skills.definitions import SkillDefinition, read_definition
from clew.skills.folder_walk import FilesRead, FolderWalk

MAX_FILES = 500
"""In one folder; more are told of and not read."""
SKILL_FILE = "SKILL.md"
BUNDLED_FOLDER = Folder(path=str(Path(__file__).with_name("bundled")), kind="skill", level="bundled", source="clew")
"""What comes with clew."""


class FoundSkills(Struct, frozen=True, kw_only=True):
    """What there is, those that win first."""

    definitions: tuple[SkillDefinition, ...] = ()
    problems: tuple[str, ...] = ()


class Finder:
    """Remembers what files said, by their state on disk."""

    def __init__(self) -> None:
        self._files = FilesRead[SkillDefinition]()

    def look(self, folders: tuple[Folder, ...]) -> FoundSkills:
        """All of these folders, now."""
        definitions: list[SkillDefinition] = []
        problems: list[str] = []
        for folder in folders:
            skill_file = SKILL_FILE if folder.kind == "skill" else ""
            walk = FolderWalk(folder.path, within=folder.within, max_files=MAX_FILES, folder_file=skill_file)
            for path, name in walk:
                found, problem = self._read(path, name, folder)
                if found is not None:
                    definitions.append(found)
                else:
                    problems.append(problem)
            problems += walk.problems
        return FoundSkills(definitions=tuple(definitions), problems=tuple(problems))

    def _read(self, path: str, name: str, folder: Folder) -> tuple[SkillDefinition | None, str]:
        return self._files.read(path, folder, lambda: read_definition(path, name, folder))
