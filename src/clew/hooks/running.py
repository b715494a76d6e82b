"""Running hooks: the moment as JSON on stdin, exit code and output as the answer, nothing left behind.

A hook runs in the session's directory, in a process session of its own, with the environment that tools get, and held
by the sandbox like a command: what it runs may be a file that a confined command has changed. Whatever it starts ends
with it.
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from clew.hooks.answers import HookAnswer
from clew.hooks.definitions import HookDefinition
from clew.hooks.digests import TooManyNames, digest_of, expanded, stray_file, words_of
from clew.hooks.reading import answer_of, bounded
from clew.system.environment import find_program, tool_environment
from clew.system.process import ProcessEnd, ProcessError, ProcessSpec, ProcessStarter
from clew.system.sandbox.plan import HELD_BACK, SandboxPlan

MAX_KEPT_BYTES = 1_000_000
MAX_NAMED = 5
GRACE_S = 1.0
"""Between SIGTERM and SIGKILL."""


class HookRunner:
    """Starts hooks. One for a session; `close` ends whatever still runs."""

    def __init__(self) -> None:
        self._starter = ProcessStarter()

    async def run(
        self,
        hook: HookDefinition,
        document: Mapping[str, Any],
        *,
        cwd: str,
        env: Mapping[str, str],
        project_root: str,
        key_variables: Collection[str] = (),
        keep: Collection[str] = (),
        plan: Callable[[str, Sequence[str]], SandboxPlan | None] | None = None,
    ) -> HookAnswer:
        """One hook's answer. `env` is the user's own environment: what may pass of it is decided here. `keep` and
        `key_variables` are as for tools. `plan`: how the sandbox holds a command that needs these files; None where
        there is no sandbox. Raises nothing but CancelledError."""
        began = time.monotonic()
        answer = refusal(hook, cwd=cwd, project_root=project_root)
        if answer is None:
            try:
                stdin = as_json(document) + b"\n"
                given = hook_environment(
                    env, cwd=cwd, project_root=project_root, key_variables=key_variables, keep=keep
                )
                held = await self._held(hook, project_root, plan)
                if held is not None:
                    given["TMPDIR"] = held["tmp"]
                spec = ProcessSpec(_argv(hook, env, project_root), cwd, given, held, grace_s=GRACE_S, stdin=stdin)
                answer = await self._run(hook, spec)
            except (ProcessError, OSError, TypeError, ValueError, RecursionError) as problem:
                answer = _failed(hook, f"could not be started: {problem}")
        return replace(answer, duration_ms=int((time.monotonic() - began) * 1000))

    async def run_all(
        self,
        hooks: Sequence[HookDefinition],
        document: Mapping[str, Any],
        *,
        cwd: str,
        env: Mapping[str, str],
        **rest: Any,
    ) -> tuple[HookAnswer, ...]:
        """All at once; the answers in the order of the hooks. What stands in several files runs once."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.run(hook, document, cwd=cwd, env=env, **rest)) for hook in distinct(hooks)]
        return tuple(task.result() for task in tasks)

    async def close(self) -> None:
        """End what still runs."""
        await asyncio.to_thread(self._starter.close)

    async def _held(
        self, hook: HookDefinition, root: str, plan: Callable[[str, Sequence[str]], SandboxPlan | None] | None
    ) -> SandboxPlan | None:
        if plan is None or not hook.sandbox:
            return None
        named = [path for word in words_of(hook.command) for path in expanded(word.text, root)]
        return await asyncio.to_thread(plan, hook.command, [path for path in named if os.path.isabs(path)])

    async def _run(self, hook: HookDefinition, command: ProcessSpec) -> HookAnswer:
        output, errors = bytearray(), bytearray()
        ended: ProcessEnd | None = None
        with contextlib.suppress(TimeoutError):  # what is cancelled within has ended all that the hook started
            async with asyncio.timeout(hook.timeout_s):
                running = await self._starter.start(command._replace(on_errors=_into(errors)), _into(output))
                ended = await running.wait()
        stdout, stderr = (bytes(data).decode("utf-8", "replace") for data in (output, errors))
        if ended is None:
            said = stderr.strip() or stdout.strip()
            words = f"took longer than {hook.timeout_s:g} s and was ended"
            detail = bounded(f"{words}: {said}" if said else words)
            return HookAnswer(hook=hook.command, outcome="timed_out", detail=detail)
        answer = answer_of(hook.moment, hook.command, ended.code, stdout, stderr, may_allow=hook.of_user)
        if away := [*(path for path, _ in ended.taken), *(f"{path} ({why})" for path, _, why in ended.judged)]:
            told = f"Hook {hook.command}: the sandbox took away what it left: {', '.join(away[:MAX_NAMED])}"
            answer = replace(answer, message="\n".join(filter(None, (answer.message, bounded(told)))))
        if command.plan is None or not ended.code or not HELD_BACK.search(f"{stdout}\n{stderr}"):
            return answer
        way = f'it ran in the sandbox; "sandbox": false beside its command in {hook.source} lets it run outside'
        if answer.outcome == "failed":
            return replace(answer, detail=bounded(f"{answer.detail}; {way}"))
        return replace(answer, message=answer.message or f"Hook {hook.command}: {way}")


