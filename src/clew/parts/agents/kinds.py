"""The kinds of agents in a session: what the model is told of the user's own, and what front ends ask about them."""

import os
from pathlib import Path

from msgspec.structs import replace

from clew.agents.definitions.definition import DefinitionProblem, checked_name
from clew.agents.definitions.drafting import DraftedKind, draft
from clew.agents.definitions.reading import FOLDER_NAME, GivenAgents
from clew.agents.runner import COORDINATOR, KINDS_HEADING
from clew.host.part import Answerers, OpRefused, Part, PartSession, PartSetup
from clew.host.prompt_bytes import stored_block
from clew.llm.model import Model
from clew.orient.daily_cap import DailyCap
from clew.orient.fast_model import side_model
from clew.orient.side_query import QueryStamp, SideQueries, booked
from clew.parts.agents.at_place import kind_shown, kinds_listed, unread_folders
from clew.prompts.system_prompt import is_environment
from clew.protocol.entries import SideQueryEntry
from clew.protocol.events import SessionStarted
from clew.protocol.lookups.agents import (
    AgentKindDrafted,
    AgentKindShown,
    AgentKindsListed,
    AgentKindWritten,
    DefineAgentKinds,
    DraftAgentKind,
    ListAgentKinds,
    ShowAgentKind,
    WriteAgentKind,
)
from clew.protocol.lookups.base import LookupRefused
from clew.system.private_files import private_dir

MAX_WARNINGS = 5


class AgentKindPart(Part):
    """Made with the session where somebody may have defined a kind, else by the first question."""

    def __init__(self, setup: PartSetup, *, expected: bool = False) -> None:
        """`expected`: there may be definitions, which is worth reading them."""
        self._setup = setup
        self._own: PartSession | None = None
        self._drafts: dict[str, DraftedKind] = {}
        self.notes = tuple(
            f"{path} is not read: the directory is not trusted (see --trust)"
            for path in unread_folders(setup.workspace)
        )
        if expected:
            kinds = setup.kinds()
            began = stored_block(setup.past.entries, KINDS_HEADING) if setup.request.driven else ""
            self.words = began or kinds.words()  # a program brings its own again, after the session was opened
            problems = kinds.problems()
            self.warnings = problems[:MAX_WARNINGS]
            if more := len(problems) - MAX_WARNINGS if len(problems) > MAX_WARNINGS else 0:
                self.warnings += (f"{more} more definitions of agents are not used; `clew agents check` names them",)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own

    def introduced(self, started: SessionStarted) -> SessionStarted:
        """All kinds that can be started."""
        return replace(
            started, agents=tuple(spec.kind for spec in self._setup.kinds().specs() if spec.kind != COORDINATOR)
        )

    def lookups(self) -> Answerers:
        """What front ends ask about kinds."""
        return {
            ListAgentKinds: self._list,
            ShowAgentKind: self._show,
            DefineAgentKinds: self._define,
            DraftAgentKind: self._draft,
            WriteAgentKind: self._write,
        }

    async def _list(self, lookup: ListAgentKinds) -> AgentKindsListed:
        return kinds_listed(self._setup.kinds(), self._setup.workspace)

    async def _show(self, lookup: ShowAgentKind) -> AgentKindShown:
        try:
            return kind_shown(self._setup.kinds(), lookup.name, self._setup.workspace)
        except LookupRefused as error:
            raise OpRefused(str(error)) from error

    async def _define(self, lookup: DefineAgentKinds) -> AgentKindsListed:
        """Kinds that a program brings. Before the first request the model is told of them with its first bytes; what
        was sent stays as it is."""
        assert self._own is not None
        kinds = self._setup.kinds()
        kinds.add(GivenAgents(source="SDK", definitions=lookup.definitions))
        words, agent = kinds.words(), self._own.agent
        if words in agent.system:
            return kinds_listed(kinds, self._setup.workspace)
        if words and not agent.conversation.messages():
            kept = [block for block in agent.system if not block.startswith(KINDS_HEADING)]
            at = next((number for number, block in enumerate(kept) if is_environment(block)), len(kept))
            self._own.session.use_prompt((*kept[:at], words, *kept[at:]))
        elif words:
            self._own.reminders.add(words)
        return kinds_listed(kinds, self._setup.workspace)

    async def _draft(self, lookup: DraftAgentKind) -> AgentKindDrafted:
        """A definition in a model's words where a fast model can be asked; else a skeleton, with the reason."""
        path = self._path(lookup.name)
        if os.path.lexists(path):
            raise OpRefused(f"{path} is there already; change it, or choose another name")
        assert self._own is not None
        setup = self._setup
        model = side_model(setup.workspace.settings, self._own.agent.model.name, setup.connect, setup.log)
        try:
            made = await draft(lookup.name, lookup.description, self._queries(model))
        finally:
            if model is not None:
                await model.close()
        self._drafts[lookup.name] = made
        return AgentKindDrafted(name=made.name, text=made.text, path=str(path), model=made.model, why=made.why)

    async def _write(self, lookup: WriteAgentKind) -> AgentKindWritten:
        made = self._drafts.get(lookup.name)
        if made is None:
            raise OpRefused(f"no definition of {lookup.name!r} was drafted: /agents new {lookup.name} DESCRIPTION")
        path = self._path(lookup.name)
        try:
            private_dir(path.parent)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(made.text)
        except FileExistsError as error:
            raise OpRefused(f"{path} is there already; nothing was written") from error
        except OSError as error:
            raise OpRefused(f"{path} cannot be written: {error.strerror}") from error
        del self._drafts[lookup.name]
        assert self._own is not None
        self._own.reminders.add(f"[The user has a new kind of agent: {made.name}: {made.description}]")
        return AgentKindWritten(name=made.name, path=str(path))

    def _path(self, name: str) -> Path:
        try:
            return self._setup.workspace.home / FOLDER_NAME / f"{checked_name(name)}.md"
        except DefinitionProblem as problem:
            raise OpRefused(str(problem)) from problem

    def _queries(self, model: Model | None) -> SideQueries:
        """The path of all model calls that are not the conversation."""
        assert self._own is not None
        setup, session = self._setup, self._own.session
        settings = setup.workspace.settings

        def book(entry: SideQueryEntry) -> None:
            session.publish(booked(entry))

        return SideQueries(
            model,
            cap=DailyCap(setup.workspace.home, settings.side_queries.daily_cap_usd),
            current=lambda: QueryStamp(str(session.started.session_id), ""),
            book=book,
            log=setup.log,
            enabled=settings.side_queries.enabled,
            timeout_s=settings.side_queries.timeout_s,
        )
