"""What front ends share about presence: the codes of a notice, and what the session is told about the focus."""

import re

import pytest

from clew.presentation.away_watch import AwayWatch
from clew.presentation.terminal_notice import BELL, notice_codes
from clew.protocol.events import Notified, SessionStarted
from clew.protocol.ids import SessionId
from clew.protocol.ops import Op, ReportFocus, ReportTyping

NOTICE = Notified(kind="done", text="Done; all of it", title="t", notice_id="n1")
STARTED = SessionStarted(
    session_id=SessionId("s"), cwd="/p", model="m", permission_mode="default", tools=(), version="1"
)


def test_the_terminals_own_notifications_and_the_bell() -> None:
    assert notice_codes(NOTICE, "auto", {}) == (
        "\x1b]9;Done, all of it\x07" + "\x1b]777;notify;clew;Done, all of it\x07" + BELL
    )


def test_within_tmux_each_code_is_handed_on_and_the_bell_is_not_wrapped() -> None:
    codes = notice_codes(NOTICE, "auto", {"TMUX": "/tmp/tmux-0/default,1,0"})
    wrapped = re.findall(r"\x1bPtmux;(.*?)\x1b\\", codes)
    assert [part.replace("\x1b\x1b", "\x1b") for part in wrapped] == [
        "\x1b]9;Done, all of it\x07",
        "\x1b]777;notify;clew;Done, all of it\x07",
    ]
    assert codes.endswith(f"\x1b\\{BELL}")


def test_bell_alone_off_and_a_terminal_that_knows_no_codes() -> None:
    assert notice_codes(NOTICE, "bell", {}) == BELL
    assert notice_codes(NOTICE, "auto", {}, capable=False) == BELL
    assert notice_codes(NOTICE, "off", {}) == notice_codes(NOTICE, "off", {}, capable=False) == ""


def watching() -> tuple[AwayWatch, list[Op]]:
    sent: list[Op] = []
    return AwayWatch(away_s=300, unsent=lambda: False, send=sent.append), sent


def test_the_focus_is_reported_when_it_changes_and_again_to_another_session() -> None:
    watch, sent = watching()
    watch.follow(STARTED)
    assert sent == []
    for sign in ("left", "left", "back", "back"):
        watch.sign(sign, 0)
    assert sent == [ReportFocus(focused=False), ReportFocus(focused=True)]
    watch.follow(STARTED)
    assert sent[2:] == [ReportFocus(focused=True)]


def test_whoever_types_is_here_whatever_was_reported() -> None:
    watch, sent = watching()
    watch.sign("left", 0)
    watch.sign("typed", 1)
    watch.sign("typed", 2)
    assert sent == [ReportFocus(focused=False), ReportFocus(focused=True)]


@pytest.mark.parametrize(("keys", "told"), [(1, 1), (20, 4)])
def test_in_a_terminal_that_never_tells_a_key_press_counts_as_looking(keys: int, told: int) -> None:
    """Told now and then, and no focus is made up: nobody would ever say that it was lost."""
    watch, sent = watching()
    for second in range(keys):
        watch.sign("typed", second)
    watch.follow(STARTED)
    assert sent == [ReportTyping()] * told
