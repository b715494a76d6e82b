"""Running real commands: whatever a hook does with its pipes, its children or its time, there is one answer."""

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clew.hooks.answers import HookAnswer
from clew.hooks.definitions import HookDefinition
from clew.hooks.running import MAX_KEPT_BYTES, HookRunner, distinct, hook_environment, run_hook, run_hooks
from fakes.effort import HANG_S

from .conftest import Files

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/proc/nonexistent",
    "ANTHROPIC_API_KEY": "sk-ant-canary",
    "SECRET_TOKEN": "s",
}


@pytest.fixture
async def runner() -> AsyncIterator[HookRunner]:
    made = HookRunner()
    yield made
    await made.close()


class Bench:
    """Runs commands as hooks of the project."""

    def __init__(self, files: Files, runner: HookRunner) -> None:
        self.files = files
        self.runner = runner

    async def __call__(self, command: str, document: dict[str, Any] | None = None, **rest: Any) -> HookAnswer:
        hook = rest.pop("hook", None) or self.files.hook(command, scope=rest.pop("scope", "user"), **rest)
        root = str(self.files.root)
        async with asyncio.timeout(HANG_S):
            return await self.runner.run(hook, document or {}, cwd=root, env=ENV, project_root=root)


@pytest.fixture
def bench(files: Files, runner: HookRunner) -> Bench:
    return Bench(files, runner)


def python(text: str) -> str:
    """A command that runs some lines of Python."""
    quoted = text.replace("'", "'\"'\"'")
    return f"{shlex.quote(sys.executable)} -S -c '{quoted}'"


def came(path: Path) -> None:
    deadline = time.monotonic() + HANG_S
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def alive(marker: str) -> list[str]:
    """Processes with this word in their command line."""
    found: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if marker.encode() in line and state != "Z":
                found.append(line.decode())
    return found


async def test_the_document_comes_on_stdin(bench: Bench) -> None:
    document = {"session_id": "s", "tool_input": {"command": "echo é \u2028 \U0001f600"}, "n": 5}
    read = python('import json, sys; d = json.load(sys.stdin); print("text", json.dumps(d, sort_keys=True))')
    answer = await bench(read, document, moment="SessionStart")
    assert json.loads(answer.context.removeprefix("text ")) == document


async def test_half_a_character_does_not_keep_a_guard_from_being_asked(bench: Bench) -> None:
    answer = await bench("cat >&2; exit 2", {"tool_input": {"command": "rm \ud800"}})
    assert (answer.leaning, answer.reason) == ("deny", '{"tool_input": {"command": "rm \\ud800"}}')


async def test_stdin_can_be_read_in_any_way(bench: Bench) -> None:
    for command in ("read line; printf '%s' \"$line\"", "cat /dev/stdin", "cat <&0", "head -c 1000", "jq -c . || cat"):
        answer = await bench(f"echo x; {command}", {"a": 1}, moment="SessionStart")
        assert '{"a":1}' in answer.context, command


async def test_output_and_errors_are_kept_apart(bench: Bench) -> None:
    answer = await bench("echo out; echo err >&2; exit 2")
    assert (answer.outcome, answer.leaning, answer.reason) == ("blocked", "deny", "err")
    assert answer.may_allow
    answer = await bench("echo out; echo err >&2; exit 5")
    assert (answer.outcome, answer.detail) == ("failed", "exit code 5: err")


async def test_a_json_answer(bench: Bench) -> None:
    output = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}}
    answer = await bench(f"cat >/dev/null; echo '{json.dumps(output)}'")
    assert answer.arguments == {"command": "ls"}


async def test_where_and_with_what_it_runs(bench: Bench, files: Files) -> None:
    answer = await bench('pwd; echo "$CLEW_PROJECT_DIR|$CLAUDE_PROJECT_DIR|$PWD"; env', moment="SessionStart")
    root = str(files.root)
    assert answer.context.splitlines()[:2] == [root, f"{root}|{root}|{root}"]
    assert "sk-ant-canary" not in answer.context
    assert "SECRET_TOKEN" not in answer.context
    assert "TERM=dumb" in answer.context


