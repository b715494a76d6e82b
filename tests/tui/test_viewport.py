"""What the transcript shows stays as it is when something comes before it."""

from clew.presentation.story.passages import PromptPassage, WordsPassage
from clew.tui.reading.strips import StripMaker
from clew.tui.reading.viewport import Viewport

NEWER = (PromptPassage(key="p2", text="second"), WordsPassage(key="w2", text="one\n\ntwo\n\nthree\n\nfour"))
OLDER = (PromptPassage(key="p1", text="first"), WordsPassage(key="w1", text="answer"))


def texts(port: Viewport) -> list[str]:
    return [strip.text.rstrip() for strip in port.lines()]


def test_a_blank_row_stands_before_what_was_the_first_of_all() -> None:
    port = Viewport(StripMaker({}))
    port.resize(40, 20)
    port.show((), NEWER)
    assert texts(port)[:2] == ["▌ second", ""]
    port.show(OLDER, NEWER)
    assert texts(port)[:6] == ["▌ first", "", "  answer", "", "▌ second", ""]


def test_what_a_person_looks_at_stays_when_older_history_comes_before_it() -> None:
    port = Viewport(StripMaker({}))
    port.resize(40, 4)
    port.show((), NEWER)
    port.to_start()
    before = texts(port)
    port.show(OLDER, NEWER)
    assert texts(port) == before == ["▌ second", "", "  one", ""]
