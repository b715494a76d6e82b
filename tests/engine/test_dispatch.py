"""Tool execution while streaming: cases TX-1 to TX-7 of the specification."""

import asyncio
from pathlib import Path

from clew.engine.bounding import EMPTY_RESULT, MAX_BATCH_CHARS, ResultBounds
from clew.llm.errors import StreamBroken
from clew.llm.scripted import BreakAfter, Call, Say, ScriptedModel, Turn, Wait
from clew.protocol.events import Event, ToolEnded, ToolStarted
from clew.protocol.ids import CallId
from clew.tools.base import ToolResult
from engine.harness import Broken, Params, Reader, Shell, Silent, Stage, TestHost, Writer, result_parts


async def test_tx_1_reads_overlap_a_write_never_does_and_results_go_in_call_order() -> None:
    log: list[str] = []
    gate = asyncio.Event()
    calls = [
        Call("Reader", {"name": "slow"}),
        Call("Reader", {"name": "quick"}),
        Call("Writer", {"name": "w"}),
        Call("Reader", {"name": "late"}),
    ]
    stage = Stage(ScriptedModel([Turn(calls), Say("ok")]), [Reader(log, {"slow": gate}), Writer(log)])

    def release(event: Event) -> None:
        if isinstance(event, ToolEnded) and event.result.call_id == "call_2":
            gate.set()

    await stage.play(on=release)
    assert log.index("start quick") < log.index("end slow")
    assert log[log.index("start w") + 1] == "end w"
    assert log.index("start late") > log.index("end w")
    shown = [event.result.call_id for event in stage.of(ToolEnded)]
    assert shown == ["call_2", "call_1", "call_3", "call_4"]
    sent = [part.call_id for message in stage.model.requests[1].messages for part in result_parts(message)]
    assert sent == ["call_1", "call_2", "call_3", "call_4"]


async def test_tx_2_a_failing_shell_call_cancels_its_shell_siblings_only() -> None:
    calls = [Call("Shell", {"name": "bad"}), Call("Shell", {"name": "x"}), Call("Reader", {"name": "r"})]
    stage = Stage(ScriptedModel([Turn(calls), Say("ok")]), [Shell(), Reader()])
    await stage.play()
    results = stage.results()
    assert "another shell command" in str(results["call_2"].content)
    assert results["call_2"].is_error
    assert results["call_3"].content == "content of r"


async def test_tx_2_a_running_shell_sibling_is_cancelled_too() -> None:
    class Parallel(Shell):
        """A shell tool whose calls may overlap."""

        safe = True

    calls = [Call("Shell", {"name": "hang"}), Call("Shell", {"name": "bad"})]
    stage = Stage(ScriptedModel([Turn(calls), Say("ok")]), [Parallel()])
    await asyncio.wait_for(stage.play(), 10)
    assert "another shell command" in str(stage.results()["call_1"].content)
    stage.assert_settled()


async def test_tx_3_a_failing_read_leaves_a_slow_one_alone() -> None:
    gate = asyncio.Event()
    calls = [Call("Reader", {"name": "slow"}), Call("Reader", {"name": "bad"})]
    stage = Stage(ScriptedModel([Turn(calls), Say("ok")]), [Reader(gates={"slow": gate})])
    await stage.play(on=lambda event: gate.set() if isinstance(event, ToolEnded) else None)
    assert stage.results()["call_1"].content == "content of slow"
    assert stage.results()["call_2"].is_error


async def test_tx_4_an_unknown_tool_is_an_error_result_and_the_turn_goes_on() -> None:
    stage = Stage(ScriptedModel([Call("Nonsense", {}), Say("ok")]), [Reader()])
    assert (await stage.play()).reason == "completed"
    assert "Nonsense" in str(stage.results()["call_1"].content)


async def test_wrong_arguments_are_an_error_result_and_nothing_runs() -> None:
    model = ScriptedModel([Turn([Call("Reader", {"name": ["x"]}), Call("Reader", raw="{oops")]), Say("ok")])
    stage = Stage(model, [Reader()])
    await stage.play()
    assert all(result.is_error for result in stage.results().values())
    assert not stage.of(ToolStarted)


