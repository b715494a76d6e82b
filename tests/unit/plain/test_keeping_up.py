"""Beside the words: a sign of life, Esc, completion, search, the queue, shell and memory lines, coming back."""

from itertools import count
from typing import Any

import pytest

from clew.plain.line.terminal import StdTerminal
from clew.plain.options import PlainOptions
from clew.presentation.story.activity import seconds
from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    Recorded,
    SessionStarted,
    ShellEnded,
    ShellStarted,
    TurnStarted,
)
from clew.protocol.ids import EntryId, PromptId, RequestId
from clew.protocol.lookups.place import FilesFound, FindFiles, LineRemembered, Remember
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.ops import Interrupt, RunShell, SetPermissionMode, SubmitPrompt, WithdrawPrompt
from fakes.effort import HANG_S
from unit.plain.play import STARTED, PlayedTerminal, ScriptedClient, Stage, asks, call, ended, said, says, turn, words
from unit.plain.vt import Screen as Emulator


def editing(columns: int = 80) -> PlayedTerminal:
    return PlayedTerminal(editing=True, columns=columns)


def lines(stage: Stage) -> list[str]:
    return Emulator(stage.terminal.columns()).feed(stage.output).lines


def stage(columns: int = 80, **options: Any) -> Stage:
    """Nothing happens by itself, unless a test lets it."""
    still = {"wait_s": HANG_S, "pulse_s": HANG_S, "escape_s": 0.01}
    return Stage(terminal=editing(columns), **{**still, **options})


async def test_a_line_under_the_output_says_what_goes_on_and_leaves_no_trace() -> None:
    async with stage() as on:
        on.client.push(TurnStarted(turn=1))
        await on.shows("Waiting for the model")
        assert lines(on)[-1].startswith("Waiting for the model · ")
        assert lines(on)[-1].endswith("Esc interrupts")
        on.client.push(*says("Done."), *turn(1)[1:])
        await on.shows("-- ")
        await on.settled()
        assert lines(on)[2:] == ["  Done.", "-- 1.2 s", ">"]


async def test_the_line_is_drawn_anew_once_in_a_while() -> None:
    async with stage(pulse_s=0.01) as on:
        on.session._liveness._now_s = count(seconds("2026-11-16T08:00:00.000Z")).__next__
        on.client.push(TurnStarted(turn=1))
        await on.until(lambda: on.output.count("Waiting for the model") > 3)
        assert len([line for line in lines(on) if "Waiting" in line]) == 1


async def test_where_nothing_may_move_there_is_none() -> None:
    async with stage(reduced_motion=True) as on:
        on.client.push(TurnStarted(turn=1))
        on.client.push(*turn(1, *says("Done."))[1:])
        await on.shows("-- ")
        assert "Waiting" not in on.output


async def test_unfinished_words_are_shown_below_and_never_torn() -> None:
    async with stage(60, wait_s=0.01) as on:
        on.client.push(TurnStarted(turn=1), words("The first words of a sen"))
        await on.shows("of a sen")
        on.terminal.type("wait")
        await on.until(lambda: lines(on)[-1] == "to the agent > wait")
        assert lines(on)[2] == "  The first words of a sen"
        on.client.push(words("tence that goes on and on, longer than the screen is wide."))
        await on.until(lambda: "  than the screen is wide." in lines(on))
        on.client.push(said("The first words of a sentence that goes on and on, longer than the screen is wide."))
        on.client.push(*turn(1)[1:])
        await on.until(lambda: lines(on)[-1] == "> wait")
        assert lines(on)[2:5] == [
            "  The first words of a sentence that goes on and on, longer",
            "  than the screen is wide.",
            "-- 1.2 s",
        ]


async def test_on_a_dumb_terminal_a_row_that_was_begun_goes_on_where_it_ends() -> None:
    async with Stage(wait_s=0.01) as on:
        on.client.push(TurnStarted(turn=1), words("Looking"))
        await on.shows("  Looking")
        on.client.push(words(" at it."), said("Looking at it."), *turn(1)[1:])
        await on.shows("-- ")
        assert "\n  Looking at it.\n-- " in on.output


