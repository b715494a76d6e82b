"""The conversation: prompts, streaming, steering, commands, pipes, Ctrl-C, leaving."""

from pathlib import Path

import pytest

from clew.composing.ctrl_c import Situation, meaning_of
from clew.protocol.display import (
    DiffBlock,
    FileBlock,
    MatchesBlock,
    TableBlock,
    TerminalBlock,
    TodoBlock,
    TodoItem,
)
from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    BatchLabelled,
    ModelChanged,
    Notice,
    PromptAccepted,
    RecapReady,
    ReplyWithdrawn,
    RetryScheduled,
    ToolStarted,
    TurnStarted,
)
from clew.protocol.ids import AgentId, CallId, EntryId, MessageId, RequestId
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import (
    Close,
    Interrupt,
    Op,
    ReportTyping,
    RequestRecap,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SubmitPrompt,
)
from clew.protocol.usage import Usage
from fakes.effort import HANG_S
from unit.plain.play import PlayedTerminal, ScriptedClient, Stage, call, ended, said, says, turn, words


async def test_a_prompt_starts_a_turn_and_the_answer_is_shown() -> None:
    async with Stage() as stage:
        stage.terminal.type("hello\n")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="hello")])
        stage.client.push(*turn(1, *says("Hi ", "there"), cost_usd=0.0123))
        await stage.shows("-- 1.2 s · $0.0123\n> ")
        assert "  Hi there\n-- 1.2 s" in stage.output


async def test_no_prompt_is_open_while_the_agent_works() -> None:
    async with Stage() as stage:
        stage.terminal.type("hello\n")
        stage.client.push(TurnStarted(turn=1), *says("word"))
        await stage.shows("word\n")
        assert stage.output.endswith("word\n")


async def test_a_line_typed_while_the_agent_works_is_sent_at_once() -> None:
    async with Stage() as stage:
        stage.terminal.type("hello\n")
        stage.client.push(TurnStarted(turn=1))
        await stage.settled()
        stage.terminal.type("use tabs\n")
        await stage.until(lambda: SubmitPrompt(content="use tabs") in stage.ops)
        stage.client.push(PromptAccepted(entry_id=EntryId("e"), parent_id=None, content="use tabs", queued=True))
        await stage.shows("> joined: use tabs")


async def test_tool_calls_have_one_label_line_each() -> None:
    async with Stage() as stage:
        stage.client.push(
            *turn(
                1,
                *says("Looking."),
                call(1, "Read", file_path="/project/src/x.py"),
                ended(1, "Read", FileBlock(path="/project/src/x.py", first_line=1, lines=40, total_lines=90)),
                call(2, "Edit", file_path="/project/validate.py"),
                ended(2, "Edit", DiffBlock(path="/project/validate.py", patch="", added=3, removed=1)),
                call(3, "Bash", command="pytest"),
                ended(3, "Bash", TerminalBlock(command="pytest", output="..F\n1 failed in 1s\n", exit_code=1)),
                call(4, "Read", file_path="/project/none"),
                ended(4, "Read", text="no such file\nnearest: nine", is_error=True),
                ended(5, "AskUser", TableBlock(columns=("question", "answer"), rows=(("Which?", "B"),))),
                ended(6, "Grep", MatchesBlock(pattern="def x", matches=1, files=("a.py",))),
                ended(7, "TodoWrite", TodoBlock(items=(TodoItem(content="a", status="completed"),))),
                ended(8, "Bash", TerminalBlock(command="make\nmake test", output="", exit_code=None, timed_out=True)),
                call(9, "Odd", thing="what it is about"),
                ended(9, "Odd"),
            )
        )
        await stage.shows("-- ")
        assert [line for line in stage.output.splitlines() if line.startswith("*")] == [
            "* Read src/x.py (lines 1-40)",
            "* Edited validate.py +3 -1",
            "* Ran pytest: 1 failed",
            "* Read of none failed: no such file",
            "* Used AskUser: Which? · B",
            "* Searched def x: 1 match in 1 file",
            "* Tasks 1/1 done",
            "* Ran make (+1 line): timed out",
            "* Used Odd what it is about",
        ]
        assert "Edited validate.py +3 -1 · 1 failed · make timed out · Read x.py" in stage.output