def test_variables_that_the_user_keeps_pass_and_keys_never(files: Files) -> None:
    env = {**ENV, "LAB_KEY": "secret", "MYAPP_X": "1"}
    given = hook_environment(env, cwd="/x", project_root="/y", key_variables=["LAB_KEY"], keep=["LAB_KEY", "MYAPP_*"])
    assert given["MYAPP_X"] == "1"
    assert "LAB_KEY" not in given


@pytest.mark.parametrize(
    "command",
    ["exec <&-; true", "true", "head -c 3 >/dev/null", "exec >&- 2>&-; true", "exec <&- >&- 2>&-", "kill -0 $$"],
)
async def test_pipes_that_are_closed_or_never_read(bench: Bench, command: str) -> None:
    answer = await bench(command, {"text": "x" * 3_000_000})
    assert (answer.outcome, answer.detail) == ("ok", "")


async def test_bytes_that_are_no_text(bench: Bench) -> None:
    answer = await bench(r"printf 'a\377\000b\033[31m'", moment="SessionStart")
    assert answer.context == "a\ufffd\x00b\x1b[31m"


async def test_a_flood_is_taken_and_dropped(bench: Bench) -> None:
    answer = await bench("yes | head -c 20000000; yes >&2 | head -c 1; exit 0", moment="SessionStart", timeout_s=0.1)
    assert answer.outcome == "timed_out"
    answer = await bench("yes xx | head -c 20000000; exit 2", moment="Stop")
    assert answer.outcome == "blocked"
    answer = await bench("yes yy | head -c 20000000 >&2; exit 2", moment="Stop")
    assert len(answer.reason) == 10_000
    assert MAX_KEPT_BYTES < 20_000_000


async def test_time_runs_out(bench: Bench) -> None:
    marker = f"3600.{os.getpid()}1"
    answer = await bench(f"echo begun; sleep {marker}", timeout_s=0.3)
    assert answer.outcome == "timed_out"
    assert (answer.leaning, answer.stop, answer.context) == ("", None, "")
    assert "0.3 s" in answer.detail
    assert "begun" in answer.detail
    assert not alive(marker)


async def test_whoever_ignores_the_end_is_ended_with_all_it_started(bench: Bench) -> None:
    marker = f"3600.{os.getpid()}2"
    answer = await bench(f"trap '' TERM; setsid sleep {marker} & sleep {marker} & wait; wait", timeout_s=0.3)
    assert answer.outcome == "timed_out"
    assert not alive(marker)


async def test_a_child_that_keeps_the_pipes_open_is_not_waited_for(bench: Bench) -> None:
    marker = f"3600.{os.getpid()}3"
    answer = await bench(f"setsid sleep {marker} & echo done", moment="SessionStart")
    assert (answer.outcome, answer.context) == ("ok", "done")
    assert not alive(marker)


async def test_cancelled_it_leaves_nothing_behind(bench: Bench, files: Files) -> None:
    marker = f"3600.{os.getpid()}4"
    task = asyncio.create_task(bench(f"trap '' TERM; touch begun; setsid sleep {marker} & wait; sleep {marker}"))
    await asyncio.to_thread(came, files.root / "begun")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(marker)


async def test_what_cannot_be_started_is_a_failure(bench: Bench, runner: HookRunner, files: Files) -> None:
    answer = await runner.run(
        files.hook("true", scope="user"), {}, cwd="/proc/nonexistent/dir", env=ENV, project_root=str(files.root)
    )
    assert (answer.outcome, answer.leaning) == ("failed", "")
    assert "could not be started" in answer.detail
    answer = await bench("true", {"bad": object()})
    assert answer.outcome == "failed"
    answer = await bench("/proc/nonexistent/program")
    assert (answer.outcome, "127" in answer.detail) == ("failed", True)


