"""Skills and custom commands in a session: cheap where there are none, and the bundled ones only named until used."""

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from clew.config.skill_places import Around, around, folders, untrusted_folders
from clew.engine.middleware.base import Middleware
from clew.engine.turn import Expand, Turn
from clew.host.part import Part, PartSession, PartSetup
from clew.host.prompt_bytes import stored_block
from clew.protocol.events import Event
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.invocables import InvocableRow


def _row(name: str, hint: str, description: str) -> InvocableRow:
    return InvocableRow(
        name=name, kind="skill", level="bundled", description=description, argument_hint=hint, source="clew"
    )


BUNDLED: tuple[InvocableRow, ...] = (
    _row("commit", "[what to commit, or words for the message]", "Commit the work: look, choose, write the message."),
    _row("init", "[what matters most]", "Write an AGENTS.md for this project from looking at it."),
    _row("pr", "[base branch, or words for the text]", "Open a pull request for this branch, with an honest text."),
    _row("review", "[branch, commits, PR number or files]", "Review changes: the diff, a branch or a pull request."),
)


class SkillNews(Middleware):
    """Words that join hidden, if there is anything to tell."""

    def __init__(self, news: Callable[[], str]) -> None:
        self._news = news

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Once for each turn."""
        if turn.steps == 0 and (words := self._news()):
            yield turn.accept(words)


if TYPE_CHECKING:
    from clew.parts.skills.session_skills import SessionSkills

    MakeSkillRoom = Callable[[PartSetup, Callable[[], Around]], SessionSkills]

MAX_WARNINGS = 5
UNREAD = "those of this directory are not read before it is trusted (see --trust)"
SKILLS_HEADING = "# Skills"
"""How the block of the system prompt begins; `skills/skill_words.py` has the same."""


class SkillPart(Part):
    """The room with what reads files is loaded where there is a folder to read, or a name is used."""

    def __init__(self, setup: PartSetup, make_room: "MakeSkillRoom") -> None:
        """`make_room`: loads what reads files."""
        self._setup = setup
        self._make_room = make_room
        self._room: SessionSkills | None = None
        self._own: PartSession | None = None
        self._chosen: tuple[str, ...] | None = None
        self.middlewares = (SkillNews(self._news),)
        began = stored_block(setup.past.entries, SKILLS_HEADING)
        if began or any(True for _ in folders(self._around)):
            room = self._loaded()
            room.begin(began)
            self.tools, self.words = room.tools, room.words
            problems = room.problems
            self.warnings = problems[:MAX_WARNINGS]
            if len(problems) > MAX_WARNINGS:
                more = f"{len(problems) - MAX_WARNINGS} more files of skills and commands are not used"
                self.warnings += (f"{more}; /skills and /commands list them",)
        self.notes = self._unread()
        self.unread = UNREAD if self.notes else ""

    @property
    def _around(self) -> Around:
        workspace = self._setup.workspace
        return around(
            workspace.env,
            home=workspace.home,
            root=workspace.root,
            cwd=workspace.cwd,
            sources=frozenset(workspace.sources),
            trusted=workspace.trusted,
        )

    def _unread(self) -> tuple[str, ...]:
        workspace = self._setup.workspace
        if workspace.trusted or "project" not in workspace.sources:
            return ()
        found = untrusted_folders(self._around)
        return tuple(f"{path} is not read: the directory is not trusted (see --trust)" for path in found)

    def _loaded(self) -> "SessionSkills":
        if self._room is None:
            self._room = self._make_room(self._setup, lambda: self._around)
            if self._own is not None:
                self._room.start(self._own)
            if self._chosen is not None:
                self._room.choose(self._chosen)
        return self._room

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own
        if self._room is not None:
            self._room.start(own)

    def on(self, event: Event, agent: AgentId) -> None:
        """What was lent for a turn is taken back at its end; what left the view is named again."""
        if self._room is not None and agent == MAIN_AGENT:
            self._room.hear(event)

    def refresh(self) -> None:
        """A folder that was made meanwhile counts too."""
        if self._room is not None or any(True for _ in folders(self._around)):
            self._loaded().refresh()

    def _news(self) -> str:
        self.refresh()
        return self._room.news() if self._room is not None else ""

    def choose_skills(self, names: tuple[str, ...]) -> None:
        """Only these are for the model."""
        self._chosen = names
        if self._room is not None:
            self._room.choose(names)

    @property
    def name_problems(self) -> tuple[str, ...]:
        """What kept a file from being used."""
        return self._room.problems if self._room is not None else ()

    def invocables(self) -> tuple[InvocableRow, ...]:
        """What was found when it was last looked for, and what is bundled."""
        return (*(self._room.rows() if self._room is not None else ()), *BUNDLED)

    def expansion(self, row: InvocableRow, arguments: str) -> Expand:
        """What the file says, when it joins."""
        return self._loaded().expansion(row, arguments)