async def test_a_line_in_the_middle_of_an_answer_neither_tears_nor_repeats_it() -> None:
    async with Stage() as stage:
        *deltas, whole = says("\n\n", "one ", "two ", "three")
        *again, second = says("one ", "two ", "three", part=1)
        stage.client.push(TurnStarted(turn=1), *deltas[:3], Notice(level="info", text="by the way"), deltas[3], whole)
        stage.client.push(Notice(level="info", text="later"), *again, Notice(level="info", text="n"), second)
        stage.client.push(said("one two three", part=2), *turn(1)[1:])
        await stage.shows("-- ")
        shown = stage.output.split("commands\n")[1]
        assert shown.startswith(
            "> \nNote: by the way\n  one two three\nNote: later\nNote: n\n  one two three\n  one two three\n-- "
        )


async def test_parts_are_shown_once_each() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1), *says("one, "), *says("two", part=1), *turn(1)[1:])
        await stage.shows("-- ")
        assert stage.output.split("commands\n")[1].startswith("> \n  one,\n  two\n-- ")


async def test_a_denied_call_is_told_as_such() -> None:
    async with Stage() as stage:
        stage.client.push(
            TurnStarted(turn=1),
            call(1, command="rm -rf /"),
            ApprovalResolved(
                request_id=RequestId("x"),
                call_id=CallId("c1"),
                tool="Bash",
                subject="rm -rf /",
                decision="deny",
                reason="never allowed",
            ),
            ended(1, text="Not allowed: never allowed", is_error=True),
        )
        await stage.shows("* Refused Bash rm -rf /: never allowed\n")


async def test_long_lines_break_at_blanks() -> None:
    async with Stage(terminal=PlayedTerminal(columns=30)) as stage:
        long = "the quick brown fox jumps over the lazy dog"
        stage.client.push(Notice(level="info", text=long), *turn(1, *says(long)))
        await stage.shows("-- ")
        assert "Note: the quick brown fox \n  jumps over the lazy dog\n" in stage.output
        assert "\n  the quick brown fox jumps\n  over the lazy dog\n" in stage.output


async def test_a_pipe_gets_words_that_are_not_broken_into_rows() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False, columns=0)) as stage:
        long = "the quick brown fox jumps over the lazy dog " * 20
        stage.client.push(*turn(1, *says(long[:300], long[300:])))
        await stage.shows("-- ")
        assert f"\n  {long.strip()}\n" in stage.output


async def test_a_withdrawn_reply_that_was_seen_and_a_retry_are_told() -> None:
    withdrawn = ReplyWithdrawn(reply_id=MessageId("m1"), entry_ids=(), reason="the stream was cut")
    retry = RetryScheduled(attempt=1, max_attempts=5, delay_s=2.0, reason="overloaded")
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1), words("A whole paragraph.\n\nhalf an ans"), withdrawn, retry)
        await stage.shows("  A whole paragraph.\n[the reply above does not count: the stream was cut]\n")
        await stage.shows("Trying again in 2.0 s (attempt 1 of 5): overloaded")
        assert "half an ans" not in stage.output


async def test_a_withdrawn_reply_that_nobody_saw_is_not_told() -> None:
    withdrawn = ReplyWithdrawn(reply_id=MessageId("m1"), entry_ids=(), reason="the stream was cut")
    async with Stage(wait_s=HANG_S) as stage:
        stage.client.push(TurnStarted(turn=1), words("half an ans"), withdrawn, *turn(1)[1:])
        await stage.shows("-- ")
        assert "does not count" not in stage.output
        assert "half" not in stage.output


async def test_words_and_calls_of_a_sub_agent_stay_out() -> None:
    async with Stage() as stage:
        helper = AgentId("helper-1")
        result = ended(1, "Bash", TerminalBlock(command="ls", output="", exit_code=0))
        stage.client.push(TurnStarted(turn=1))
        stage.client.push(words("inner words"), result, agent=helper)
        stage.client.push(Notice(level="info", text="heard"))
        await stage.shows("heard")
        assert "inner words" not in stage.output
        assert "Ran ls" not in stage.output


