"""Skill: the model reads a skill, or searches for one."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from clew.permissions.access import Access, ToolAccess
from clew.skills.definitions import SkillDefinition, SkillProblem
from clew.skills.skill_words import Announced, search, told
from clew.tools.base import Tool, ToolContext, ToolResult

SEARCH_LINE_CHARS = 600


class SkillParams(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the model gives."""

    name: str = ""
    arguments: str = ""
    search: str = ""


class Skill(Tool[SkillParams]):
    """One for each session. What using a skill lends to the turn is the host's business."""

    name = "Skill"
    params = SkillParams
    effect = "session"
    hint = "instructions for a particular task"

    def __init__(
        self,
        skills: Callable[[], dict[str, SkillDefinition]],
        use: Callable[[SkillDefinition, str], str],
        announced: Announced,
    ) -> None:
        """`skills`: those there are now. `use` gives the words of one, and what holds for it from now on."""
        self._skills = skills
        self._use = use
        self._announced = announced

    def is_concurrency_safe(self, params: SkillParams) -> bool:
        return True

    def accesses(self, params: SkillParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True, subject=params.name.strip().removeprefix("/")),)

    async def run(self, params: SkillParams, context: ToolContext) -> ToolResult:
        """The words of a skill, or a list."""
        known = self._skills()
        if params.search.strip() and not params.name.strip():
            return self._searched(params.search, list(known.values()))
        name = params.name.strip().removeprefix("/")
        skill = known.get(name) or next((one for one in known.values() if one.name.casefold() == name.casefold()), None)
        if skill is None:
            return self._unknown(name, list(known.values()))
        try:
            return ToolResult(text=self._use(skill, params.arguments))
        except SkillProblem as problem:
            return ToolResult(text=str(problem), is_error=True)

    def _searched(self, query: str, known: Sequence[SkillDefinition]) -> ToolResult:
        found = search(query, known)
        self._announced.add(found)
        if not found:
            return ToolResult(text=f"No skill fits {query!r}; there are {len(known)}.")
        return ToolResult(text="\n".join(told(one, limit=SEARCH_LINE_CHARS) for one in found))

    def _unknown(self, name: str, known: Sequence[SkillDefinition]) -> ToolResult:
        if not name:
            return ToolResult(text="Give the name of a skill, or words to search for.", is_error=True)
        near = ", ".join(one.name for one in search(name.replace(":", " ").replace("-", " "), known, limit=3))
        hint = f" Did you mean {near}?" if near else ""
        return ToolResult(text=f"There is no skill {name!r}.{hint}", is_error=True)
