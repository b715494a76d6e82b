"""Bash: one command, exactly as judged, in a fresh shell."""

import asyncio
import os
import re
import time
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from clew.permissions.access import Access, ShellAccess
from clew.protocol.display import TerminalBlock, TextBlock
from clew.protocol.events import RuleOffer
from clew.system.sandbox.plan import HELD_BACK, SandboxPlan
from clew.text.lazy_pattern import LazyPattern
from clew.tools.base import ToolContext, ToolResult
from clew.tools.extras import process, sandbox_status, shells
from clew.tools.output_buffer import OutputBuffer
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

if TYPE_CHECKING:
    from clew.system.process import ProcessEnd
    from clew.tools.shells import Background

GIT_HELD_BACK = LazyPattern(r"\.git/[^\n]*(?:Read-only file system|Permission denied|cannot lock|unable to create)")
GIT_HINT = (
    "The sandbox keeps .git read-only for a command that does not name git, so git inside a script cannot write there."
    " Name it in the command (git status >/dev/null; ./script), call git yourself, or ask with leave_sandbox."
)
HELD_BACK_HINT = "It ran in the sandbox (no network, writes only in the workspace); leave_sandbox asks the user."
SHUT_HINT = (
    "In the background only what exists at the top of the workspace can be written, and .git cannot: make new files and"
    " directories there first, in the foreground."
)
MAX_NAMED = 5
DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000
MAX_COMMAND_BYTES = 130_000


def confined_notes(plan: SandboxPlan, ended: "ProcessEnd", output: str, secrets: list[str], root: str) -> list[str]:
    """Everything a confined command has to be told after it ended."""
    told = [HELD_BACK_HINT] if ended.code and HELD_BACK.search(output) else []
    if told and not plan["pinned"] and GIT_HELD_BACK.search(output):
        told = [GIT_HINT]
    if secrets:
        told.append(secret_note(secrets, root))
    if ended.refused:
        told.append(refused_note(ended, root))
    if ended.taken:
        told.append(taken_note(ended, root))
    if note := shells().judged_note(ended, root):
        told.append(note)
    return told


def needed_secrets(plan: SandboxPlan, command: str, output: str, *, failed: bool) -> list[str]:
    """Withheld files that the command seems to have needed: named in its text or output, or the likeliest ones when it
    failed without a word on why."""
    withheld = plan["withheld"]
    spoken = f"{command}\n{output[-200_000:]}"
    named = [path for path in withheld if mentions(spoken, os.path.basename(path))]
    if named or not failed:
        return named
    if HELD_BACK.search(output):
        return withheld
    return [path for path in withheld if os.path.basename(path).startswith(".env")]


def mentions(text: str, name: str) -> bool:
    """The name as a whole word of a path."""
    return name in text and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def secret_note(paths: list[str], root: str) -> str:
    """For the model."""
    names = [shells().shown(path, root) for path in paths]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    words = ", ".join(names[:MAX_NAMED]) + more
    return f"Withheld from commands because they may hold secrets: {words}. The user can allow one for this project."


def secret_offers(paths: list[str], root: str) -> tuple[RuleOffer, ...]:
    """What would have to be saved so that commands may read these files. None for names a rule cannot spell."""
    return tuple(
        RuleOffer(rule=f"Read({name})", covers=name)
        for path in paths[:MAX_NAMED]
        if not re.search(r"[*?\[\]()\x00-\x1f]", name := shells().shown(path, root))
    )


def taken_note(ended: "ProcessEnd", root: str) -> str:
    """For the model; the user sees it too."""
    shown = shells().shown
    names = [shown(path, root) + (f" (kept as {kept})" if kept else "") for path, kept in ended.taken[:MAX_NAMED]]
    more = f" and {len(ended.taken) - MAX_NAMED} more" if len(ended.taken) > MAX_NAMED else ""
    words = ", ".join(names) + more
    return f"These names can run programs or steer tools, so the sandbox took them away: {words}. Write asks for them."


def refused_note(ended: "ProcessEnd", root: str) -> str:
    """For the model."""
    names = [shells().shown(path, root) for path in ended.refused[:MAX_NAMED]]
    more = f" and {len(ended.refused) - MAX_NAMED} more" if len(ended.refused) > MAX_NAMED else ""
    words = ", ".join(names) + more
    return f"These names can run programs or steer tools, so commands cannot make them: {words}. Write asks for them."


async def settled(waiting: "asyncio.Future[ProcessEnd]") -> None:
    """Stop to wait for a command, which ends it; return when it has ended."""
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


