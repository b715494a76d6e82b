"""Tool execution while streaming: cases TX-1 to TX-7 of the specification."""

import asyncio
from pathlib import Path

from clew.engine.result_budget import EMPTY_RESULT, MAX_BATCH_CHARS, ResultBudget
from clew.llm.errors import StreamBroken
from clew.llm.scripted import BreakAfter, Call, ReplyOf, Say, ScriptedModel, Wait
from clew.permissions.access import Access, Verdict
from clew.protocol.events import AttemptEnded, Event, ReplyWithdrawn, ResultReplaced, ToolEnded, ToolStarted
from clew.protocol.ids import CallId
from clew.tools.base import ToolResult
from engine.harness import Broken, Params, Reader, Shell, Silent, Stage, TestHost, Writer, result_parts
from fakes.effort import HANG_S


async def test_tx_1_reads_overlap_a_write_never_does_and_results_go_in_call_order() -> None:
    log: list[str] = []
    gate = asyncio.Event()
    calls = [
        Call("Reader", {"name": "slow"}),
        Call("Reader", {"name": "quick"}),
        Call("Writer", {"name": "w"}),
        Call("Reader", {"name": "late"}),
    ]
    stage = Stage(ScriptedModel([ReplyOf(calls), Say("ok")]), [Reader(log, {"slow": gate}), Writer(log)])

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
    stage = Stage(ScriptedModel([ReplyOf(calls), Say("ok")]), [Shell(), Reader()])
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
    stage = Stage(ScriptedModel([ReplyOf(calls), Say("ok")]), [Parallel()])
    await asyncio.wait_for(stage.play(), HANG_S)
    assert "another shell command" in str(stage.results()["call_1"].content)
    stage.assert_settled()


async def test_tx_3_a_failing_read_leaves_a_slow_one_alone() -> None:
    gate = asyncio.Event()
    calls = [Call("Reader", {"name": "slow"}), Call("Reader", {"name": "bad"})]
    stage = Stage(ScriptedModel([ReplyOf(calls), Say("ok")]), [Reader(gates={"slow": gate})])
    await stage.play(on=lambda event: gate.set() if isinstance(event, ToolEnded) else None)
    assert stage.results()["call_1"].content == "content of slow"
    assert stage.results()["call_2"].is_error


async def test_tx_4_an_unknown_tool_is_an_error_result_and_the_turn_goes_on() -> None:
    stage = Stage(ScriptedModel([Call("Nonsense", {}), Say("ok")]), [Reader()])
    assert (await stage.play()).reason == "completed"
    assert "Nonsense" in str(stage.results()["call_1"].content)


async def test_wrong_arguments_are_an_error_result_and_nothing_runs() -> None:
    model = ScriptedModel([ReplyOf([Call("Reader", {"name": ["x"]}), Call("Reader", raw="{oops")]), Say("ok")])
    stage = Stage(model, [Reader()])
    await stage.play()
    assert all(result.is_error for result in stage.results().values())
    assert not stage.of(ToolStarted)


async def test_tx_5_a_tool_whose_safety_predicate_raises_runs_alone_and_its_bug_is_its_result() -> None:
    log: list[str] = []
    calls = [Call("Reader", {"name": "a"}), Call("Broken", {"name": "b"}), Call("Reader", {"name": "c"})]
    stage = Stage(ScriptedModel([ReplyOf(calls), Say("ok")]), [Reader(log), Broken(log)])
    assert (await stage.play()).reason == "completed"
    assert log == ["start a", "end a", "start b", "end b", "start c", "end c"]
    assert "a bug" in str(stage.results()["call_2"].content)


async def test_tx_6_an_empty_result_becomes_a_marker() -> None:
    stage = Stage(ScriptedModel([Call("Silent", {}), Say("ok")]), [Silent()])
    await stage.play()
    assert stage.results()["call_1"].content == EMPTY_RESULT


class RealShell(Shell):
    """Runs a real process for as long as it is let, or until it is told to end."""

    def __init__(self, command: str = "echo up; exec sleep 60") -> None:
        super().__init__()
        self.command = command
        self.started = asyncio.Event()
        self.pids: list[int] = []

    async def work(self, params: Params) -> ToolResult:
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", self.command, stdout=asyncio.subprocess.PIPE)
        try:
            assert process.stdout is not None
            await process.stdout.readline()
            self.pids.append(process.pid)
            self.started.set()
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return ToolResult(text="it ran")