async def test_a_reply_cannot_pose_as_a_line_of_ours() -> None:
    forged = "-- 1.2 s\n\n> rm -rf /\n\n* Ran tests: ok\n\nApproval needed: Bash\n\nAllow? [y]es > y"
    async with Stage() as on:
        on.client.push(*turn(1, *says(forged)))
        await on.shows("\n-- 1.2 s\n> ")
        shown = on.output.split("commands\n> \n")[1].removesuffix("-- 1.2 s\n> ")
        assert all(line.startswith("  ") for line in shown.splitlines() if line)


async def test_markdown_is_told_in_plain_characters() -> None:
    text = "- one\n- two\n\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```"
    async with Stage() as on:
        on.client.push(*turn(1, *says(text)))
        await on.shows("-- ")
        assert "  - one\n  - two\n\n  | said\n\n  a | b\n  --+--\n  1 | 2\n\n    x = 1\n-- " in on.output


async def test_a_diff_and_the_output_of_what_failed_are_shown() -> None:
    patch = "@@ -1,2 +1,2 @@\n x = 1\n-y = 1\n+y = 2\n"
    failing = TerminalBlock(command="pytest", output="E  assert 1 == 2\n1 failed\n", exit_code=1)
    async with Stage(tools={"Edit": "calls"}) as on:
        edited = ended(1, "Edit", DiffBlock(path="/project/a.py", patch=patch, added=1, removed=1))
        on.client.push(*turn(1, call(1, "Edit", file_path="a.py"), edited, ended(2, "Bash", failing, is_error=True)))
        await on.shows("-- ")
        assert "* Edited a.py +1 -1\n" in on.output
        assert "    2 - y = 1\n    2 + y = 2\n" in on.output
        assert "* Ran pytest: 1 failed\n    $ pytest\n    E  assert 1 == 2\n    1 failed\n    exit 1\n" in on.output


async def test_a_change_that_was_looked_at_before_is_not_shown_again() -> None:
    block = DiffBlock(path="/project/a.py", patch="@@ -1 +1 @@\n-y = 1\n+y = 2\n", added=1, removed=1)
    edit = call(1, "Edit", file_path="/project/a.py", old_string="y = 1", new_string="y = 2")
    async with Stage(tools={"Edit": "calls"}) as on:
        on.client.push(TurnStarted(turn=1), edit, asks(1, "write /project/a.py"))
        await on.shows("Allow?")
        assert "  | - y = 1\n  | + y = 2\n" in on.output
        on.terminal.type("y\n")
        await on.until(lambda: len(on.ops) == 1)
        on.client.push(ended(1, "Edit", block), *turn(1)[1:])
        await on.shows("-- ")
        assert on.output.count("y = 2") == 1


async def test_esc_interrupts_once() -> None:
    async with stage() as on:
        on.client.push(TurnStarted(turn=1))
        await on.shows("Waiting")
        on.terminal.type("\x1b")
        await on.until(lambda: on.ops == [Interrupt()])
        on.terminal.type("\x1b")
        await on.shows("Stopping")
        on.client.push(*turn(1, reason="interrupted")[1:])
        await on.shows("Interrupted")
        assert on.ops == [Interrupt()]


async def test_a_key_that_begins_with_esc_is_no_esc() -> None:
    async with stage(escape_s=HANG_S) as on:
        on.client.push(TurnStarted(turn=1))
        await on.shows("Waiting")
        for piece in ("ab", "\x1b", "[", "D", "X", "\x1b[1;5", "D"):
            on.terminal.type(piece)
        await on.until(lambda: lines(on)[-1] == "to the agent > aXb")
        assert on.ops == []


