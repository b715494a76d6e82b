"""Bash, TaskOutput, TaskStop: bounded, never hanging, nothing left behind."""

import asyncio
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.permissions.access import ShellAccess
from clew.protocol.display import TerminalBlock
from clew.system.process import ProcessEnd
from clew.tools import output_buffer, shells
from clew.tools.base import Tool, ToolContext
from clew.tools.builtin import task_output
from clew.tools.output_buffer import OutputBuffer
from clew.tools.schema import decode_arguments
from clew.tools.session import ToolSession
from fakes.effort import HANG_S

from .conftest import Caller, timed_out, until


def alive(marker: str) -> list[int]:
    """Processes whose command line holds the marker."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdecimal() and int(name) != os.getpid():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if marker.encode() in line and state != "Z":
                found.append(int(name))
    return found


async def gone(marker: str) -> bool:
    return await until(lambda: not alive(marker))


async def appeared(path: Path) -> bool:
    return await until(lambda: path.exists() and path.read_text().strip())


async def test_output_and_exit_code(call: Caller):
    good = await call("Bash", command="echo out; echo err >&2")
    assert (good.text, good.is_error) == ("out\nerr", False)
    bad = await call("Bash", command="echo no; exit 3")
    assert bad.text == "no\nExit code 3."
    assert bad.is_error
    assert bad.failed_command
    (block,) = bad.display
    assert isinstance(block, TerminalBlock)
    assert (block.exit_code, block.output) == (3, "no\n")
    assert (await call("Bash", command="true")).text == "(no output)"
    assert (await call("Bash", command="kill -9 $$")).text == "Exit code 137."


async def test_only_the_directory_is_carried(call: Caller, session: ToolSession, workspace: Path):
    (workspace / "sub").mkdir()
    await call("Bash", command="cd sub; export LEAK=1; alias ll=ls; f() { :; }")
    assert session.cwd == str(workspace / "sub")
    seen = await call("Bash", command='pwd; echo "[$LEAK]"; type f ll 2>&1 | grep -c "not found"')
    assert seen.text == f"{workspace}/sub\n[]\n2"
    await call("Bash", command="cd ..; false")
    assert session.cwd == str(workspace)
    outside = await call("Bash", command="cd /")
    assert session.cwd == str(workspace)
    assert "outside the workspace" in outside.text


async def test_a_vanished_directory_is_left(call: Caller, session: ToolSession, workspace: Path):
    (workspace / "sub").mkdir()
    await call("Bash", command="cd sub")
    (workspace / "sub").rmdir()
    assert "is gone" in (await call("Bash", command="pwd")).text
    assert (await call("Bash", command="pwd")).text == str(workspace)


async def test_the_exact_text_runs(call: Caller):
    assert (await call("Bash", command="echo 'a  b' \"$0\" $#")).text == "a  b /bin/bash 0"
    assert (await call("Bash", command="echo a # not b\necho c")).text == "a\nc"
    quiet = await call("Bash", command="set -x; echo hi")
    assert "pwd" not in quiet.text


async def test_the_environment_is_cleaned(call: Caller, session: ToolSession):
    session.env |= {"ANTHROPIC_API_KEY": "CANARY", "GITHUB_TOKEN": "CANARY", "LD_PRELOAD": "", "BASH_ENV": "/x"}
    session.env |= {"GIT_DIR": "CANARY", "AWS_SECRET_ACCESS_KEY": "CANARY", "PROMPT_COMMAND": "CANARY", "KEEP": "yes"}
    session.keep_variables = frozenset({"KEEP"})
    session.env["ODD_NAME"] = "CANARY"
    session.key_variables = frozenset({"ODD_NAME"})
    result = await call("Bash", command="env")
    assert "CANARY" not in result.text
    assert "KEEP=yes" in result.text
    assert "PAGER=cat" in result.text
    assert "BASH_ENV" not in result.text


async def test_stdin_is_empty_and_there_is_no_terminal(call: Caller):
    async with asyncio.timeout(HANG_S):
        result = await call("Bash", command='cat; read x; echo "[$x]"; stty -echo 2>&1; (: > /dev/tty) 2>&1; tty')
    lines = result.text.splitlines()
    assert lines[0] == "[]"
    assert "Inappropriate ioctl" in lines[1]
    assert "No such device" in lines[2]
    assert "not a tty" in result.text


async def test_progress_arrives_while_it_runs(call: Caller, progress: list[str], workspace: Path):
    task = asyncio.create_task(call("Bash", command="echo first; while [ ! -e go ]; do sleep 0.05; done; echo last"))
    assert await until(lambda: progress)
    assert progress == ["first\n"]
    (workspace / "go").touch()
    assert (await task).text == "first\nlast"
    assert "".join(progress) == "first\nlast\n"


async def test_long_output_is_cut_and_kept(call: Caller):
    result = await call("Bash", command="seq 1 100000")
    assert len(result.text) < 32_000
    assert result.text.startswith("1\n2\n")
    assert result.text.endswith("\n99999\n100000")
    path = Path(result.text.split("the output is in ")[1].split(" …]")[0])
    assert path.read_text().split() == [str(n) for n in range(1, 100_001)]
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_flood_of_a_gigabyte_is_bounded(call: Caller):
    """L37."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await call("Bash", command="head -c 1000000000 /dev/zero | tr '\\0' 'x'; exit 5")
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 100_000
    assert len(result.text) < 32_000
    assert "of 1,000,000,000 bytes left out" in result.text
    assert result.text.endswith("Exit code 5.")


