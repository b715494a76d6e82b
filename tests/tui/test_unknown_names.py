"""Enter after a slash name that is none of ours: it is answered, and no other command takes its place."""

import pytest

from clew.parts.skills.part import BUNDLED
from clew.protocol.ops import SetEffort, UseInvocable
from tui.screen_lab import ScreenLab, screen, started


def sent(lab: ScreenLab) -> list[str]:
    """What the prompt holds after Enter."""
    return lab.app.prompt.text.splitlines()


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/changes", "/diff"),
        ("/teams", "Did you mean /team?"),
        ("/history", "/sessions"),
        ("/checkpoint", "/rewind"),
        ("/zzzz", "/help lists all commands"),
    ],
)
async def test_an_unknown_name_is_answered_and_not_replaced(typed: str, answer: str) -> None:
    async with screen(size=(100, 30)) as lab:
        await lab.tell(started(invocables=BUNDLED))
        await lab.type(typed)
        await lab.press("enter")
        assert sent(lab) == []
        assert answer in lab.text()
        assert "Nothing was sent" in lab.text()
        assert not lab.client.asked(UseInvocable)


async def test_the_list_still_tells_what_a_word_is_for_and_tab_takes_it() -> None:
    async with screen(size=(100, 30)) as lab:
        await lab.tell(started(invocables=BUNDLED))
        await lab.type("/changes")
        assert "> /" in lab.text()
        await lab.press("tab")
        assert lab.app.prompt.text.startswith("/")
        assert not lab.app.prompt.text.startswith("/changes")


async def test_enter_takes_a_row_that_was_gone_to_by_key() -> None:
    async with screen(size=(100, 30)) as lab:
        await lab.tell(started(invocables=BUNDLED))
        await lab.type("/changes")
        await lab.press("down", "enter")
        assert not lab.app.prompt.text.startswith("/changes")
        assert lab.app.prompt.text.startswith("/")


async def test_enter_completes_a_name_that_was_begun() -> None:
    async with screen(size=(100, 30)) as lab:
        await lab.tell(started(invocables=BUNDLED))
        await lab.type("/effo")
        await lab.press("enter")
        assert lab.app.prompt.text == "/effort "
        assert not lab.client.asked(SetEffort)


async def test_another_name_of_a_command_that_was_only_begun_is_not_replaced() -> None:
    """`catchup` is another name of /recap: /catch is none."""
    async with screen(size=(100, 30)) as lab:
        await lab.tell(started(invocables=BUNDLED))
        await lab.type("/catch")
        await lab.press("enter")
        assert sent(lab) == []
        assert "Did you mean /recap?" in lab.text()
