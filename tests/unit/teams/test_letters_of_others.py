"""Letters that another process stores while this one writes in the same inbox."""

import asyncio
from pathlib import Path

from clew.teams.mailbox import Became, Letter, Mailbox
from clew.teams.postman import Postman
from clew.teams.roster import Roster, Team


async def test_a_letter_that_came_with_our_own_receipt_is_taken_by_the_next_look(tmp_path: Path) -> None:
    roster = Roster(tmp_path, "blue")
    roster.create(Team(name="blue", lead_session="s"))
    elsewhere = Mailbox(roster.folder / "inbox" / "lead.jsonl")
    handled: list[str] = []

    async def handle(name: str, letter: Letter) -> tuple[Became, str]:
        handled.append(letter.text)
        return "handled", ""

    def deliver(name: str, notices: object, quietly: bool) -> bool:
        return True

    def told(words: str) -> None:
        raise AssertionError(words)

    postman = Postman(roster, deliver=deliver, handle=handle, tell=told)
    postman.serve("lead")
    first = elsewhere.post("idle", sender="scout", to="lead", body={"text": "first"})
    postman.look()
    await postman.settled()
    elsewhere.post("idle", sender="scout", to="lead", body={"text": "second"})
    await asyncio.to_thread(roster.box("lead").settle, [first.id], "delivered")  # reads the second one, too
    postman.look()
    await postman.settled()
    assert handled == ["first", "second"]
