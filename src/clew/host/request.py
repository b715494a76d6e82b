"""What is asked of the host when a session is to be opened. Front ends and the command line only fill this in."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from clew.config.load import ALL_SOURCES, Scope
from clew.llm.model import Model
from clew.llm.request import Thinking
from clew.protocol.entries import Entrypoint

Tell = Callable[[Literal["info", "warning", "error"], str], None]
"""Words for a person while there is no session yet that could publish them."""


def quiet(level: Literal["info", "warning", "error"], text: str) -> None:
    """Nobody to tell."""


class SessionRequest(Struct, frozen=True, kw_only=True):
    """One session: where, which one, and how. Everything has a default but the place."""

    cwd: Path
    env: Mapping[str, str]
    settings: str | None = None
    """One more layer of settings: a file, or JSON."""
    flags: dict[str, Any] = {}
    """Settings under their dotted keys that beat all files."""
    headless: bool = False
    """Nobody is there to answer."""
    entrypoint: Entrypoint = "terminal"
    """Who asks: a person at a terminal, a script, or a program."""
    labelled: bool = False
    """Whoever reads the events of a run that nobody watches wants its batches labelled."""
    newest: bool = False
    """Go on with the newest session of this place."""
    resume: str | None = None
    """Go on with this one: an id, title, words that were said, or a file."""
    source_agent: str = ""
    source_session: str = ""
    """Whose session it is, and which of several in one file; known once the request is resolved."""
    choose: Any = None
    """Lets a person choose among several that fit (`catalog.find_session.Choose`); None: nobody is there."""
    resume_at: str = ""
    """Cut after this entry."""
    drops_turn: str | None = None
    """With `resume_at`: the prompt whose turn is all that may be cut off; None: that is not looked at."""
    fork: bool = False
    """Go on in a copy."""
    branched: bool = False
    """The copy is a branch: it has a title of its own and is on disk at once."""
    worktree: str | None = None
    """Work in the git checkout of this name; empty: in a new one; `none`: in the project's own. None: where the session
    did before, else in the project's."""
    session_id: str = ""
    """For a new session; empty: a random one."""
    persist: bool = True
    take_over: bool = False
    wait: bool = False
    system_prompt: str | None = None
    """In place of our words; empty: no system prompt but what memory files say."""
    append_system_prompt: str | None = None
    agent: str = ""
    """The kind of agent that the conversation runs as; `main`: clew's own; empty: as it ran before, else clew's own."""
    teammate: str = ""
    """The session is a member of a team, in a pane of its own: TEAM/NAME."""
    agents: dict[str, Any] = {}
    """Definitions of agents for this session only, by name."""
    answered: bool = False
    """A program answers for a person: approvals and questions are put to it."""
    sources: frozenset[Scope] = ALL_SOURCES
    """Whose files are read: settings, memory files, saved rules. `local` and `project` lie in the project."""
    tools: tuple[str, ...] | None = None
    """The builtin tools that the model is told of; None: all."""
    driven: bool = False
    """A program speaks with the session over a channel, so servers that live in it can be reached."""
    mcp_config: tuple[str, ...] = ()
    """MCP servers for this session only: files, or JSON."""
    strict_mcp: bool = False
    """No other MCP servers than those."""
    bare: bool = False
    """Nothing that files bring besides settings and permissions: no memory files, skills, commands, hooks, MCP or
    language servers, and no model calls besides the conversation."""
    mcp_wait_s: float | None = None
    """How long the first request waits for MCP servers; 0: not at all. None: a short while where nobody sits there, or
    where servers were given for this session."""
    permission_tool: str = ""
    """A tool of an MCP server that answers what would ask a person."""
    thinking: Thinking = Thinking()
    json_schema: dict[str, Any] | None = None
    """The shape that the answer of every turn must have."""
    tell: Tell = quiet
    connect: Callable[[str], Model] | None = None
    """How a name becomes a model, in place of the providers. Only code can give it: no flag, setting or file."""

    @property
    def one_shot(self) -> bool:
        """Whether it is a run that says what it has to say at its end."""
        return self.headless and not self.driven

    @property
    def resuming(self) -> bool:
        """Whether there is a past to go on from."""
        return self.newest or self.resume is not None
