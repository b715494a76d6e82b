"""The kinds of agents that a session has: which definition of a name counts, and the spec that it becomes.

Nothing is read before somebody asks, and a file that changed counts from the next question on.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clew.agents.definitions.definition import AgentDefinition, DefinitionProblem, FieldChecks, Level
from clew.agents.definitions.reading import BUILTIN_FOLDER, FOLDER_NAME, AgentFolder, DefinitionReader, GivenAgents
from clew.agents.permits import PathBounds, ToolPlace
from clew.agents.runner import COORDINATOR, KINDS_HEADING, AgentSpec
from clew.engine.ports import Limits
from clew.llm.errors import LLMError, UnknownModel
from clew.llm.models.connect import default_model, resolve, target_of
from clew.llm.models.listing import ALIAS_FAMILIES
from clew.tools.toolset import is_chosen

GENERAL_PURPOSE = "general-purpose"
"""The kind that is meant where none is named."""
SETS_STATUS_LINE = "statusline-setup"
LIKE_ITS_PARENT = frozenset({GENERAL_PURPOSE, "worker", "verification"})
"""Built-in kinds whose words follow the parent's prompt instead of standing in its place."""
LEVELS: tuple[Level, ...] = ("given", "user", "project", "builtin")
"""Whose definition counts where several have a name: nothing that a project brings takes a name of the user's."""
MAX_LINE_CHARS = 240
MAX_WORDS_CHARS = 6_000
INHERITED = frozenset({"", "inherit", "default"})


class KnownKind(Struct, frozen=True, kw_only=True):
    """One definition that was found, and why it is not the one that counts; empty: it counts."""

    definition: AgentDefinition
    hidden: str = ""