async def test_tx_5_a_tool_whose_safety_predicate_raises_runs_alone_and_its_bug_is_its_result() -> None:
    log: list[str] = []
    calls = [Call("Reader", {"name": "a"}), Call("Broken", {"name": "b"}), Call("Reader", {"name": "c"})]
    stage = Stage(ScriptedModel([Turn(calls), Say("ok")]), [Reader(log), Broken(log)])
    assert (await stage.play()).reason == "completed"
    assert log == ["start a", "end a", "start b", "end b", "start c", "end c"]
    assert "a bug" in str(stage.results()["call_2"].content)


async def test_tx_6_an_empty_result_becomes_a_marker() -> None:
    stage = Stage(ScriptedModel([Call("Silent", {}), Say("ok")]), [Silent()])
    await stage.play()
    assert stage.results()["call_1"].content == EMPTY_RESULT


async def test_tx_7_a_discarded_attempt_stops_its_process_and_never_sends_its_output() -> None:
    started = asyncio.Event()
    pids: list[int] = []

    class RealShell(Shell):
        """Runs a real process for as long as it is let."""

        async def work(self, params: Params) -> ToolResult:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", "echo up; exec sleep 60", stdout=asyncio.subprocess.PIPE
            )
            try:
                assert process.stdout is not None
                await process.stdout.readline()
                pids.append(process.pid)
                started.set()
                await process.wait()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            return ToolResult(text="should never be seen")

    broken = BreakAfter([Call("Shell", {"name": "run"}, id="doomed"), Wait(started)], StreamBroken("cut"))
    stage = Stage(ScriptedModel([broken, Say("second")]), [RealShell()])
    await stage.play()
    assert not Path(f"/proc/{pids[0]}").exists()
    assert "doomed" not in str(stage.model.requests[-1].messages)


def test_a_long_result_is_spilled_and_its_preview_never_changes(tmp_path: Path) -> None:
    bounds = ResultBounds(tmp_path / "results")
    text = "line\n" * 20_000
    first = bounds.bound(CallId("call/1"), text, max_chars=50_000)
    assert len(first) < 3_000
    (spilled,) = (tmp_path / "results").iterdir()
    assert spilled.read_text() == text
    assert str(spilled) in first
    assert bounds.bound(CallId("call/1"), text, max_chars=50_000) == first
    assert spilled.stat().st_mode & 0o077 == 0


def test_folders_of_long_results_are_for_the_user_alone(tmp_path: Path) -> None:
    ResultBounds(tmp_path / "session" / "tool-results").bound(CallId("c"), "x" * 5_000, max_chars=4_000)
    folders = (tmp_path / "session", tmp_path / "session" / "tool-results")
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]


def test_ten_large_results_of_one_step_stay_within_the_batch_bound(tmp_path: Path) -> None:
    bounds = ResultBounds(tmp_path)
    texts = [bounds.bound(CallId(f"c{number}"), "x" * 40_000, max_chars=50_000) for number in range(10)]
    assert sum(map(len, texts)) <= MAX_BATCH_CHARS + 10 * 3_000
    assert texts[0] == "x" * 40_000


def test_when_nothing_can_be_saved_the_full_result_is_sent() -> None:
    bounds = ResultBounds(Path("/proc/nowhere"))
    text = "y" * 60_000
    assert bounds.bound(CallId("c"), text, max_chars=50_000) == text


async def test_the_host_bounds_what_a_tool_returns(tmp_path: Path) -> None:
    class Flood(Reader):
        """Returns more than its bound."""

        max_result_chars = 100

        async def work(self, params: Params) -> ToolResult:
            return ToolResult(text="z" * 5_000)

    stage = Stage(ScriptedModel([Call("Reader", {}), Say("ok")]), [Flood()], host=TestHost(results_dir=tmp_path))
    await stage.play()
    assert "characters" in str(stage.results()["call_1"].content)