async def test_an_error_ends_the_turn_and_the_prompt_returns() -> None:
    async with Stage() as stage:
        stage.client.push(*turn(1, reason="model_error", error="401: the key is wrong"))
        await stage.shows("Stopped by an error: 401: the key is wrong\n-- 1.2 s\n> ")


@pytest.mark.parametrize(
    ("typed", "op"),
    [
        ("/model other/m", SetModel(model="other/m")),
        ("/permissions mode plan", SetPermissionMode(mode="plan")),
        ("/title my work", SetTitle(title="my work")),
        ("/recap", RequestRecap()),
    ],
)
async def test_commands_become_ops(typed: str, op: Op) -> None:
    async with Stage() as stage:
        stage.terminal.type(typed + "\n")
        await stage.until(lambda: stage.ops == [op])


async def test_an_unknown_command_suggests_and_asks_no_model() -> None:
    async with Stage() as stage:
        stage.terminal.type("/modle\n")
        await stage.shows("Did you mean /model?")
        assert stage.ops == []


async def test_two_slashes_are_a_prompt() -> None:
    async with Stage() as stage:
        stage.terminal.type("//etc/hosts is odd\n")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="/etc/hosts is odd")])


async def test_stats_are_folded_from_events() -> None:
    async with Stage() as stage:
        used = Usage(input_tokens=1200, output_tokens=30, cache_read_input_tokens=5)
        booked = AttemptEnded(
            reply_id=MessageId("m1"), step=1, model="m", outcome="completed", usage=used, cost_usd=0.5
        )
        stage.client.push(*turn(1, booked))
        await stage.shows("-- ")
        stage.terminal.type("/cost\n")
        await stage.shows("Cost: $0.5000")
        assert "in 1,200 · cached 5 · cache written 0 · out 30" in stage.output


async def test_continued_lines_and_blocks_are_one_prompt() -> None:
    async with Stage() as stage:
        stage.terminal.type("one \\\n")
        await stage.shows("... ")
        stage.terminal.type("two\n")
        stage.terminal.type('"""\na\n\nb\n"""\n')
        await stage.until(lambda: len(stage.ops) == 2)
        assert stage.ops == [SubmitPrompt(content="one \ntwo"), SubmitPrompt(content="a\n\nb")]


async def test_input_that_is_not_utf8_is_named_and_not_sent() -> None:
    async with Stage() as stage:
        stage.terminal.type(b"caf\xe9\n")
        await stage.shows("a line is not UTF-8 (byte 0xe9 at position 4); it was not sent")
        assert stage.ops == []


async def test_a_notice_does_not_swallow_the_prompt() -> None:
    async with Stage() as stage:
        await stage.shows("> ")
        stage.client.push(Notice(level="warning", text="disk nearly full"))
        await stage.shows("> \nWarning: disk nearly full\n> ")


async def test_model_change_and_recap_are_told() -> None:
    async with Stage() as stage:
        stage.client.push(
            ModelChanged(model="b/c"), RecapReady(text="Fixing x.", away="While you were away: 2 tests passed.")
        )
        await stage.shows("Model: b/c\nWhile you were away: 2 tests passed.\nRecap: Fixing x.\n")


async def test_ctrl_c_interrupts_and_the_second_one_quits() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1))
        await stage.settled()
        stage.session.post("interrupt")
        await stage.until(lambda: stage.ops == [Interrupt()])
        stage.session.post("interrupt")
        assert await stage.code() == 130
        assert stage.ops == [Interrupt(), Close()]
        assert stage.terminal.ended


def test_what_ctrl_c_means() -> None:
    def means(**changes: bool) -> str:
        quiet = dict.fromkeys(Situation.__struct_fields__, False)
        return meaning_of(Situation(**{**quiet, "interactive": True, **changes}))

    assert means() == "warn"
    assert means(again=True) == "quit"
    assert means(typed=True) == means(typed=True, again=True) == "clear"
    assert means(busy=True) == means(busy=True, typed=True) == "interrupt"
    assert means(busy=True, again=True, typed=True) == "quit"
    assert means(busy=True, asking=True) == "deny"
    assert means(busy=True, asking=True, again=True) == "quit"
    assert means(interactive=False) == "quit"
    assert means(interactive=False, busy=True) == "interrupt"
    assert means(closing=True, again=True) == "wait"
    assert means(closing=True, again=True, stuck=True) == "abandon"


