"""Skills and commands at work: what was found, what the model is told of it, and what using one does."""

from collections.abc import Callable
from typing import Any

from clew.config.skill_places import Around, folders
from clew.engine.lone_call import LoneCalls
from clew.engine.turn import Expand, Expansion, Turn
from clew.host.part import OpRefused, PartSession, PartSetup
from clew.parts.skills.expander import Expander
from clew.parts.skills.turn_loan import TurnLoan
from clew.permissions.access import ToolAccess
from clew.protocol.events import CompactionEnded, Event
from clew.protocol.invocables import InvocableRow, typed_words
from clew.skills.definitions import Definition, Problem, read_body
from clew.skills.finding import BUNDLED_FOLDER, Finder, Found
from clew.skills.skill_tool import Skill
from clew.skills.skill_words import Announced, block, delta, names_in, usable
from clew.skills.templates import joined as joined_words
from clew.skills.templates import takes_arguments, with_arguments, words_only
from clew.tools.base import Tool

MAX_IN_USE = 3


class SkillRoom:
    """One for each session that has any."""

    def __init__(self, setup: PartSetup, around: Callable[[], Around]) -> None:
        self._setup = setup
        self._around = around
        self._finder = Finder()
        self._found = Found()
        self._bundled = Found()
        self._announced = Announced()
        self._known: set[str] = set()
        self._in_use: dict[str, Definition] = {}
        self._own: PartSession | None = None
        self._loan: TurnLoan | None = None
        self.tools: tuple[Tool[Any], ...] = ()
        self.words = ""
        self._chosen: frozenset[str] | None = None
        self._look()

    def begin(self, began: str) -> None:
        """Decide once what the model is told from the first request on. `began`: what it was told when a session that
        goes on now began; those bytes stay, and what changed since is told in its place."""
        skills = self._for_model()
        if not skills and not began:
            self._known = set()
            return
        self.tools = (Skill(self._usable_now, self._used_by_model, self._announced),)
        self.words = began or block(list(skills.values()))
        if began and not began.rstrip().endswith("with a search"):
            self._announced = Announced(names_in(began))
            self._known = set(names_in(began))
            self.tools = (Skill(self._usable_now, self._used_by_model, self._announced),)
        else:
            self._announced.add(skills.values())
            self._known = set(skills)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own
        self._loan = TurnLoan(own.session, own.agent, own.toolbox.permits, self._setup.connect)

    @property
    def problems(self) -> tuple[str, ...]:
        """Files that are not used, a line each."""
        return self._found.problems

    def rows(self) -> tuple[InvocableRow, ...]:
        """All that was found; what is bundled is named elsewhere."""
        return tuple(definition.row() for definition in self._found.definitions)

    def choose(self, names: tuple[str, ...]) -> None:
        """Only these are for the model. What it was not sent yet no longer tells of others."""
        self._chosen = frozenset(names)
        if self._own is None or not self.words or self._own.agent.conversation.messages():
            return  # what was sent stays: `news` tells what is gone
        chosen = list(self._for_model().values())
        words = block(chosen)
        self._own.session.use_prompt(tuple(words if one == self.words else one for one in self._own.agent.system))
        self.words, self._announced = words, Announced()
        self._announced.add(chosen)

    def _for_model(self) -> dict[str, Definition]:
        """What the model may use, by name."""
        found = usable(self._found.definitions)
        if self._chosen is None:
            return found
        return {name: one for name, one in found.items() if name in self._chosen}

    def refresh(self) -> None:
        """Look again."""
        before = self._found
        self._look()
        if self._found != before and self._own is not None:
            self._own.names_changed()

    def news(self) -> str:
        """What the model should know of skills that came or went since it was told."""
        by_tool = self._own is not None and self._own.toolbox.tools.is_told(Skill.name)
        skills = self._for_model() if by_tool else self._readable(self._for_model())
        added = [one for name, one in skills.items() if name not in self._known and name not in self._announced]
        gone = self._announced.gone(skills)
        self._known = set(skills)
        self._announced.add(added)
        return delta(added, gone, by_file=not by_tool)

    def _readable(self, skills: dict[str, Definition]) -> dict[str, Definition]:
        """Those that may be read without the tool, which came too late for this session's list: what a rule keeps the
        tool from is not told. A user's own files can be read without asking, as when one is used."""
        if self._own is None:
            return {}
        permits = self._own.toolbox.permits
        found: dict[str, Definition] = {}
        for name, one in skills.items():
            if permits.judge((ToolAccess(tool=Skill.name, read_only=True, subject=name),)).decision == "allow":
                found[name] = one
                if one.folder.level in ("user", "plugin") and name not in self._announced:
                    permits.remember((read_rule(one.home),), kept=False)
        return found

    def expansion(self, row: InvocableRow, arguments: str) -> Expand:
        """What a name stands for, made when it joins. Raises OpRefused for what is wrong now."""
        definition = self._of(row)
        try:
            read_body(definition)
        except Problem as problem:
            raise OpRefused(str(problem)) from problem
        typed = typed_words(row.name, arguments)

        async def expand(turn: Turn) -> Expansion:
            self._use(definition)
            try:
                return await self._expander().expanded(definition, arguments, turn, typed=typed)
            except Problem as problem:
                return Expansion(refused=str(problem))

        return expand

    def _of(self, row: InvocableRow) -> Definition:
        if row.level == "bundled":
            self._bundled = self._bundled if self._bundled.definitions else self._finder_of_bundled()
        here = self._bundled if row.level == "bundled" else self._found
        for definition in here.definitions:
            if definition.name == row.name and (row.level == "bundled" or definition.path == row.path):
                return definition
        raise OpRefused(f"/{row.name} is not there any more")

    def _finder_of_bundled(self) -> Found:
        return Finder().look((BUNDLED_FOLDER,))

    def _look(self) -> None:
        self._found = self._finder.look(tuple(folders(self._around())))

    def _usable_now(self) -> dict[str, Definition]:
        self.refresh()
        return self._for_model()

    def _used_by_model(self, definition: Definition, arguments: str) -> str:
        """A skill's words for the model that asked for it. Files and commands in it are the model's to look at."""
        body = read_body(definition)
        self._use(definition)
        pieces = words_only(body)
        text = with_arguments(body, arguments)
        return f"{heading(definition)}\n\n{joined_words([text], arguments, placed=takes_arguments(pieces))}"

    def _use(self, definition: Definition) -> None:
        self._in_use.pop(definition.name, None)
        self._in_use[definition.name] = definition
        if self._own is None or self._loan is None:
            return
        self._loan.lend(definition)
        if definition.kind == "skill" and definition.folder.level in ("user", "plugin"):
            self._own.toolbox.permits.remember((read_rule(definition.home),), kept=False)

    def _expander(self) -> Expander:
        assert self._own is not None
        toolbox, session = self._own.toolbox, self._own.session
        calls = LoneCalls(tools=toolbox.tools, host=toolbox.host, pending=session.pending, publish=session.publish)
        return Expander(calls, toolbox.session, home=self._setup.workspace.env.get("HOME", ""))

    def hear(self, event: Event) -> None:
        """The loan ends with its turn. What was read may have left the view with a compaction: the model is told where
        it is."""
        if self._loan is not None:
            self._loan.hear(event)
        if not isinstance(event, CompactionEnded) or self._own is None:
            return
        for definition in list(self._in_use.values())[-MAX_IN_USE:]:
            how = "the Skill tool" if self.tools and definition.for_model else definition.path
            self._own.reminders.add(
                f"[{definition.name} was in use before the summary; read it again with {how} if its words matter.]"
            )
        self._in_use.clear()
        if not self.tools:  # there is no other way to learn of them again
            self._known, self._announced = set(), Announced()


def heading(definition: Definition) -> str:
    """Which skill this is, and where its files are."""
    return f"[Skill {definition.name}. Its folder is {definition.home}: relative paths in it count from there.]"


def read_rule(folder: str) -> str:
    """The rule that lets files of a skill be read, whatever its folder is called."""
    literal = "".join(f"[{char}]" if char in "*?[" else char for char in folder)
    return f"Read({literal}/**)"