async def test_esc_at_a_question_denies_and_interrupts() -> None:
    async with stage() as on:
        on.client.push(TurnStarted(turn=1), call(1, command="git push"), asks(1))
        await on.shows("Allow?")
        on.terminal.type("\x1b")
        await on.shows("Denied, and interrupted.")
        await on.until(lambda: len(on.ops) == 2)
        assert getattr(on.ops[0], "decision", "") == "deny"
        assert on.ops[1] == Interrupt()


async def test_esc_twice_clears_the_line_and_the_history_keeps_it() -> None:
    async with stage() as on:
        on.terminal.type("a thought")
        await on.shows("a thought")
        on.terminal.type("\x1b")
        await on.shows("Esc again clears the line")
        assert lines(on)[-1] == "> a thought"
        on.terminal.type("\x1b")
        await on.until(lambda: lines(on)[-1] == ">")
        assert "Esc again" not in lines(on)[-2]
        on.terminal.type("\x1b[A")
        await on.until(lambda: lines(on)[-1] == "> a thought")


async def test_tab_completes_a_command_and_lists_what_fits_with_its_words() -> None:
    async with stage() as on:
        on.terminal.type("/vers\t")
        await on.until(lambda: lines(on)[-1] == "> /version")
        on.terminal.type("\x15/re\t")
        await on.shows("  /rewind: ")
        assert "  /recall: " in on.output
        assert lines(on)[-1] == "> /re"
        on.terminal.type("\t")
        await on.until(lambda: lines(on)[-1] in ("> /recall", "> /recap"))
        first = lines(on)[-1]
        on.terminal.type("\t")
        await on.until(lambda: lines(on)[-1].startswith("> /re") and lines(on)[-1] != first)


async def test_tab_completes_files_and_drops_an_answer_that_came_too_late() -> None:
    async with stage() as on:
        on.terminal.type("look at @wei\t")
        await on.until(lambda: len(on.ops) == 1)
        asked = on.ops[0]
        assert isinstance(asked, FindFiles)
        assert asked.query == "wei"
        found = FilesFound(query="wei", rows=("src/weights.py",))
        on.client.push(found)
        await on.until(lambda: lines(on)[-1] == "> look at @src/weights.py")
        on.terminal.type("ok")
        await on.until(lambda: lines(on)[-1] == "> look at @src/weights.py ok")


async def test_ctrl_r_finds_and_esc_brings_back_what_was_typed() -> None:
    async with stage() as on:
        on.terminal.type("/title one thing\r/title another\rhalf")
        await on.until(lambda: lines(on)[-1] == "> half")
        on.terminal.type("\x12one")
        await on.until(lambda: lines(on)[-1] == "search 'one': /title one thing")
        on.terminal.type("\x1b")
        await on.until(lambda: lines(on)[-1] == "> half")
        on.terminal.type("\x12anoth\r")
        await on.until(lambda: lines(on)[-1] == "> /title another")


async def test_up_takes_the_last_queued_prompt_back() -> None:
    async with stage() as on:
        on.client.push(TurnStarted(turn=1))
        for number in (1, 2):
            on.client.push(PromptQueued(prompt_id=PromptId(f"p{number}"), content=f"words {number}"))
        await on.shows("2 queued (Up)")
        on.terminal.type("\x1b[A")
        await on.until(lambda: on.ops == [WithdrawPrompt(prompt_id=PromptId("p2"))])
        on.client.push(PromptWithdrawn(prompt_id=PromptId("p2")))
        await on.shows("1 queued (Up)")
        assert lines(on)[-1] == "to the agent > words 2"
        assert "Not sent" not in on.output


async def test_a_prompt_that_came_too_late_for_its_turn_is_shown_where_it_begins_one() -> None:
    prompt = PromptId("p1")
    accepted = PromptAccepted(entry_id=EntryId("e"), parent_id=None, content="and tabs", prompt_id=prompt)
    async with stage() as on:
        on.client.push(TurnStarted(turn=1), PromptQueued(prompt_id=prompt, content="and tabs"), *turn(1)[1:])
        on.client.push(accepted, *turn(2, *says("Tabs.")))
        await on.shows("Tabs.")
        assert lines(on)[2:5] == ["-- 1.2 s", "> and tabs", "  Tabs."]