def could_not_confine(plan: SandboxPlan | None, ended: "ProcessEnd", output: str) -> bool:
    """Bubblewrap says itself when it cannot set up what it was told, and then no shell has told its directory."""
    if plan is None or plan["kind"] != "bwrap":
        return False
    return ended.code == 1 and not ended.cwd and output.startswith("bwrap: ")


class BashParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to run and how."""

    command: str
    timeout: Annotated[int, Meta(ge=1, description="Milliseconds")] | None = None
    description: Annotated[str, Meta(description="What it does, in five to ten words")] = ""
    run_in_background: bool = False
    leave_sandbox: Annotated[bool, Meta(description="Run without the sandbox; always asks")] = False


class Bash(BuiltinTool[BashParams]):
    """Run it, wait, tell what came out."""

    name = "Bash"
    params: ClassVar[type[Struct]] = BashParams
    shell: ClassVar[bool] = True
    max_result_chars: ClassVar[int] = 0

    def accesses(self, params: BashParams, context: ToolContext) -> tuple[Access, ...]:
        enforced = self.session.sandbox is not None and self.session.sandbox.enforced
        held = enforced and not params.leave_sandbox
        self.session.claim_sandbox(context.call_id, held=held)
        leaves = enforced and params.leave_sandbox
        return (ShellAccess(command=params.command, cwd=context.cwd, sandboxed=held, leaves_sandbox=leaves),)

    async def run(self, params: BashParams, context: ToolContext) -> ToolResult:
        held = self.session.sandbox_claimed(context.call_id)
        if why := self._unfit(params, context.cwd, held=held):
            return problem(why)
        reason = ""
        for _ in range(2):  # a file that came or went while the sandbox was laid: the second time it is seen as it is
            try:
                plan = await self._plan(params) if held else None
            except OSError as error:
                return problem(f"The sandbox could not be set up, so nothing was run: {error}.")
            try:
                if params.run_in_background:
                    return self._told(await self._background(params, context.cwd, plan))
                return self._told(await self._foreground(params, context, plan))
            except process().ProcessError as error:
                if not error.unconfined:
                    return problem(f"The command could not be started: {error}.")
                reason = str(error)
        if self.session.sandbox is not None:
            self.session.sandbox.broke(reason)
        return self._told(problem(f"The sandbox could not be set up, so nothing was run: {reason}."))

    async def _plan(self, params: BashParams) -> SandboxPlan:
        """In a thread: a large workspace takes a moment to look through the first time."""
        assert self.session.sandbox is not None
        make, roots = self.session.sandbox.plan, self.session.roots
        return await asyncio.to_thread(make, roots, command=params.command, background=params.run_in_background)

    def _unfit(self, params: BashParams, cwd: str, *, held: bool) -> str:
        if not self.session.shells.available:
            return "There is no bash on this machine, so no command can run."
        if "\0" in params.command:
            return "A command cannot hold a NUL character; nothing was run."
        try:
            size = len(params.command.encode())
        except UnicodeEncodeError:
            return "The command is not valid text; nothing was run."
        if size > MAX_COMMAND_BYTES:
            return f"The command is longer than {MAX_COMMAND_BYTES:,} bytes; write it to a file and run that."
        if held and (self.session.sandbox is None or not self.session.sandbox.enforced):
            return (
                "The sandbox that was to hold this command is gone, so nothing was run. Try again: the user is asked."
            )
        if not held and self.session.sandbox is not None and self.session.sandbox.required:
            return f"The settings let no command run outside the sandbox. {self.session.sandbox.why_not}".strip()
        if not os.path.isdir(cwd):
            self.session.cwd = self.session.start_dir
            return f"The current directory {cwd} is gone; it is now {self.session.start_dir}. Nothing was run."
        return ""

    async def _foreground(self, params: BashParams, context: ToolContext, plan: SandboxPlan | None) -> ToolResult:
        running_shells = self.session.shells
        output = OutputBuffer(running_shells.file_for(context.call_id))
        progress = shells().Progress(context.progress)

        beside: Background | None = None

        def take(data: bytes) -> None:
            if beside is not None:
                beside.add(data)
                return
            output.add(data)
            progress.add(data)

        limit_ms = min(params.timeout or DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)
        started_s, timed_out = time.monotonic(), False
        left = running_shells.foreground[context.call_id] = asyncio.get_running_loop().create_future()
        waiting: asyncio.Future[ProcessEnd] | None = None
        try:
            running = await running_shells.start(params.command, context.cwd, plan, take)
            waiting = asyncio.ensure_future(running.wait())
            both = {waiting, left}
            await asyncio.wait(both, timeout=limit_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
            if left.done() and not waiting.done():
                progress.flush()
                beside = running_shells.go_on(params.command, running, waiting, output, started_s)
                return self._sent_away(params.command, output.text(), beside)
            timed_out = not waiting.done()
            if timed_out:
                await settled(waiting)
            ended = await running.wait() if timed_out else waiting.result()
        except asyncio.CancelledError:
            if waiting is not None:
                await settled(waiting)
            shown = output.text()
            block = TerminalBlock(command=params.command, output=shown, exit_code=None, stopped=True)
            context.leave(ToolResult(text=shown, display=(block,)))
            raise
        finally:
            running_shells.foreground.pop(context.call_id, None)
            if beside is None:
                progress.flush()
                output.close()
        text = output.text()
        if could_not_confine(plan, ended, text):
            await self._test_again(text)
        failed = timed_out or ended.code != 0
        notes = [] if timed_out else self._follow(ended.cwd)
        if timed_out:
            notes.append(f"Timed out after {limit_ms / 1000:g} s: the command and all it started were ended.")
        elif ended.code:
            notes.append(f"Exit code {ended.code}.")
        secrets: list[str] = []
        if plan is not None:
            secrets = needed_secrets(plan, params.command, text, failed=failed)
            notes += confined_notes(plan, ended, text, secrets, self.session.roots[0])
        block = TerminalBlock(
            command=params.command,
            output=text,
            exit_code=None if timed_out else ended.code,
            timed_out=timed_out,
        )
        shown = text.rstrip("\n")
        words = "\n".join(part for part in (shown, "\n".join(notes)) if part) or "(no output)"
        offers = secret_offers(secrets, self.session.roots[0])
        root = self.session.roots[0]
        taken = (TextBlock(text=taken_note(ended, root)),) if ended.taken else ()
        note = shells().judged_note(ended, root) if plan is not None else ""
        judged = (TextBlock(text=note),) if note else ()
        display = (block, *taken, *judged)
        told = " ".join(one.text for one in (*taken, *judged))
        return ToolResult(
            text=words,
            display=display,
            is_error=failed,
            failed_command=failed,
            offers=offers,
            notices=(told,) if told else (),
        )

    def _sent_away(self, command: str, shown: str, shell: "Background") -> ToolResult:
        """The person did not want to wait for it."""
        block = TerminalBlock(command=command, output=shown, exit_code=None, background_id=shell.id)
        words = (
            f"The user sent it to the background: it runs on as {shell.id}. Look with TaskOutput, end with TaskStop."
        )
        text = "\n".join(part for part in (shown.rstrip("\n"), words) if part)
        return ToolResult(text=text, display=(block,))

    async def _test_again(self, reason: str) -> None:
        """Does the sandbox still hold here? If not, commands ask from now on."""
        sandbox = self.session.sandbox
        now = await asyncio.to_thread(sandbox_status().probe_now)
        if sandbox is not None and now.kind != sandbox.status.kind:
            sandbox.broke(reason.strip().splitlines()[0][:200])

    def _told(self, result: ToolResult) -> ToolResult:
        """With a word to the user, once for each state: commands are not held, or less than they could be, and why."""
        sandbox = self.session.sandbox
        if sandbox is None or sandbox.why_not in ("", self.session.sandbox_note_given):
            return result
        self.session.sandbox_note_given = sandbox.why_not
        return replace(result, display=(*result.display, TextBlock(text=f"Sandbox: {sandbox.why_not}.")))

    def _follow(self, cwd: str) -> list[str]:
        """Carry the directory, but never out of the roots."""
        if not cwd or cwd == self.session.cwd or not os.path.isdir(cwd):
            return []
        if any(cwd == root or cwd.startswith(root.rstrip("/") + "/") for root in self.session.roots):
            self.session.cwd = cwd
            return []
        return [f"The directory stays {self.session.cwd}: {cwd} is outside the workspace."]

    async def _background(self, params: BashParams, cwd: str, plan: SandboxPlan | None) -> ToolResult:
        shell = await self.session.shells.start_background(params.command, cwd, plan)
        where = f" Its output goes to {shell.output.path}." if shell.output.path else ""
        block = TerminalBlock(command=params.command, output="", exit_code=None, background_id=shell.id)
        text = f"Running in the background as {shell.id}.{where} Look with TaskOutput, end with TaskStop."
        if plan is not None and not plan["guarded"]:
            text += f" {SHUT_HINT}"
        return ToolResult(text=text, display=(block,))
