"""What a child agent is made of: its own log, conversation and tools, on what its session shares."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from clew.agents.checkouts import Receipt, lacking, seen_places
from clew.agents.child_files import ChildFiles, past_state
from clew.agents.definitions.prompts import child_prompt
from clew.agents.forking import FORK, NotForForks, inherited
from clew.agents.log import AgentLog
from clew.agents.runner import AgentBody, AgentSpec
from clew.engine.agent import Agent
from clew.engine.compaction.compactor import Compactor
from clew.engine.compaction.live_state import NothingLive
from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.compaction import MakeRoom
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Reminders, Steering
from clew.engine.middleware.repeat_brake import RepeatBrake
from clew.engine.middleware.secret_warning import SecretWarning
from clew.llm.model import Model
from clew.protocol.entries import SystemPromptEntry
from clew.protocol.ids import AgentId
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import NullWriter, TranscriptSink, TranscriptWriter
from clew.transcript.past.reader import LoadedLog

if TYPE_CHECKING:
    from clew.agents.factory import AgentFactory


def child_body(
    factory: "AgentFactory",
    files: ChildFiles,
    spec: AgentSpec,
    parent: AgentBody,
    *,
    model: str = "",
    past: LoadedLog | None = None,
    agent: AgentId | None = None,
    checkout: Receipt | None = None,
    team: str = "",
) -> AgentBody:
    """A child of this kind below `parent`; a fork begins with all that its parent has in view. `model`: another than
    its kind's. `past`, `agent`: it goes on from this log. `checkout`: where it works instead of its parent's directory.
    `team`: it is a member of it. Raises LLMError for a model that cannot be had, and then nothing was made."""
    above = parent.agent
    own_model = model_of(factory, model or spec.model, above.own_model)
    agent_id = agent or AgentId(os.urandom(8).hex())
    session_id = factory.session.started.session_id
    path = files.transcript(agent_id)
    sink: TranscriptSink = NullWriter()
    if path is not None:
        sink = TranscriptWriter(path, session_id, leased=False, notify=factory.session.notice)
    forks = spec.kind == FORK.kind
    more = factory.team.member_tools(agent_id) if team and factory.team is not None else ()
    if forks:
        tools = parent.tools.fork(agent_id, NotForForks)
    else:
        tools = parent.tools.child(
            agent_id,
            spec.tools,
            mode=spec.permission_mode,
            without=spec.without,
            bounds=spec.bounds,
            memory=spec.memory,
            own_tools=(*spec.own_tools, *more),
            checkout=checkout.path if checkout is not None else "",
            seen=seen_places(checkout) if checkout is not None else (),
        )
    conversation = Conversation(
        sink,
        session_id=session_id,
        sidechain=True,
        entries=past.entries if past is not None else (),
        chain=past.chain if past is not None else None,
        leaf=past.leaf if past is not None else None,
    )
    stamp = Stamp(
        session_id=session_id, cwd=tools.session.cwd, git_branch=parent.log.stamp.git_branch, agent_id=agent_id
    )
    log = AgentLog(
        conversation,
        sink,
        stamp,
        state=past_state(past) if past is not None else None,
        place=lambda: (tools.session.cwd, parent.log.stamp.git_branch),
    )
    made = Agent(
        conversation=conversation,
        model=own_model,
        fallback=above.fallback,
        system=(*child_prompt(spec, factory.words_above(above)), *factory.shared_words, *place_words(checkout)),
        tools=tools.tools,
        effort=spec.effort or above.own_effort,
        thinking=above.thinking,
        max_output_tokens=above.max_output_tokens,
        agent_id=agent_id,
    )
    log.keep(SystemPromptEntry(blocks=made.system, **stamp.keyed()))
    for entry in inherited(above.conversation, stamp) if forks and past is None else ():
        log.keep(entry)
    around = [hook for hook in tools.host.hooks if isinstance(hook, Middleware)]
    middlewares = (
        Steering(),
        LimitCheck(factory.limits, purse=factory.budget.of(agent_id)),
        LimitCheck(spec.limits, spent=lambda: factory.budget.used(agent_id), whose="this agent"),
        Reminders(),
        RepeatBrake(),
        SecretWarning(),
        *around,
        room_maker(factory, made, tools.session.forget_reads),
    )
    return AgentBody(agent=made, log=log, tools=tools, middlewares=middlewares)


def place_words(checkout: Receipt | None) -> tuple[str, ...]:
    """What an isolated child is told of its checkout, against what its parent's prompt says of the directory."""
    if checkout is None:
        return ()
    began = "with what was uncommitted there as its last commit" if checkout.carried else ""
    began = began or (lacking(checkout).lower().rstrip(".") if checkout.lacking else "where nothing was uncommitted")
    words = (
        f"# Your checkout\nYou work in {checkout.path}, a checkout of your own (branch {checkout.branch}, made from "
        f"{checkout.root} at {checkout.base[:12]}, {began}). Where you are told of a path "
        f"below {checkout.root}, use the same path below {checkout.path}: the rest is read-only to you. Commit your "
        "work on your branch; it is taken over from there."
    )
    return (words,)


def model_of(factory: "AgentFactory", name: str, parents: Model) -> Model:
    """The model of this name; empty or `inherit`: the parent's own."""
    if name in ("", "inherit") or name == parents.name:
        return parents
    return factory.connect(name)


def room_maker(
    factory: "AgentFactory", agent: Agent, forget_reads: Callable[[tuple[str, ...] | None], None]
) -> MakeRoom:
    """What makes room in a child's window; made when it is first needed."""
    settings = factory.compaction
    meter = WindowMeter(settings)
    made: list[Compactor] = []

    def compactor() -> Compactor:
        if not made:
            made.append(
                Compactor(agent, settings, meter=meter, live=NothingLive(), forget_reads=forget_reads, log=_nowhere)
            )
        return made[0]

    return MakeRoom(settings, meter, compactor)


def _nowhere(words: str) -> None:
    """A child's compactions are in its own log."""