async def test_ctrl_c_after_the_window_only_interrupts_again() -> None:
    async with Stage(quit_window_s=-1.0) as stage:
        stage.client.push(TurnStarted(turn=1))
        await stage.settled()
        for _ in range(2):
            stage.session.post("interrupt")
        await stage.until(lambda: stage.ops == [Interrupt(), Interrupt()])


async def test_ctrl_c_twice_quits_when_idle() -> None:
    async with Stage() as stage:
        await stage.shows("> ")
        stage.session.post("interrupt")
        await stage.shows("(Ctrl-C again quits")
        assert stage.ops == []
        stage.session.post("interrupt")
        assert await stage.code() == 130
        assert stage.ops == [Close()]


async def test_quit_and_end_of_input_close_cleanly() -> None:
    for typed in ("/quit\n", "/exit\n", b""):
        async with Stage() as stage:
            await stage.shows("> ")
            stage.terminal.type(typed)
            assert await stage.code() == 0
            assert stage.ops == [Close()]
            assert stage.terminal.ended


async def test_a_termination_signal_closes_the_session() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1))
        await stage.settled()
        stage.session.post("terminate")
        assert await stage.code() == 130
        assert stage.ops == [Close()]


async def test_a_session_that_never_ends_is_left_after_the_timeout() -> None:
    class Stuck(ScriptedClient):
        async def submit(self, op: Op) -> None:
            self.ops.append(op)

    async with Stage(client=Stuck(), close_timeout_s=0.02) as stage:
        stage.terminal.type("/quit\n")
        assert await stage.code() == 0
        assert stage.ops == [ReportTyping(), Close()]


async def test_a_closed_pipe_ends_quietly() -> None:
    async with Stage() as stage:
        await stage.shows("> ")
        stage.terminal.broken = True
        stage.client.push(Notice(level="info", text="x"))
        assert await stage.code() == 0
        assert stage.ops == [Close()]


async def test_an_error_of_the_client_is_not_hidden_and_the_terminal_is_restored() -> None:
    class Broken(ScriptedClient):
        async def submit(self, op: Op) -> None:
            raise RuntimeError("wire cut")

    stage = Stage(client=Broken())
    async with stage:
        await stage.shows("> ")
        stage.terminal.type("hello\n")
        with pytest.raises(RuntimeError, match="wire cut"):
            await stage.code()
        assert stage.terminal.ended


def answer_each(client: ScriptedClient, op: Op) -> None:
    if isinstance(op, SubmitPrompt):
        number = sum(isinstance(item, SubmitPrompt) for item in client.ops)
        client.push(*turn(number, *says(f"answer {number}")))


async def test_a_pipe_gives_one_prompt_per_line_in_order() -> None:
    stage = Stage(client=ScriptedClient(answer_each), terminal=PlayedTerminal(interactive=False))
    async with stage:
        stage.terminal.type("\ufefffirst\r\nsecond \\\nline\n\nlast")
        stage.terminal.type(b"")
        assert await stage.code() == 0
        assert stage.ops == [
            SubmitPrompt(content="first"),
            SubmitPrompt(content="second \nline"),
            SubmitPrompt(content="last"),
            Close(),
        ]
        assert stage.output.index("answer 1") < stage.output.index("> second")


async def test_many_piped_lines_wait_and_are_all_taken() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False)) as stage:
        stage.terminal.type("go\n" + "/version\n" * 990)
        stage.terminal.type(b"")
        await stage.until(lambda: len(stage.ops) == 1)
        stage.client.push(*turn(1))
        assert await stage.code() == 0
        assert stage.output.count("> /version\nclew 0.1\n") == 990


async def test_a_block_that_the_pipe_never_closed_is_taken_at_its_end() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False)) as stage:
        stage.terminal.type('"""\n/version')
        stage.terminal.type(b"")
        assert await stage.code() == 0
        assert "\nclew 0.1\n" in stage.output


