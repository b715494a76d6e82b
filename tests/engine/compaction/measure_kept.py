"""Counts how many of the phrasings the model still sees after compactions: by place of the words and size of window."""

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[3]), str(Path(__file__).parents[2])]

from tests.engine.compaction.phrasings import SAID  # noqa: E402  (the path is made above)
from tests.engine.compaction.sessions import Session, Tireless, good  # noqa: E402  (the path is made above)

TASK = "Look at the importer and make it faster where it is slow, then tell me what you changed in it."
PLACES = ("alone", "first", "last", "middle")


def planted(session: Session, words: str, place: str, number: int) -> None:
    """Say it: alone, or inside a request that leads to work."""
    dot = "" if words.endswith(".") else "."
    texts = {
        "alone": words,
        "first": f"{words}{dot} {TASK}",
        "last": f"{TASK} {words}{dot}",
        "middle": f"{TASK} {words}{dot} It should also say how long each step took, and where it reads twice.",
    }
    session.prompt(texts[place])
    if place != "alone":
        session.call("Read", {"file_path": f"src/importer_{number}.py"}, "def f(): pass\n" * 40)
    session.reply("Understood.")
    session.turn_ended()


async def kept(place: str, window: int, rounds: int, before: int = 0) -> int:
    """How many are still in the view."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        session.prompt("Make the importer of the shop resumable.")
        session.call("Edit", {"file_path": "/src/app/importer.py", "old_string": "a", "new_string": "b"}, "edited")
        session.reply("Changed.")
        session.filler(before, words=60)
        for number, words in enumerate(SAID):
            planted(session, words, place, number)
        for _ in range(rounds):
            session.filler(30, words=60)
            await session.compact(Tireless(good, window=window), window=window)
            session.resume()
        return sum(words in session.seen for words in SAID)


async def main() -> None:
    for window in (8_000, 32_000, 200_000):
        for before in (0, 40):
            found = {place: [await kept(place, window, rounds, before) for rounds in (1, 5, 10)] for place in PLACES}
            print(f"{window:>7} after {before:>2}", found, f"of {len(SAID)}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