class Kinds:
    """One per session, or per place that is asked about."""

    def __init__(self, place: ToolPlace, *, given: Sequence[GivenAgents] = (), files: bool = True) -> None:
        """`given`: definitions for this session only; those that come later win. `files`: read those of the user and of
        a trusted project."""
        self._place = place
        self._files = files
        self._given = tuple(given)
        self._reader = DefinitionReader(FieldChecks(model=self._model))
        self._problems: tuple[str, ...] = ()

    def add(self, given: GivenAgents) -> tuple[str, ...]:
        """Take definitions that a program brings while the session runs. What is wrong with them, a line each."""
        self._given = (*self._given, given)
        return self._reader.given(given).problems

    def find(self, name: str = "") -> AgentSpec:
        """The kind of this name, in any case; empty: the general one. Raises ValueError, which names those known."""
        return self._spec(self._counting(name))

    def definition(self, name: str) -> AgentDefinition:
        """What defines the kind of this name. Raises ValueError, which names those known."""
        return self._counting(name)

    def specs(self) -> tuple[AgentSpec, ...]:
        """All kinds: the user's own first, the built-in ones last."""
        return tuple(self._spec(one.definition) for one in self.known() if not one.hidden)

    def known(self) -> tuple[KnownKind, ...]:
        """Every definition there is, those that win first; what another one hides says so."""
        taken: dict[str, AgentDefinition] = {}
        rows: list[KnownKind] = []
        for one in self._all():
            first = taken.setdefault(one.name.casefold(), one)
            hidden = "" if first is one else f"{first.origin.source} defines the same name"
            if not hidden and one.origin.level == "project":
                one = taken[one.name.casefold()] = self._no_wider(one)
            rows.append(KnownKind(definition=one, hidden=hidden))
        return tuple(rows)

    def problems(self) -> tuple[str, ...]:
        """Definitions that are not used, a line each."""
        self.known()
        return self._problems

    def words(self) -> str:
        """The block of the system prompt that tells of kinds that are not built in; empty where there are none."""
        own = [one.definition for one in self.known() if not one.hidden and one.definition.origin.level != "builtin"]
        lines: list[str] = []
        room = MAX_WORDS_CHARS
        for one in own:
            line = _cut(f"- {one.name}: {one.description}", MAX_LINE_CHARS)
            room -= len(line) + 1
            if room < 0:
                lines.append(f"- and {len(own) - len(lines)} more, which are used by name only")
                break
            lines.append(line)
        return "\n".join((KINDS_HEADING, "More values of the Agent tool's subagent_type:", *lines)) if own else ""

    def _counting(self, name: str) -> AgentDefinition:
        wanted = name.strip() or GENERAL_PURPOSE
        found = {one.definition.name: one.definition for one in self.known() if not one.hidden}
        by_case = next((one for known, one in found.items() if known.casefold() == wanted.casefold()), None)
        if (one := found.get(wanted, by_case)) is not None:
            return one
        off = "" if self._place.settings.agents.builtin else "; built-in agents are switched off (agents.builtin)"
        wrong = next((line for line in self._problems if f"{wanted}.md" in line or repr(wanted) in line), "")
        because = f"; {wrong}" if wrong else ""
        startable = [known for known in found if known != COORDINATOR]
        there = f"kinds are {', '.join(startable)}" if startable else "none is defined"
        raise ValueError(f"there is no agent of the kind {wanted!r}{off}{because}; {there}")

    def _all(self) -> Iterator[AgentDefinition]:
        problems: list[str] = []
        for given in reversed(self._given):
            found = self._reader.given(given)
            problems += found.problems
            yield from found.definitions
        for folder in sorted(self._folders(), key=lambda one: LEVELS.index(one.level)):
            found = self._reader.folder(folder)
            problems += found.problems
            yield from found.definitions
        self._problems = tuple(dict.fromkeys(problems))

    def _folders(self) -> Iterator[AgentFolder]:
        if self._files:
            yield from agent_folders(self._place)
        if self._place.settings.agents.builtin:
            yield AgentFolder(path=BUILTIN_FOLDER, level="builtin")

    def _no_wider(self, one: AgentDefinition) -> AgentDefinition:
        """A project's kind with the name of a built-in one has no more tools than that: rules name kinds."""
        folder = AgentFolder(path=BUILTIN_FOLDER, level="builtin")
        for builtin in self._reader.folder(folder).definitions:
            if builtin.name.casefold() == one.name.casefold():
                wanted = builtin.tools if one.tools is None else one.tools
                tools = None if wanted is None else tuple(tool for tool in wanted if is_chosen(tool, builtin.tools))
                without = tuple(dict.fromkeys((*one.without, *builtin.without)))
                mode = one.mode if builtin.mode is None else builtin.mode
                note = "it has the name of a built-in kind, and no more tools than that"
                return replace(one, tools=tools, without=without, mode=mode, notes=(*one.notes, note))
        return one

    def _spec(self, one: AgentDefinition) -> AgentSpec:
        builtin = one.origin.level == "builtin"
        follows = builtin and one.name in LIKE_ITS_PARENT
        words = (one.prompt, *_skill_words(one.skills))
        return AgentSpec(
            kind=one.name,
            model=one.model,
            tools=one.tools,
            without=one.without,
            system=None if follows else words,
            more_system=words if follows else (),
            permission_mode=one.mode,
            limits=Limits(max_steps=one.max_turns),
            effort=one.effort or None,
            description=one.description,
            source=one.origin.source,
            background=one.background,
            isolation=one.isolation,
            needs_servers=one.needs_servers,
            initial_prompt=one.initial_prompt,
            color=one.color,
            bounds=self._settings_only() if builtin and one.name == SETS_STATUS_LINE else None,
        )

    def _settings_only(self) -> PathBounds:
        place = self._place
        home = os.path.realpath(place.env.get("HOME", "") or str(place.home.parent))
        return PathBounds(reads=(home,), edits=(os.path.realpath(place.home / "settings.json"),))

    def _model(self, name: str, level: Level) -> tuple[str, str]:
        """The model that a definition means, and a note on what does not count of it. Raises DefinitionProblem."""
        if name.lower() in INHERITED:
            return "", ""
        providers, env = self._place.settings.providers, self._place.env
        try:
            row, model = resolve(name, providers, env)
        except UnknownModel as error:
            raise DefinitionProblem(f"its model: {error}") from error
        if level == "project" and row.name != self._own_provider(env):
            return "", f"its model {name} does not count: a project's file chooses no other provider than yours"
        try:
            target_of(name, providers=providers, env=env)
        except LLMError as error:
            if name.lower() in ALIAS_FAMILIES:
                return "", f"its model {name} cannot be had, so it has its parent's: {error}"
            return f"{row.name}/{model}", str(error)
        return f"{row.name}/{model}", ""

    def _own_provider(self, env: Mapping[str, str]) -> str:
        settings = self._place.settings
        name = settings.model or default_model(env, settings.providers) or ""
        try:
            return resolve(name, settings.providers, env)[0].name
        except UnknownModel:
            return ""


def agent_folders(place: ToolPlace) -> Iterator[AgentFolder]:
    """The folders of the user and of a trusted project that are there now, those that win first within a level."""
    claude = place.env.get("CLAUDE_CONFIG_DIR") or os.path.join(place.env.get("HOME", "") or "~", ".claude")
    user = (str(place.home), os.path.expanduser(claude)) if "user" in place.sources else ()
    project = [
        os.path.join(base, home) for base in dict.fromkeys((place.cwd, place.root)) for home in (".clew", ".claude")
    ]
    for home in dict.fromkeys(user):
        if os.path.isdir(path := os.path.join(home, FOLDER_NAME)):
            yield AgentFolder(path=path, level="user")
    for home in project if place.trusted and "project" in place.sources else ():
        path = os.path.join(home, FOLDER_NAME)
        if os.path.isdir(path) and os.path.realpath(home) not in {os.path.realpath(one) for one in user}:
            yield AgentFolder(path=path, level="project", within=str(place.root))


def _skill_words(skills: tuple[str, ...]) -> tuple[str, ...]:
    """What makes an agent read its skills first."""
    return (f"Before you begin, read these skills with the Skill tool: {', '.join(skills)}.",) if skills else ()


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