async def test_a_pipe_whose_last_turn_failed_exits_with_1() -> None:
    def fail(client: ScriptedClient, op: Op) -> None:
        if isinstance(op, SubmitPrompt):
            client.push(*turn(1, reason="model_error", error="down"))

    async with Stage(client=ScriptedClient(fail), terminal=PlayedTerminal(interactive=False)) as stage:
        stage.terminal.type("go\n")
        stage.terminal.type(b"")
        assert await stage.code() == 1


async def test_an_endless_pipe_is_not_read_into_memory() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False)) as stage:
        stage.client.push(TurnStarted(turn=1))
        await stage.settled()
        stage.terminal.type("y\n" * 2000)
        await stage.until(lambda: stage.terminal.paused)


async def test_the_first_prompt_of_the_command_line_is_shown_and_sent() -> None:
    async with Stage(prompt="start\x1b[2J here") as stage:
        await stage.shows("> start here\n")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="start\x1b[2J here")])


async def test_typed_lines_are_remembered(tmp_path: Path) -> None:
    async with Stage(home=tmp_path / "home") as stage:
        stage.terminal.type("remember me\n")
        await stage.until(lambda: len(stage.ops) == 1)
    assert "remember me" in (tmp_path / "home" / "history").read_text()


async def test_a_slow_call_is_mentioned() -> None:
    async with Stage(slow_call_s=0.01) as stage:
        announced = call(1, "Bash", command="make all")
        assert isinstance(announced.part, ToolCallPart)
        stage.client.push(TurnStarted(turn=1), announced, ToolStarted(call=announced.part))
        await stage.shows("  Bash make all is still running\n")


async def test_a_pause_in_typing_brings_a_recap_after_three_prompts_and_two_new_ones() -> None:
    async with Stage(away_s=1e-9) as stage:
        for number in range(1, 6):
            stage.terminal.type(f"prompt {number}\n")
            prompt = SubmitPrompt(content=f"prompt {number}")
            await stage.until(lambda: prompt in stage.ops)  # noqa: B023 - awaited in the same round
            accepted = PromptAccepted(entry_id=EntryId(f"p{number}"), parent_id=None, content=f"prompt {number}")
            stage.client.push(accepted, *turn(number, *says(f"answer {number}")))
            await stage.shows(f"  answer {number}\n--")
            await stage.settled()
            if RequestRecap(returned=True) in stage.ops:
                stage.client.push(RecapReady(text="Recap words."))
        asked = [stage.ops.index(op) for op in stage.ops if op == RequestRecap(returned=True)]
        assert stage.ops.index(SubmitPrompt(content="prompt 4")) == asked[0] + 1, "three prompts, then somebody is back"
        assert stage.ops.count(RequestRecap(returned=True)) == 1, "no second one before two new prompts"


async def test_without_an_away_time_a_recap_is_only_shown_when_asked_for() -> None:
    async with Stage(away_s=0.0) as stage:
        for number in range(1, 6):
            stage.terminal.type(f"prompt {number}\n")
            accepted = PromptAccepted(entry_id=EntryId(f"p{number}"), parent_id=None, content="x")
            stage.client.push(accepted, *turn(number, *says(f"answer {number}")))
            await stage.shows(f"  answer {number}\n--")
        assert not any(isinstance(op, RequestRecap) for op in stage.ops)


async def test_a_long_group_of_calls_is_summed_up_under_it() -> None:
    async with Stage() as stage:
        ids = tuple(CallId(f"c{number}") for number in range(5))
        stage.client.push(TurnStarted(turn=1), BatchLabelled(call_ids=ids, label="Read a.py, b.py and 3 more"))
        await stage.shows("  = Read a.py, b.py and 3 more · 5 tools\n")
        stage.client.push(BatchLabelled(call_ids=ids[:2], label="Read a.py, b.py"))
        stage.client.push(BatchLabelled(call_ids=ids[:2], label="Looked at the importer", source="model"))
        await stage.shows("  = Looked at the importer · 2 tools\n")
        assert "= Read a.py, b.py · 2 tools" not in stage.output
