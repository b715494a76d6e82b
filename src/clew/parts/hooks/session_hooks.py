"""The user's hooks in a session: all that a moment is due are asked at once, and their answers become one."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from clew.hooks.answers import HookAnswer, HookVerdict, combined
from clew.hooks.definitions import HookDefinition
from clew.hooks.running import HookRunner
from clew.host.part import PartSession, PartSetup
from clew.parts.hooks.callbacks import HookCallbacks
from clew.parts.hooks.registry import HookRegistry
from clew.protocol.events import Event, HookAwaited, HookRan, HookRow, HooksOffered, Notice
from clew.protocol.ids import CallId
from clew.protocol.ops import AnswerHookCall, CallbackHook, RegisterHooks
from clew.system.sandbox.plan import SandboxPlan

NOTHING_SAID = HookVerdict()
SHOWN_AFTER_S = 1.0
"""A hook that takes longer is shown while it runs."""


class SessionHooks:
    """One per session. Only hooks that may run are run; none outlives the session."""

    def __init__(self, setup: PartSetup, *, expected: bool, of_agents: bool = False) -> None:
        """`expected`: there may be hooks here, so their definitions are read. `of_agents`: definitions of agents may
        bring some."""
        self._setup = setup
        self._of_agents = of_agents
        self._registry: HookRegistry | None = None
        if expected:
            self.registry.read()
        self._offered = setup.offered
        self._callbacks: HookCallbacks | None = None
        self._runner: HookRunner | None = None
        self._own: PartSession | None = None
        self._beside: set[asyncio.Task[Any]] = set()

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own

    @property
    def registry(self) -> HookRegistry:
        """The hooks of the place; read where there may be any, or somebody asks for them."""
        if self._registry is None:
            self._registry = HookRegistry(self._setup.workspace, self._setup.kinds if self._of_agents else None)
        return self._registry

    @property
    def cwd(self) -> str:
        """The directory that the agent's commands are in."""
        return self._own.toolbox.session.cwd if self._own is not None else ""

    def listens(self, moment: str, kind: str = "") -> bool:
        """Whether anybody may have to be asked at this moment of an agent of this kind."""
        callbacks = self._callbacks.hooks if self._callbacks is not None else ()
        if any(hook.moment == moment for hook in callbacks):
            return True
        return self._registry is not None and self._registry.listens(moment, kind)

    def unapproved(self, kind: str) -> tuple[HookRow, ...]:
        """The hooks that an agent of this kind would lack, because nobody has approved them; they are offered where
        that is news."""
        kinds = self._setup.kinds()
        brought = kinds.definition(kind).brought.hooks
        if not brought or self._setup.workspace.settings.disable_all_hooks:
            return ()
        self.registry.read_agents(kinds)
        rows = [row for row in self.registry.rows() if row.agent.casefold() == kind.casefold()]
        known = {(row.moment, row.matcher, row.command) for row in rows}
        gone = [one for one in brought if (one.moment, one.matcher, one.command) not in known]
        rows += [replace(one.row(approved=False, trusted=False), state="untrusted") for one in gone]
        left = tuple(row for row in rows if row.state != "approved")
        for event in self._offers() if left else ():
            self._tell(event)
        return left

    async def ask(
        self,
        moment: str,
        fields: dict[str, Any] | None = None,
        *,
        subject: str = "",
        call_id: CallId | None = None,
        limit_s: float | None = None,
        commands: bool = True,
        kind: str = "",
    ) -> HookVerdict:
        """What all hooks of a moment say together. `subject`: what their matchers look at. `limit_s`: for all of them;
        what still runs then is stopped and counts as silent. `commands`: not callbacks alone are asked. `kind`: of the
        agent whose moment it is; hooks of its definition are asked too."""
        if not self.listens(moment, kind):
            return NOTHING_SAID
        document = self._document(moment) | (fields or {})
        due = self._registry.due(moment, subject, kind) if self._registry is not None and commands else ()
        asked = [self._of_command(hook, document) for hook in due]
        if self._callbacks is not None:
            asked += [
                self._of_callback(self._callbacks, hook, document, call_id)
                for hook in self._callbacks.due(moment, subject)
            ]
        if not asked:
            return NOTHING_SAID
        tasks = [asyncio.ensure_future(answer) for answer in asked]
        try:
            await asyncio.wait(tasks, timeout=limit_s)
        finally:
            for task in tasks:
                task.cancel()
            answers = await asyncio.gather(*tasks, return_exceptions=True)
        for fault in (answer for answer in answers if isinstance(answer, Exception)):
            words = f"a hook of {moment} could not be asked: {type(fault).__name__}: {fault}"
            self._tell(Notice(level="error", text=words, code="internal"))
        verdict = combined([answer for answer in answers if isinstance(answer, HookAnswer)])
        for message in verdict.messages:
            self.say("info", message)
        return verdict

    def beside(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Hooks that nobody waits for now; they end with the session at the latest."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        return task

    async def end(self) -> None:
        """The session is over: nothing is run any more."""
        if self._runner is not None:
            await self._runner.close()

    async def close(self) -> None:
        """Stop what runs beside."""
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)

    def register(self, op: RegisterHooks) -> None:
        """Callbacks of the program that drives the session, in place of those before."""
        if self._callbacks is None:
            self._callbacks = HookCallbacks(self._tell, op.hooks)
        self._callbacks.hooks = op.hooks

    def answered(self, op: AnswerHookCall) -> bool:
        """Deliver a callback's answer; False when nothing waits for it."""
        return self._callbacks is not None and self._callbacks.settle(op)

    def say(self, level: Literal["info", "warning"], text: str) -> None:
        """Tell a person."""
        self._tell(Notice(level=level, text=text, code="hook"))

    def introduction(self) -> tuple[Notice | HooksOffered, ...]:
        """What the first front end should know: hooks that do not run, and settings that cannot be understood."""
        if self._registry is None:
            return ()
        problems = tuple(Notice(level="warning", text=text, code="hooks") for text in self.registry.problems)
        return (*problems, *self._offers())

    def _offers(self) -> tuple[Notice | HooksOffered, ...]:
        """What nobody approved and nobody was shown yet."""
        rows = tuple(row for row in self.registry.unapproved() if row.digest not in self._offered)
        self._offered.update(row.digest for row in rows)
        if not rows:
            return ()
        return (
            (Notice(level="warning", text=left_out(rows), code="hooks"),)
            if self._setup.request.headless
            else (HooksOffered(hooks=rows),)
        )

    async def _of_command(self, hook: HookDefinition, document: dict[str, Any]) -> HookAnswer | None:
        if not await asyncio.to_thread(self.registry.may_run, hook):
            await self._changed(hook)
            again = await asyncio.to_thread(self.registry.approved_again, hook)
            if again is None:
                return None
            hook = again
        if self._runner is None:
            self._runner = HookRunner()
        assert self._own is not None
        tools = self._own.toolbox.session
        answer = self._runner.run(
            hook,
            document,
            cwd=tools.cwd,
            env=tools.env,
            project_root=str(self._setup.workspace.root),
            key_variables=tools.key_variables,
            keep=tools.keep_variables,
            plan=self._plan,
        )
        return await self._watched(hook.command, hook.moment, answer)

    def _plan(self, command: str, needs: Sequence[str]) -> SandboxPlan | None:
        """How the session's sandbox holds a hook; None where there is none."""
        assert self._own is not None
        tools = self._own.toolbox.session
        sandbox = tools.sandbox
        if sandbox is None or not sandbox.enforced:
            return None
        return sandbox.plan(tools.roots, command=command, needs=needs)

    async def _of_callback(
        self, callbacks: HookCallbacks, hook: CallbackHook, document: dict[str, Any], call_id: CallId | None
    ) -> HookAnswer:
        return await self._watched(hook.callback_id, hook.moment, callbacks.call(hook, document, call_id))

    async def _watched(self, name: str, moment: str, work: Coroutine[Any, Any, HookAnswer]) -> HookAnswer:
        """Shown while it takes long, and told when it ended, also when it was stopped."""
        loop = asyncio.get_running_loop()
        shown = loop.call_later(SHOWN_AFTER_S, lambda: self._tell(HookAwaited(hook=name, moment=moment)))
        ran = HookRan(hook=name, moment=moment, outcome="timed_out", detail="it was stopped")
        try:
            answer = await work
            ran = HookRan(
                hook=name,
                moment=moment,
                outcome=answer.outcome,
                detail=answer.detail,
                duration_ms=answer.duration_ms,
            )
        finally:
            shown.cancel()
            self._tell(ran)
        return answer

    async def _changed(self, hook: HookDefinition) -> None:
        """It may not run. When that is news, because it, or a file it names, is no longer what was approved, a person
        is told."""
        if hook.digest not in self._offered or await asyncio.to_thread(self.registry.has_changed, hook):
            await asyncio.to_thread(self.registry.read)
            for event in self._offers():
                self._tell(event)

    def _document(self, moment: str) -> dict[str, Any]:
        assert self._own is not None
        past, toolbox = self._setup.past, self._own.toolbox
        return {
            "session_id": past.session_id,
            "transcript_path": str(past.path) if past.path is not None else "",
            "cwd": toolbox.session.cwd,
            "permission_mode": toolbox.permits.policy.mode,
            "hook_event_name": moment,
        }

    def _tell(self, event: Event) -> None:
        if self._own is not None:
            self._own.session.publish(event)


def left_out(rows: tuple[HookRow, ...]) -> str:
    """The hooks that do not run because nobody approved them, and how to."""
    listed = "; ".join(f"{row.moment}: {row.command} ({row.source})" for row in rows)
    count = "1 hook is" if len(rows) == 1 else f"{len(rows)} hooks are"
    return f"{count} not approved and not run: {listed}. To look at them and approve them: clew hooks approve"