async def run_hook(
    hook: HookDefinition, document: Mapping[str, Any], *, cwd: str, env: Mapping[str, str], project_root: str
) -> HookAnswer:
    """One hook by itself."""
    runner = HookRunner()
    try:
        return await runner.run(hook, document, cwd=cwd, env=env, project_root=project_root)
    finally:
        await asyncio.shield(runner.close())


async def run_hooks(
    hooks: Sequence[HookDefinition], document: Mapping[str, Any], *, cwd: str, env: Mapping[str, str], project_root: str
) -> tuple[HookAnswer, ...]:
    """Several hooks by themselves, at once."""
    runner = HookRunner()
    try:
        return await runner.run_all(hooks, document, cwd=cwd, env=env, project_root=project_root)
    finally:
        await asyncio.shield(runner.close())


def distinct(hooks: Sequence[HookDefinition]) -> list[HookDefinition]:
    """The same command for the same moment once; the user's own counts before a project's."""
    found: dict[tuple[str, str, str], HookDefinition] = {}
    for hook in hooks:
        key = (hook.moment, hook.command, hook.shell)
        if key not in found or (hook.of_user and not found[key].of_user):
            found[key] = hook
    return list(found.values())


def refusal(hook: HookDefinition, *, cwd: str, project_root: str) -> HookAnswer | None:
    """Why a hook does not run although it was approved: what it names is no longer what was looked at."""
    if not hook.needs_approval:
        return None
    try:
        if digest_of(hook, project_root) != hook.digest:
            return _failed(hook, "not run: a file that it names has changed; look at it with `clew hooks list`")
        if stray := stray_file(hook, project_root, cwd):
            return _failed(hook, f"not run: from here it would run {stray}, which nobody approved")
    except (TooManyNames, OSError, ValueError):
        return _failed(hook, "not run: the files that it names cannot be looked at")
    return None


def as_json(document: Mapping[str, Any]) -> bytes:
    """Also where a text holds halves of characters, as names of files and words of models may."""
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return json.dumps(document).encode()


def hook_environment(
    env: Mapping[str, str],
    *,
    cwd: str,
    project_root: str,
    key_variables: Collection[str] = (),
    keep: Collection[str] = (),
) -> dict[str, str]:
    """What tools get, and where the project is, by both names."""
    given = tool_environment(env, key_variables=key_variables, keep=keep)
    return given | {"PWD": cwd, "CLEW_PROJECT_DIR": project_root, "CLAUDE_PROJECT_DIR": project_root}


def _argv(hook: HookDefinition, env: Mapping[str, str], project_root: str) -> list[str]:
    shell = "/bin/sh" if hook.shell == "sh" else find_program(hook.shell, env=env, outside=[Path(project_root)])
    if not shell or not os.path.exists(shell):
        raise ProcessError(f"there is no {hook.shell} here")
    return [shell, "-c", hook.command]


def _into(kept: bytearray) -> Any:
    """Keeps the beginning; the rest is taken and dropped, so that a flood stops nobody."""

    def take(data: bytes) -> None:
        if len(kept) < MAX_KEPT_BYTES:
            kept.extend(data[: MAX_KEPT_BYTES - len(kept)])

    return take


def _failed(hook: HookDefinition, words: str) -> HookAnswer:
    return HookAnswer(hook=hook.command, outcome="failed", detail=bounded(words))