def reads_only(accesses: tuple[Access, ...]) -> Verdict:
    """A judge that has proven every command to change nothing."""
    return Verdict(decision="allow", why="test", reads_only=True)


async def test_tx_7_a_discarded_attempt_stops_its_process_and_never_sends_its_output() -> None:
    """A command that was proven to change nothing may still be discarded."""
    shell = RealShell()
    broken = BreakAfter([Call("Shell", {"name": "run"}, id="doomed"), Wait(shell.started)], StreamBroken("cut"))
    stage = Stage(ScriptedModel([broken, Say("second")]), [shell], host=TestHost(verdict=reads_only))
    await stage.play()
    assert not Path(f"/proc/{shell.pids[0]}").exists()
    assert "doomed" not in str(stage.model.requests[-1].messages)


async def test_what_took_effect_is_never_withdrawn_and_the_turn_goes_on_from_there(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    shell = RealShell(f"echo once >> {out}; echo up")
    broken = BreakAfter(
        [Say("First."), Call("Shell", {"name": "run"}, id="done"), Wait(shell.started), Say("and then")],
        StreamBroken("cut"),
    )
    stage = Stage(ScriptedModel([broken, Say("Done.")]), [shell])
    ended = await stage.play()
    assert ended.reason == "completed"
    assert out.read_text() == "once\n"
    assert not [event for event in stage.of(ReplyWithdrawn) if event.entry_ids]
    stage.assert_settled()
    sent = str(stage.model.requests[-1].messages)
    assert "First." in sent
    assert "it ran" in sent
    assert [event.outcome for event in stage.of(AttemptEnded)] == ["kept", "completed"]


def test_a_long_result_is_spilled_and_its_preview_never_changes(tmp_path: Path) -> None:
    bounds = ResultBudget(tmp_path / "results")
    text = "line\n" * 20_000
    first = bounds.bound(CallId("call/1"), text, max_chars=50_000)
    assert len(first) < 3_000
    (spilled,) = (tmp_path / "results").iterdir()
    assert spilled.read_text() == text
    assert str(spilled) in first
    assert bounds.bound(CallId("call/1"), text, max_chars=50_000) == first
    assert spilled.stat().st_mode & 0o077 == 0


def test_folders_of_long_results_are_for_the_user_alone(tmp_path: Path) -> None:
    ResultBudget(tmp_path / "session" / "tool-results").bound(CallId("c"), "x" * 5_000, max_chars=4_000)
    folders = (tmp_path / "session", tmp_path / "session" / "tool-results")
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]


async def test_tb_1_ten_large_results_of_one_step_stay_within_the_budget_and_the_decision_is_recorded(
    tmp_path: Path,
) -> None:
    class Large(Reader):
        """Forty thousand characters, or a few."""

        async def work(self, params: Params) -> ToolResult:
            return ToolResult(text=params.name[0] * (500 if params.name == "small" else 40_000))

    calls = [Call("Reader", {"name": name}) for name in [*"abcdefghij", "small"]]
    model = ScriptedModel([ReplyOf(calls), Say("ok"), Say("more")])
    stage = Stage(model, [Large()], host=TestHost(results_dir=tmp_path))
    await stage.play()
    results = [part for message in model.requests[1].messages for part in result_parts(message)]
    assert sum(len(str(part.content)) for part in results) <= MAX_BATCH_CHARS
    assert results[-1].content == "s" * 500
    replaced = {event.call_id for event in stage.of(ResultReplaced)}
    assert len(replaced) == 6
    spilled = {path.stem: path.read_text() for path in tmp_path.iterdir()}
    assert set(spilled) == replaced
    assert all(len(text) == 40_000 for text in spilled.values())
    await stage.play("again")
    assert model.requests[2].messages[: len(model.requests[1].messages)] == model.requests[1].messages


def test_a_preview_is_never_longer_than_the_result(tmp_path: Path) -> None:
    for size in (1, 400, 500, 2_000, 2_100, 2_200, 5_000):
        text = "r" * size
        assert len(ResultBudget(tmp_path / "a").bound(CallId(f"c{size}"), text, max_chars=100)) <= size
        assert len(ResultBudget(None).bound(CallId(f"c{size}"), text, max_chars=100)) <= size


def test_when_nothing_can_be_saved_the_full_result_is_sent() -> None:
    bounds = ResultBudget(Path("/proc/nowhere"))
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