async def test_bash_where_it_is_asked_for(bench: Bench) -> None:
    answer = await bench('[[ -n "$BASH_VERSION" ]] && echo yes', moment="SessionStart", shell="bash")
    assert answer.context == "yes"


async def test_all_at_once_and_answers_in_order(runner: HookRunner, files: Files) -> None:
    """Each waits for a file that the next one makes: one after the other they would wait for ever."""
    commands = [f"touch made{n}; while [ ! -e made{(n + 1) % 4} ]; do sleep 0.01; done; echo {n}" for n in range(4)]
    hooks = [files.hook(command, scope="user", moment="SessionStart") for command in commands]
    root = str(files.root)
    async with asyncio.timeout(HANG_S):
        answers = await runner.run_all(hooks, {}, cwd=root, env=ENV, project_root=root)
    assert [answer.context for answer in answers] == ["0", "1", "2", "3"]


async def test_one_that_hangs_does_not_take_the_others_along(runner: HookRunner, files: Files) -> None:
    root = str(files.root)
    hooks = [files.hook("sleep 1000", scope="user", timeout_s=0.3), files.hook("exit 2", scope="user")]
    answers = await runner.run_all(hooks, {}, cwd=root, env=ENV, project_root=root)
    assert [answer.outcome for answer in answers] == ["timed_out", "blocked"]


async def test_the_same_command_runs_once(files: Files) -> None:
    root = str(files.root)
    hooks = [files.hook("echo x >> log", scope=scope) for scope in ("claude_project", "claude_local", "user")]
    answers = await run_hooks(hooks, {}, cwd=root, env=ENV, project_root=root)
    assert len(answers) == 1
    assert answers[0].hook == "echo x >> log"
    assert (files.root / "log").read_text() == "x\n"


def test_of_the_same_command_the_users_counts(files: Files) -> None:
    theirs, mine = files.hook("x"), files.hook("x", scope="user")
    assert distinct([theirs, mine]) == [mine]
    assert distinct([mine, theirs, files.hook("y")]) == [mine, files.hook("y")]
    assert len(distinct([mine, files.hook("x", scope="user", moment="Stop")])) == 2


@pytest.mark.parametrize("scope", ["project", "claude_project", "claude_user"])
async def test_a_file_that_changed_since_it_was_approved_is_not_run(bench: Bench, files: Files, scope: Any) -> None:
    script = files.root / "check.sh"
    script.write_text("echo first")
    hook = files.hook("sh ./check.sh", scope=scope, moment="SessionStart")
    assert (await bench("", hook=hook)).context == "first"
    script.write_text("touch ran")
    answer = await bench("", hook=hook)
    assert answer.outcome == "failed"
    assert "has changed" in answer.detail
    assert not (files.root / "ran").exists()


async def test_a_script_of_the_same_name_where_the_session_stands_is_not_run(runner: HookRunner, files: Files) -> None:
    (files.root / "check.sh").write_text("echo first")
    (files.root / "sub").mkdir()
    (files.root / "sub" / "check.sh").write_text("touch ran")
    hook = files.hook("sh ./check.sh")
    cwd = str(files.root / "sub")
    answer = await runner.run(hook, {}, cwd=cwd, env=ENV, project_root=str(files.root))
    assert answer.outcome == "failed"
    assert "sub/check.sh" in answer.detail
    assert not (files.root / "sub" / "ran").exists()


async def test_a_project_hook_may_not_allow(bench: Bench) -> None:
    output = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    command = f"echo '{json.dumps(output)}'"
    for scope, may in (("claude_project", False), ("project", False), ("claude_user", True), ("user", True)):
        answer = await bench(command, scope=scope)
        assert (answer.leaning, answer.may_allow) == ("allow", may)


async def test_one_hook_by_itself(files: Files) -> None:
    hook: HookDefinition = files.hook("echo hi", scope="user", moment="SessionStart")
    answer = await run_hook(hook, {}, cwd=str(files.root), env=ENV, project_root=str(files.root))
    assert answer.context == "hi"
    assert answer.hook == "echo hi"