async def test_a_time_limit_ends_everything(call: Caller, progress: list[str]):
    marker = f"3100.{os.getpid()}01"
    result = await timed_out(call, f"echo begin; sleep {marker} & setsid sleep {marker} & wait", lambda: progress)
    assert result.text.startswith("begin\nTimed out after 600 s")
    assert result.is_error
    assert await gone(marker)


async def test_fifty_stubborn_children_in_new_sessions_are_gone(call: Caller, workspace: Path):
    """L38: the command ignores SIGTERM, its children too, each in a session of its own. How soon: bench/tools.py."""
    marker = f"3200.{os.getpid()}02"
    child = f"setsid bash -c 'trap \"\" TERM; while :; do sleep {marker}; done'"
    script = f"trap '' TERM; for i in $(seq 50); do {child} & done; wait"
    result = await timed_out(call, script, lambda: len(alive(f"sleep\0{marker}")) == 50)
    assert "Timed out" in result.text
    assert await gone(marker)


async def test_what_a_command_leaves_behind_ends_with_it(call: Caller):
    marker = f"3300.{os.getpid()}03"
    async with asyncio.timeout(HANG_S):
        result = await call("Bash", command=f"(setsid sleep {marker} &) ; echo done")
    assert result.text == "done"
    assert await gone(marker)


async def test_cancelling_leaves_no_process(call: Caller, workspace: Path):
    """TX-7. How soon: bench/tools.py."""
    marker = f"3400.{os.getpid()}04"
    task = asyncio.create_task(
        call("Bash", command=f"trap '' TERM; echo up > up; setsid sleep {marker} & sleep {marker}")
    )
    assert await appeared(workspace / "up")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(marker)


async def test_a_fork_storm_ends(call: Caller):
    marker = f"3500.{os.getpid()}05"
    child = f"(setsid sleep {marker} & [ $1 -gt 0 ] && spawn $(($1-1)))"
    script = f"spawn() {{ for i in 1 2 3; do {child} & done; wait; }}; spawn 3; sleep {marker}"
    result = await timed_out(call, script, lambda: alive(f"sleep\0{marker}"))
    assert "Timed out" in result.text
    assert await gone(marker)


async def test_background_runs_shows_and_ends(call: Caller, session: ToolSession, workspace: Path):
    marker = f"3600.{os.getpid()}06"
    started = await call(
        "Bash",
        command=f"echo one; touch up; while [ ! -e go ]; do sleep 0.02; done; echo two >&2; sleep {marker}",
        run_in_background=True,
    )
    assert started.text.startswith("Running in the background as bash_1.")
    shell = session.shells.background["bash_1"]
    assert await until(lambda: shell.output.total >= 4)
    assert (await call("TaskOutput", task_id="bash_1")).text == "one\nbash_1 is running."
    (workspace / "go").touch()
    assert await until(lambda: shell.output.total >= 8)
    assert (await call("TaskOutput", task_id="bash_1", filter="t.o")).text == "two\nbash_1 is running."
    killed = await call("TaskStop", task_id="bash_1")
    assert "were ended" in killed.text
    assert await gone(marker)
    assert (await call("TaskOutput", task_id="bash_1")).text == "(no new output)\nbash_1 killed."
    assert "already" in (await call("TaskStop", task_id="bash_1")).text
    assert shell.output.path is not None
    assert shell.output.path.read_text() == "one\ntwo\n"


