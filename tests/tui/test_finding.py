"""Finding words: the place itself, in long answers, outputs and changes, folded or not, and which of how many it is."""

import random
import re

from clew.protocol.events import Recorded
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from tui.screen_lab import AT, ScreenLab, call, edited, over, prompt, ran, runs, screen, snapshot, started, turn, words

WORDS = [
    "parcel",
    "weight",
    "rounds",
    "scale",
    "Heavy",
    "ledger",
    "naïve",
    "straße",
    "日本語",
    "tariff",
    "colour",
    "margin",
    "depot",
    "route",
    "tram",
]


def looked_at(lab: ScreenLab) -> str:
    """The text on the screen that is marked as the place that is looked at, rows joined."""
    found: list[str] = []
    for strip in lab.app.screen._compositor.render_strips():
        found += [segment.text for segment in strip if segment.style and segment.style.reverse and segment.style.bold]
    return "".join(found).replace("▌", "")


def marked(lab: ScreenLab) -> int:
    """How many pieces are marked and not looked at."""
    strips = lab.app.screen._compositor.render_strips()
    return sum(bool(one.style and one.style.underline and one.style.bold) for strip in strips for one in strip)


def state(lab: ScreenLab) -> str:
    return next((row for row in lab.rows() if row.startswith("  Find:")), "")


async def find(lab: ScreenLab, text: str) -> None:
    await lab.press("ctrl+f")
    await lab.type(text)
    await lab.press("enter")


async def test_the_place_is_found_inside_a_long_answer_and_counted() -> None:
    async with screen() as lab:
        lines = [f"line {number}" + (" needle" if number in (10, 100, 190) else "") for number in range(200)]
        await lab.tell(turn(), prompt("x"), words("\n\n".join(lines)), over())
        await find(lab, "NEEDLE")
        assert "  line 190 needle" in lab.rows()
        assert looked_at(lab) == "needle"
        assert "Find: NEEDLE" in state(lab)
        assert "3 of 3" in state(lab)
        await lab.press("n")
        assert "2 of 3" in state(lab)
        assert "  line 100 needle" in lab.rows()
        await lab.press("n", "n")
        assert "3 of 3" in state(lab)
        await lab.press("N")
        assert "1 of 3" in state(lab)
        assert "  line 10 needle" in lab.rows()
        await lab.press("escape")
        assert "  line 199" in lab.rows()
        assert state(lab) == ""


async def test_what_is_folded_opens_for_its_hit_and_folds_again() -> None:
    async with screen() as lab:
        made = call("Bash", command="make all")
        output = "\n".join(f"row {number}" for number in range(300))
        change = call("Edit", "c2", reply="r2", file_path="/work/parcels/weights.py")
        await lab.tell(turn(), prompt("x"), made, runs(made), ran("make all", output), change, runs(change))
        await lab.tell(edited("c2"), words("done", reply="r3"), over())
        await find(lab, "row 42")
        assert "    row 42" in lab.rows()
        assert looked_at(lab) == "row 42"
        await find(lab, "best = none")
        assert looked_at(lab) == "best = None"
        await lab.press("escape")
        assert "row 4" not in lab.text()


async def test_words_broken_over_two_rows_are_one_place() -> None:
    async with screen((40, 24)) as lab:
        await lab.tell(turn(), prompt("x"), words("some words before it and then a very long sentence"), over())
        await find(lab, "then a very long")
        assert looked_at(lab) == "then a verylong" or looked_at(lab) == "then avery long"
        assert "1 of 1" in state(lab)


async def test_all_places_on_the_screen_are_marked() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("needle one"), words("needle two, needle three"), over())
        await find(lab, "needle")
        assert "3 of 3" in state(lab)
        assert marked(lab) == 2


async def test_older_history_is_read_for_a_search() -> None:
    async with screen() as lab:
        await lab.tell(started(resumed=True), snapshot(), prompt("newest", 9), words("answer", reply="r9"))
        newest = lab.client.asked(LoadHistory)[-1]
        assert newest.before is not None
        older = (Recorded(event=prompt("the needle of old", 2), at=AT), Recorded(event=words("so", reply="r2"), at=AT))
        await lab.tell(HistoryLoaded(events=(), before=prompt("", 3).entry_id))
        await find(lab, "needle")
        assert "reading older history" in state(lab)
        await lab.tell(HistoryLoaded(events=older, before=None))
        assert looked_at(lab) == "needle"
        assert "1 of 1" in state(lab)


async def test_five_hundred_random_searches_land_on_the_hit() -> None:
    rng = random.Random("searches")
    for size, rounds in (((100, 30), 200), ((60, 20), 200), ((40, 16), 100)):
        async with screen(size) as lab:
            said: list[str] = []
            for number in range(1, 9):
                made = call("Bash", f"c{number}", reply=f"r{number}", command="make")
                texts = [" ".join(rng.choices(WORDS, k=rng.randint(5, 200))) for _ in range(3)]
                said += texts
                await lab.tell(turn(number), prompt(texts[0], number), made, runs(made))
                output = "\n".join(texts[1][at : at + 70] for at in range(0, len(texts[1]), 70))
                await lab.tell(ran("make", output, call_id=f"c{number}"))
                await lab.tell(words(texts[2], reply=f"r{number}", part=2), over(number))
            for _ in range(rounds):
                text = rng.choice(said).split()
                start = rng.randrange(len(text))
                wanted = " ".join(text[start : start + rng.randint(1, 3)])
                view = lab.app.transcript
                if not view.search(wanted):
                    # An output has breaks of its own, so words may stand on two of its lines; everything else is found.
                    assert not any(wanted in one for one in (*said[0::3], *said[2::3]))
                    continue
                view.find_on(rng.choice((-1, 1)))
                await lab.pilot.pause()
                shown = re.sub(r"\s", "", looked_at(lab))
                assert shown.lower() == re.sub(r"\s", "", wanted).lower()
