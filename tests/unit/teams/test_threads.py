"""One process holds one inbox and one list: its event loop reads them while its threads write them."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.teams.mailbox import Mailbox
from clew.teams.work_list import WorkChange, WorkList

ROUNDS = 150


@pytest.fixture(autouse=True)
def threads_change_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_letter_is_read_once_while_a_thread_of_the_same_process_stores_the_next(tmp_path: Path) -> None:
    path = tmp_path / "inbox" / "ann.jsonl"
    inbox, elsewhere = Mailbox(path), Mailbox(path)
    ended = threading.Event()

    def write(box: Mailbox, sender: str) -> None:
        for number in range(ROUNDS):
            box.post("chat", sender=sender, to="ann", body={"text": f"{sender} {number}"})

    def look() -> None:
        while not ended.is_set():
            seen = [letter.text for letter in inbox.unread()]
            if len(seen) != len(set(seen)):
                wrong.append("doubled")

    wrong: list[str] = []
    writers = [threading.Thread(target=write, args=pair) for pair in ((inbox, "ben"), (elsewhere, "cat"))]
    readers = [threading.Thread(target=look) for _ in range(2)]
    for thread in (*writers, *readers):
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    for thread in readers:
        thread.join()
    assert not wrong
    told = [letter.text for letter in inbox.unread()]
    for sender in ("ben", "cat"):
        assert [text for text in told if text.startswith(sender)] == [f"{sender} {at}" for at in range(ROUNDS)]


def test_a_list_that_is_looked_at_while_a_thread_changes_it_never_forgets_a_change(tmp_path: Path) -> None:
    work, elsewhere = WorkList(tmp_path), WorkList(tmp_path)
    work.create("one", by="lead")
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            work.items()

    def change(which: WorkList, word: str) -> None:
        for number in range(ROUNDS):
            which.update(1, WorkChange(description=f"{word} {number}"), by="lead")
            which.create(f"{word} {number}", by="lead")

    readers = [threading.Thread(target=look) for _ in range(2)]
    writers = [threading.Thread(target=change, args=pair) for pair in ((work, "a"), (elsewhere, "b"))]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    for thread in readers:
        thread.join()
    assert work.items() == WorkList(tmp_path).items()
    assert [item.id for item in work.items()] == list(range(1, 2 * ROUNDS + 2))
