"""Whether the person is here: recaps on return, notices while away, and what the terminal's own frame shows."""

from collections.abc import Callable, Mapping

from clew.config.schema import TerminalNotice
from clew.orient.away import Sign
from clew.presentation.away_watch import AwayWatch
from clew.presentation.story.story import Story
from clew.presentation.terminal_notice import notice_codes
from clew.protocol.events import Envelope, Notified, SessionEnded
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import Op
from clew.text.terminal_text import clip, sanitize

Write = Callable[[str], None]
MAX_TITLE = 60


class ScreenPresence:
    """Watches for the return, and writes to the terminal's frame."""

    def __init__(
        self,
        *,
        away_s: float,
        notifications: TerminalNotice,
        env: Mapping[str, str],
        write: Write,
        send: Callable[[Op], None],
        unsent: Callable[[], bool],
    ) -> None:
        self._watch = AwayWatch(away_s=away_s, unsent=unsent, send=send)
        self._notifications: TerminalNotice = notifications
        self._env = env
        self._write = write
        self._titled = ""
        self._progress = ""

    def sign(self, sign: Sign, now_s: float) -> None:
        """The person left, came back or typed."""
        self._watch.sign(sign, now_s)

    def follow(self, envelope: Envelope, story: Story) -> None:
        """An event of the session."""
        event = envelope.event
        if envelope.agent == MAIN_AGENT:
            self._watch.follow(event)
        if isinstance(event, SessionEnded):
            self.restore()
            return
        if isinstance(event, Notified) and (codes := notice_codes(event, self._notifications, self._env)):
            self._write(codes)
        self.show(story)

    def show(self, story: Story) -> None:
        """The terminal's title and progress mark."""
        state = story.facts.state
        mark = "? " if state.asks else "… " if state.working else ""
        name = state.title or story.facts.cwd.rstrip("/").rpartition("/")[2]
        title = f"{mark}clew · {clip(sanitize(name, one_line=True), MAX_TITLE)}"
        if title != self._titled:
            self._titled = title
            self._write(f"\x1b]2;{title}\x07")
        progress = "4;0" if state.asks else "3;0" if state.working else "0;0"
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