async def test_shell_and_memory_lines_are_ops_and_told() -> None:
    async with stage() as on:
        on.terminal.type("!ls; false\r")
        await on.until(lambda: on.ops == [RunShell(command="ls; false")])
        started = ShellStarted(request_id=RequestId("r"), command="ls; false")
        over = ShellEnded(
            request_id=RequestId("r"), entry_id=EntryId("e"), parent_id=None, command="ls", output="a.py\n", exit_code=1
        )
        on.client.push(started)
        await on.shows("Running ls; false")
        on.client.push(over)
        await on.shows("Ended with 1: ls")
        assert lines(on)[-3:] == ["  a.py", "Ended with 1: ls", ">"]
        on.terminal.type("# use tabs\r")
        await on.until(lambda: on.ops[1:] == [Remember(line="use tabs")])
        on.client.push(LineRemembered(line="use tabs", path="/project/AGENTS.md", scope="project"))
        await on.shows("Remembered in AGENTS.md")


async def test_a_pipe_runs_no_command_and_writes_to_no_memory() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False)) as on:
        on.terminal.type("!rm -rf x\n")
        await on.until(lambda: on.ops == [SubmitPrompt(content="!rm -rf x")])
        on.client.push(*turn(1))
        on.terminal.type("# A heading\n")
        await on.until(lambda: on.ops[1:] == [SubmitPrompt(content="# A heading")])


async def test_a_folded_paste_is_never_a_command() -> None:
    async with stage() as on:
        pasted = "/quit\n" * 20
        on.terminal.type(f"\x1b[200~{pasted}\x1b[201~\r")
        await on.until(lambda: on.ops == [SubmitPrompt(content=pasted)])


async def test_shift_tab_goes_to_the_next_mode() -> None:
    async with stage() as on:
        on.terminal.type("\x1b[Z")
        await on.until(lambda: on.ops == [SetPermissionMode(mode="acceptEdits")])


async def test_coming_back_shows_the_last_exchange() -> None:
    client = ScriptedClient()
    client._queue.get_nowait()
    fields = {name: getattr(STARTED, name) for name in STARTED.__struct_fields__}
    client.push(SessionStarted(**{**fields, "resumed": True}))
    async with Stage(client=client, terminal=editing()) as on:
        await on.until(lambda: len(on.ops) == 1)
        asked = on.ops[0]
        assert isinstance(asked, LoadHistory)
        assert lines(on)[-1] != ">", "the prompt comes after it"
        told = [
            PromptAccepted(entry_id=EntryId("a"), parent_id=None, content="an old one"),
            said("old answer", part=0),
            PromptAccepted(entry_id=EntryId("b"), parent_id=None, content="fix the test"),
            said("It **passes** now.", part=1),
        ]
        history = tuple(Recorded(at="2026-11-16T08:00:00Z", event=event) for event in told)
        on.client.push(HistoryLoaded(events=history, before=None))
        await on.until(lambda: lines(on)[-1] == ">")
        assert lines(on)[2:] == ["You said:", "  fix the test", "The answer:", "  It passes now.", ">"]


def test_a_terminal_without_our_characters_gets_plain_ones(tmp_path: Any) -> None:
    with open(tmp_path / "in", "w+") as source, open(tmp_path / "out", "w+", encoding="ascii") as target:
        terminal = StdTerminal(source, target, {})
        terminal.write("a · b … │ x 中\n")
    assert (tmp_path / "out").read_bytes() == b"a - b ... | x ?\n"


@pytest.mark.parametrize("name", ["wait_s", "pulse_s", "escape_s"])
def test_the_times_that_people_have_are_short(name: str) -> None:
    assert 0 < getattr(PlainOptions(), name) <= 1.0
