"""Whether the person is here: recaps on return, notices while away, and what the terminal's own frame shows."""

from collections.abc import Callable, Mapping
from typing import Literal

from clew.orient.away import Sign
from clew.presentation.away_watch import AwayWatch
from clew.presentation.notices import notice_of
from clew.presentation.story import Story
from clew.protocol.events import Envelope, Event, Notified, SessionEnded, TurnEnded
from clew.protocol.ids import MAIN_AGENT
from clew.system.terminal_text import clip, sanitize

Write = Callable[[str], None]
MAX_TITLE = 60
SHORT_TURN_MS = 3_000
"""The end of a turn that was over so soon is no news."""


class Presence:
    """Watches for the return, and writes to the terminal's frame."""

    def __init__(
        self,
        *,
        away_s: float,
        notifications: Literal["auto", "bell", "off"],
        env: Mapping[str, str],
        write: Write,
        want_recap: Callable[[], None],
        unsent: Callable[[], bool],
    ) -> None:
        self._watch = AwayWatch(away_s=away_s, unsent=unsent, want_recap=want_recap)
        self._notifications = notifications
        self._write = write
        self._focused = True
        self._titled = ""
        self._progress = ""
        self._tmux = bool(env.get("TMUX"))

    @property
    def focused(self) -> bool:
        """The terminal has the focus, or never told."""
        return self._focused

    def sign(self, sign: Sign, now_s: float) -> None:
        """The person left, came back or typed."""
        self._focused = sign != "left"
        self._watch.sign(sign, now_s)

    def follow(self, envelope: Envelope, story: Story) -> None:
        """An event of the session."""
        event = envelope.event
        if envelope.agent == MAIN_AGENT:
            self._watch.follow(event)
        if isinstance(event, SessionEnded):
            self.restore()
            return
        notice = notice_of(event, story.facts.state.title)
        if notice is not None and not self._focused and not _trifle(event):
            self._notify(notice)
        self.show(story)

    def show(self, story: Story) -> None:
        """The terminal's title and progress mark."""
        state = story.facts.state
        mark = "? " if state.waiting else "… " if state.working else ""
        name = state.title or story.facts.cwd.rstrip("/").rpartition("/")[2]
        title = f"{mark}clew · {clip(sanitize(name, one_line=True), MAX_TITLE)}"
        if title != self._titled:
            self._titled = title
            self._write(f"\x1b]2;{title}\x07")
        progress = "4;0" if state.waiting else "3;0" if state.working else "0;0"
        if progress != (self._progress or "0;0"):
            self._progress = progress
            self._write(f"\x1b]9;4;{progress}\x07")

    def restore(self) -> None:
        """Leave nothing behind."""
        if self._progress not in ("", "0;0"):
            self._write("\x1b]9;4;0;0\x07")
        if self._titled:
            self._write("\x1b]2;\x07")
        self._titled = self._progress = ""

    def _notify(self, notice: Notified) -> None:
        if self._notifications == "off":
            return
        if self._notifications == "auto":
            text = notice.text.replace(";", ",")
            for code in (f"\x1b]9;{text}\x07", f"\x1b]777;notify;clew;{text}\x07"):
                self._write(f"\x1bPtmux;{code.replace(chr(27), chr(27) * 2)}\x1b\\" if self._tmux else code)
        self._write("\x07")


def _trifle(event: Event) -> bool:
    return isinstance(event, TurnEnded) and event.reason == "completed" and event.duration_ms < SHORT_TURN_MS