async def test_unknown_ids_and_bad_filters_are_told(call: Caller):
    assert "no task 'x'" in (await call("TaskOutput", task_id="x")).text
    assert (await call("TaskStop", task_id="x")).is_error
    await call("Bash", command="exit 4", run_in_background=True)
    assert (await call("TaskOutput", task_id="bash_1", filter="(")).is_error


async def test_a_filter_that_explodes_is_ended(call: Caller, session: ToolSession, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(task_output, "FILTER_TIMEOUT_S", 0.0)
    await call("Bash", command="printf 'a%.0s' $(seq 60); echo '!'", run_in_background=True)
    shell = session.shells.background["bash_1"]
    assert await until(lambda: shell.ended is not None)
    async with asyncio.timeout(HANG_S):
        slow = await call("TaskOutput", task_id="bash_1", filter="(a|aa)+$")
    assert "took too long" in slow.text
    assert (await call("TaskOutput", task_id="bash_1")).text.startswith("a" * 60 + "!\n")


async def test_a_cancelled_kill_still_notes_the_end(call: Caller, session: ToolSession):
    await call("Bash", command="trap '' TERM; echo up; while :; do sleep 0.1; done", run_in_background=True)
    shell = session.shells.background["bash_1"]
    assert await until(lambda: shell.output.total)
    killing = asyncio.create_task(call("TaskStop", task_id="bash_1"))
    assert await until(lambda: shell.killed)
    killing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killing
    assert await until(lambda: shell.ended)
    assert shell.state == "killed"


def test_a_character_that_arrives_in_two_pieces_is_one_character():
    shell = shells.Background("bash_1", "x", OutputBuffer(None))
    shell.add("ab€".encode()[:-1])
    assert shell.take_new() == ("ab", 0)
    shell.give_back("ab")
    shell.add("€".encode()[-1:] + b"\xff")
    shell.ended = ProcessEnd(0, "")
    assert shell.take_new() == ("ab€\ufffd", 0)


async def test_progress_never_splits_a_character(progress: list[str]):
    shown = shells.Progress(progress.append)
    for byte in "é€".encode():
        shown.add(bytes([byte]))
        shown.flush()
    assert progress == ["é", "€"]


def test_output_that_outgrows_the_disk_names_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    output = OutputBuffer(tmp_path / "kept.txt")
    output.add(b"a" * 40_000)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(output_buffer.os, "write", full)
        output.add(b"b" * 40_000)
        output.add(b"c" * 40_000)
    output.close()
    assert f"the output is in {tmp_path / 'kept.txt'} up to byte 40,000 …]" in output.text()


async def test_closing_the_session_ends_background_commands(call: Caller, session: ToolSession, workspace: Path):
    marker = f"3700.{os.getpid()}07"
    await call("Bash", command=f"setsid sleep {marker} & echo up > up; sleep {marker}", run_in_background=True)
    assert await appeared(workspace / "up")
    await session.close()
    assert await gone(marker)


@pytest.mark.parametrize(
    ("command", "words"),
    [("a\0b", "NUL"), ("x" * 140_000, "longer than"), ("echo \ud800", "not valid text")],
)
async def test_what_cannot_be_run_is_told(call: Caller, command: str, words: str):
    result = await call("Bash", command=command)
    assert result.is_error
    assert words in result.text


async def test_syntax_errors_and_binary_output(call: Caller):
    wrong = await call("Bash", command="if then")
    assert "syntax error" in wrong.text
    assert "Exit code 2." in wrong.text
    assert (await call("Bash", command="printf 'a\\377b'")).text == "a\ufffdb"


def test_the_access_is_the_exact_command(
    tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext], workspace: Path
):
    params = decode_arguments("Bash", tools["Bash"].params, {"command": " ls  -l "})
    assert tools["Bash"].accesses(params, make_context()) == (ShellAccess(command=" ls  -l ", cwd=str(workspace)),)
