"""Reading mode: the keys walk through the transcript, search and copy; nothing can be changed."""

from collections.abc import Callable

from clew.composing.keymap import Keymap
from clew.tui.reading.find_line import FindLine
from clew.tui.reading.transcript import Transcript
from clew.tui.terminal.key_order import focus_now

KEYS_TOLD = (
    "reading: ↑↓ walk, Enter opens, [ ] prompts, / finds, y copies, Esc back",
    "reading: ↑↓ walk, Enter opens, y copies, Esc back",
    "reading: y copies, Esc back",
)
"""What the footer says of the keys; the first that fits."""
MOST_OLDER = 20
"""Pages of history that one search reads by itself; each further step may read one more."""


class ReadingMode:
    """What keys mean while the transcript has the focus."""

    def __init__(
        self,
        transcript: Transcript,
        find: FindLine,
        keymap: Keymap,
        *,
        leave: Callable[[], None],
        hint: Callable[[str], None],
        whole: Callable[[], bool],
    ) -> None:
        self._transcript = transcript
        self._find = find
        self._keymap = keymap
        self._leave = leave
        self._hint = hint
        self._whole = whole
        """Nothing older is there to be read."""
        self._older = 0
        """So many pages of older history are still read for this search."""
        view = transcript
        self._actions: dict[str, Callable[[], object]] = {
            "line_up": lambda: view.walk(-1),
            "line_down": lambda: view.walk(1),
            "page_up": lambda: view.page(-1),
            "page_down": lambda: view.page(1),
            "top": view.to_start,
            "bottom": view.to_end,
            "previous_prompt": lambda: view.walk_prompts(-1),
            "next_prompt": lambda: view.walk_prompts(1),
            "toggle": view.open_current,
            "find_next": lambda: self._on(-1),
            "find_previous": lambda: self._on(1),
            "copy": view.copy_current,
            "close": self.end,
        }

    def begin(self) -> None:
        """The keys belong to the transcript."""
        self._transcript.reading = True
        self._take_keys()
        if self._transcript.current() is None:
            self._transcript.walk(-1)
        columns = self._transcript.size.width
        self._hint(next((words for words in KEYS_TOLD if len(words) + 2 <= columns), KEYS_TOLD[-1]))

    def _take_keys(self) -> None:
        """The next key is the transcript's, however fast it came."""
        had = self._transcript.screen.focused
        focus_now(self._transcript, *([had] if had is not None else []))

    def end(self) -> None:
        """Back to the prompt and to the end."""
        self._transcript.stop_reading()
        self._find.close()
        self._hint("")
        self._leave()

    def left(self) -> None:
        """The keys went elsewhere: a dialog opened. The view stays where it is."""
        self._transcript.unmark()
        self._find.close()
        self._hint("")

    def find(self) -> None:
        """Ask for words."""
        if not self._transcript.reading:
            self.begin()
        self._find.open()

    def found(self, words: str) -> None:
        """Words were given; the keys are the transcript's again."""
        self._take_keys()
        if not words.strip():
            self._transcript.finding.end()
            self._transcript.redraw()
            self._transcript.refresh()
            self._find.close()
            return
        self._older = MOST_OLDER
        self._transcript.search(words)
        self.counted()

    def counted(self) -> None:
        """Say which of how many places this is. Older history is read while there is some and no end in sight."""
        finding = self._transcript.finding
        if not finding.words:
            return
        more = not self._whole()
        if more and self._older:
            self._older -= 1
            self._transcript.post_message(Transcript.OlderWanted())
        elif finding.at is None and finding.count:
            self._transcript.find_on(-1)
        if finding.at is None:
            self._find.say("reading older history …" if more and self._older else "nothing here holds these words")
            return
        further = ", older not read yet" if more and not self._older else ""
        self._find.say(f"{finding.at + 1:,} of {finding.count:,}{further} · n N walk · Esc back")

    def press(self, key: str, character: str | None) -> bool:
        """Whether the key means something here."""
        if key == "slash" or character == "/":
            self.find()
            return True
        name = character if character and character.isprintable() and len(character) == 1 and character != " " else key
        action = self._keymap.action(("transcript",), (name,)) or self._keymap.action(("transcript",), (key,))
        if action is None:
            return False
        self._actions[action]()
        return True

    def _on(self, step: int) -> None:
        finding = self._transcript.finding
        if not finding.words:
            self.find()
            return
        self._older = max(self._older, 1)
        self._transcript.find_on(step)
        self.counted()
