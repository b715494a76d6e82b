"""Skills that a definition of an agent names: their words are told with its prompt."""

from collections.abc import Sequence

from clew.agents.permits import ToolPlace
from clew.config.skill_places import around, folders
from clew.skills.definitions import SkillDefinition, SkillProblem, read_body
from clew.skills.finding import BUNDLED_FOLDER, Finder

MAX_SKILL_CHARS = 40_000
MAX_ALL_CHARS = 100_000


class SkillShelf:
    """The skills of a place, as definitions of agents name them. Nothing is read before one does."""

    def __init__(self, place: ToolPlace) -> None:
        self._place = place
        self._finder = Finder()

    def words(self, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The text of each of these skills, and a note for each that is not told."""
        known, told, notes, room = self._known(), list[str](), list[str](), MAX_ALL_CHARS
        for name in names:
            found = known.get(name.casefold())
            if found is None:
                notes.append(f"there is no skill {name!r} here")
                continue
            if not found.for_model:
                notes.append(f"the skill {found.name} is not for models, so it is not told")
                continue
            try:
                text = read_body(found)
            except SkillProblem as problem:
                notes.append(f"the skill {found.name} is not told: {problem}")
                continue
            if len(text) > min(MAX_SKILL_CHARS, room):
                notes.append(f"the skill {found.name} is too long to be told at once: it is to be read")
                told.append(f"# Skill {found.name}\nRead {found.real} before you begin.")
                continue
            room -= len(text)
            where = f"Its folder is {found.home}: relative paths in it count from there."
            told.append(f"# Skill {found.name}\n[{where}]\n\n{text}")
        return tuple(told), tuple(notes)

    def _known(self) -> dict[str, SkillDefinition]:
        place = self._place
        where = around(
            place.env,
            home=place.home,
            root=place.root,
            cwd=place.cwd,
            sources=frozenset(place.sources),
            trusted=place.trusted,
        )
        known: dict[str, SkillDefinition] = {}
        for one in self._finder.look((*folders(where), BUNDLED_FOLDER)).definitions:
            if one.kind == "skill":
                known.setdefault(one.name.casefold(), one)
        return known
