"""Hooks on offer in the line by line front end: only a person at a terminal can approve them."""

import pytest

from clew.plain.dialogs.program_offer import HookOffer
from clew.protocol.events import HookRow, HooksChanged, HooksOffered, Notice, TurnEnded
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed
from clew.protocol.ops import Interrupt, SubmitPrompt
from unit.plain.play import PlayedTerminal, ScriptedClient, Stage


def row(digest: str, command: str = "./check.sh", **more: str) -> HookRow:
    fields = {"moment": "PreToolUse", "matcher": "", "source": "/p/.claude/settings.json"} | more
    return HookRow(digest=digest, command=command, scope="claude_project", state="unapproved", **fields)  # pyright: ignore[reportArgumentType]  # words of this file


ROWS = (row("d1"), row("d2", "touch x\x1b[2J"))
OFFER = HooksOffered(hooks=ROWS)
SEEN = Notice(level="info", text="after it", code="x")


@pytest.mark.parametrize(
    ("typed", "digests"), [("y", ("d1", "d2")), ("all", ("d1", "d2")), ("2", ("d2",)), ("1, 2", ("d1", "d2"))]
)
def test_what_approves(typed: str, digests: tuple[str, ...]) -> None:
    assert HookOffer(ROWS).reply(typed).lookup == ApproveHooks(digests=digests)


@pytest.mark.parametrize("typed", ["", "3", "0", "1 x", "yes please", "y n", "٢", "run them"])
def test_what_asks_again(typed: str) -> None:
    reply = HookOffer(ROWS).reply(typed)
    assert (reply.lookup, reply.over) == (None, False)
    assert reply.lines


def test_not_now_sends_nothing() -> None:
    reply = HookOffer(ROWS).reply("n")
    assert (reply.op, reply.over) == (None, True)
    assert HookOffer(ROWS).decline("", stop=True) is None


async def test_a_person_decides_and_goes_on() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(OFFER, SEEN)
        await stage.until(lambda: "Let them run?" in stage.output)
        assert "./check.sh" in stage.output
        assert "touch x" in stage.output
        assert "\x1b[2J" not in stage.output
        stage.terminal.type("2\r")
        await stage.until(lambda: stage.ops == [ApproveHooks(digests=("d2",))])


async def test_not_now_is_not_asked_again_and_the_line_is_back() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(OFFER, SEEN)
        await stage.until(lambda: "Let them run?" in stage.output)
        stage.terminal.type("n\r")
        await stage.until(lambda: "/hooks lists them" in stage.output)
        stage.terminal.type("hello\r")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="hello")])
        assert stage.output.count("Hooks run commands") == 1


async def test_what_was_left_out_of_a_choice_is_not_asked_again() -> None:
    def answer(client: ScriptedClient, op: object) -> None:
        if isinstance(op, ApproveHooks):
            client.push(HooksListed(hooks=ROWS[:1]), SEEN)

    async with Stage(terminal=PlayedTerminal(editing=True), client=ScriptedClient(answer)) as stage:
        stage.client.push(OFFER)
        await stage.until(lambda: "Let them run?" in stage.output)
        stage.terminal.type("2\r")
        await stage.until(lambda: "after it" in stage.output)
        stage.terminal.type("hello\r")
        await stage.until(lambda: stage.ops[-1:] == [SubmitPrompt(content="hello")])
        assert stage.output.count("Hooks run commands") == 1
        stage.client.push(HooksOffered(hooks=(row("d3", "./new.sh"),)))
        await stage.until(lambda: "./new.sh" in stage.output)


async def test_ctrl_c_is_not_now_and_interrupts_nothing() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(OFFER, SEEN)
        await stage.until(lambda: "Let them run?" in stage.output)
        stage.session.post("interrupt")
        await stage.until(lambda: "Not now." in stage.output)
        stage.terminal.type("hello\r")
        await stage.until(lambda: SubmitPrompt(content="hello") in stage.ops)
        assert not any(isinstance(op, ApproveHooks | Interrupt) for op in stage.ops)


async def test_what_was_decided_elsewhere_is_asked_no_longer() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(OFFER, SEEN)
        await stage.until(lambda: "Let them run?" in stage.output)
        stage.client.push(HooksChanged(hooks=()))
        await stage.until(lambda: "no longer asked" in stage.output)


async def test_a_pipe_never_approves() -> None:
    def answer(client: ScriptedClient, op: object) -> None:
        if isinstance(op, SubmitPrompt):
            client.push(TurnEnded(turn=1, reason="completed", steps=1, duration_ms=1))

    terminal = PlayedTerminal(interactive=False)
    async with Stage(terminal=terminal, client=ScriptedClient(answer)) as stage:
        stage.client.push(OFFER, SEEN)
        await stage.until(lambda: "2 hooks are not approved" in stage.output)
        stage.terminal.type("y\n")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="y")])
