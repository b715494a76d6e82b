"""The user's hooks in a session: around calls and turns, at its start and end, and what people decide about them."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from clew.agents.forking import FORK
from clew.agents.runner import AgentSpec
from clew.engine.ports import CallHook
from clew.engine.turn import Prompt, PromptWord
from clew.hooks.definitions import MOMENTS
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup, nothing
from clew.host.session import EndReason
from clew.parts.hooks.around import CallHooks, TurnHooks
from clew.parts.hooks.child_hooks import ChildHooks
from clew.parts.hooks.registry import hooks_listed
from clew.parts.hooks.session_hooks import SessionHooks
from clew.protocol.event_kinds.context import CompactionKind
from clew.protocol.event_kinds.programs import HookRow
from clew.protocol.events import AgentEnded, AgentStarted, Event, HooksChanged, Notified
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed, ListHooks
from clew.protocol.ops import AnswerHookCall, Op, RegisterHooks, SubmitPrompt

END_LIMIT_S = 2.0
"""For all hooks at the end together, before they are ended: a program that hangs up waits five seconds in all."""
TOLD_LIMIT_S = 2.0
"""For notices that are still being told then."""
MAX_CALLBACKS = 500
ENDS: dict[EndReason, str] = {"closed": "prompt_input_exit", "switched": "resume", "taken_over": "other", "": "other"}
NOTICES = {
    "needs_approval": "permission_prompt",
    "asks": "elicitation_dialog",
    "done": "idle_prompt",
    "failed": "failed",
    "limit": "limit",
}
"""Under the names that matchers know."""


class HookPart(Part):
    """The user's hooks hold for every agent; those around turns are for the main one."""

    sees_to = frozenset({"hooks"})

    def __init__(self, setup: PartSetup, *, expected: bool, of_agents: bool = False) -> None:
        """`expected`: there may be hooks here. `of_agents`: definitions of agents may bring some."""
        self._headless = setup.request.headless
        self._main, self._kind = setup.main, setup.main.kind
        self._hooks = SessionHooks(setup, expected=expected, of_agents=of_agents)
        self._calls = CallHooks(self._hooks, lambda: self._kind)
        self._turns = TurnHooks(self._hooks, resumed=setup.past.resumed, kind=self._kind)
        self._of_children: dict[AgentId, ChildHooks] = {}
        self._telling: set[asyncio.Task[Any]] = set()
        self.middlewares = (self._calls, self._turns)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own
        self._hooks.start(own)
        self._calls.start(own.toolbox.undo)
        self._turns.start(own.session, own.toolbox.undo)

    def introduction(self) -> tuple[Event, ...]:
        """Hooks that do not run, and settings that cannot be understood."""
        return self._hooks.introduction()

    def begin(self) -> None:
        """The hooks of a session's start."""
        self._turns.begin()

    def look(self, prompt: Prompt) -> Coroutine[Any, Any, PromptWord] | None:
        """The hooks' verdict on a prompt."""
        return self._turns.look(prompt)

    def call_hook(self, agent: AgentId) -> CallHook:
        """The hooks around one agent's calls."""
        if agent == MAIN_AGENT:
            return self._calls
        if agent not in self._of_children:
            made = ChildHooks(self._hooks, lambda: self._about(agent), lambda: self._kind_of(agent))
            made.start(self._own.toolbox.undo)
            self._of_children[agent] = made
        return self._of_children[agent]

    def _kind_of(self, agent: AgentId) -> str:
        """Whose definition's hooks are asked about an agent's calls: a fork's are those of whom it continues."""
        run = self._own.agents.children.run(agent)
        while run is not None and run.spec.kind == FORK.kind:
            agent, run = run.parent, self._own.agents.children.run(run.parent)
        return run.spec.kind if run is not None else self._kind if agent == MAIN_AGENT else ""

    def objection(self, op: Op) -> str:
        """A conversation that runs as an agent does not begin without the hooks of its definition either."""
        return self.child_objection(self._main) if isinstance(op, SubmitPrompt) else ""

    def child_objection(self, spec: AgentSpec) -> str:
        """An agent does not start without the hooks of its definition: one of them may be a guard."""
        if "hooks" not in spec.brings:
            return ""
        rows = self._hooks.unapproved(spec.kind)
        return brought_but_unapproved(spec, rows) if rows else ""

    def _about(self, agent: AgentId) -> dict[str, str]:
        """What hooks are told of a child."""
        run = self._own.agents.children.run(agent)
        if run is None:
            return {"agent_id": agent}
        return {"agent_id": agent, "agent_type": run.spec.kind, "agent_transcript_path": run.output_file}

    def on(self, event: Event, agent: AgentId) -> None:
        """Calls that end, views that are made anew, and notices."""
        if agent == MAIN_AGENT:
            self._calls.hear(event)
            self._turns.hear(event)
        elif agent in self._of_children:
            self._of_children[agent].hear(event)
        if isinstance(event, AgentEnded):
            self._of_children.pop(event.child, None)
        if isinstance(event, AgentStarted) and self._hooks.listens("SubagentStart"):
            fields = {"agent_id": event.child, "agent_type": event.kind}
            self._hooks.beside(self._hooks.ask("SubagentStart", fields, subject=event.kind))
        if isinstance(event, Notified) and agent == MAIN_AGENT:
            self._tell(event)

    async def before_compaction(self, kind: CompactionKind, focus: str) -> tuple[str, str]:
        """Why the view must not be made smaller, if so; and what its summary should also dwell on."""
        trigger = "manual" if kind == "manual" else "auto"
        fields = {"trigger": trigger, "custom_instructions": focus}
        verdict = await self._hooks.ask("PreCompact", fields, subject=trigger)
        refused = verdict.stop if verdict.stop is not None else verdict.reason if verdict.leaning == "deny" else ""
        return refused, verdict.context

    async def asked(self, moment: str, fields: dict[str, Any], subject: str) -> str:
        """What hooks have against something that is about to be; nothing, where they have nothing."""
        verdict = await self._hooks.ask(moment, fields, subject=subject)
        return verdict.stop if verdict.stop is not None else verdict.reason if verdict.leaning == "deny" else ""

    def _tell(self, notice: Notified) -> None:
        if self._hooks.listens("Notification"):
            kind = NOTICES[notice.kind]
            fields = {"message": notice.text, "title": "clew", "notification_type": kind}
            task = asyncio.create_task(self._hooks.ask("Notification", fields, subject=kind))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def stop(self) -> None:
        """Hooks that nobody waits for end first."""
        await self._hooks.close()

    async def leave(self, reason: EndReason) -> None:
        """The hooks of a session's end; then no hook runs any more."""
        ends = "other" if self._headless and reason == "closed" else ENDS[reason]
        asked = self._hooks.ask("SessionEnd", {"reason": ends}, subject=ends, limit_s=END_LIMIT_S)
        await asyncio.gather(asked, self._told())
        await self._hooks.end()

    async def _told(self) -> None:
        """What somebody is being notified of is told to the end: a run of one prompt has no later moment for it."""
        if not self._telling:
            return
        _, late = await asyncio.wait(self._telling, timeout=TOLD_LIMIT_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def ops(self) -> OpHandlers:
        """Callbacks of the program that drives the session."""
        return {RegisterHooks: self._register, AnswerHookCall: self._answer}

    async def _register(self, op: RegisterHooks) -> Effect:
        if len(op.hooks) > MAX_CALLBACKS:
            raise OpRefused(f"there can be at most {MAX_CALLBACKS} callbacks")
        unknown = sorted({hook.moment for hook in op.hooks} - set(MOMENTS))
        self._hooks.register(op)
        self._turns.registered()
        if not unknown:
            return nothing
        words = f"no hook is called at {', '.join(unknown)}: clew knows {', '.join(MOMENTS)}"
        return lambda: self._hooks.say("warning", words)

    async def _answer(self, op: AnswerHookCall) -> Effect:
        if not self._hooks.answered(op):
            raise OpRefused("nothing waits for this answer any more")
        return nothing

    def lookups(self) -> Answerers:
        """Which hooks there are, and a person's word on them."""
        return {ListHooks: self._list, ApproveHooks: self._approve}

    async def _list(self, lookup: ListHooks) -> HooksListed:
        return await asyncio.to_thread(hooks_listed, lookup, self._hooks.registry)

    async def _approve(self, lookup: ApproveHooks) -> HooksListed:
        """Everybody at the session hears of it: somebody else may be asked about the same hooks."""
        try:
            listed = await asyncio.to_thread(hooks_listed, lookup, self._hooks.registry)
        except LookupRefused as error:
            raise OpRefused(str(error)) from error
        except OSError as error:
            raise OpRefused(f"your decision cannot be kept: {error.strerror or error}") from error
        self._own.session.publish(HooksChanged(hooks=listed.hooks))
        return listed


def brought_but_unapproved(spec: AgentSpec, rows: tuple[HookRow, ...]) -> str:
    """Why an agent is not started whose definition brings hooks that nobody approved, and how to."""
    listed = "; ".join(f"{row.moment}: {row.command}" for row in rows)
    what = f"its definition ({spec.source}) brings {'a hook' if len(rows) == 1 else 'hooks'} that nobody approved"
    return f"{what}: {listed}. The user can look at them and approve them: clew hooks approve, or /hooks"
