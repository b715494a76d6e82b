"""Going back in the conversation: what is left is still there, what was taken back is not, and it is said once."""

from typing import Any

from clew.protocol.events import Recorded, Rewound
from clew.protocol.ids import EntryId
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from tui.screen_lab import AT, ScreenLab, over, prompt, screen, turn, words

BACK = Rewound(direction="rewind", scope="conversation", to=EntryId("r1-0"))
LEFT = (prompt("first"), words("the answer"), over(), over(2), BACK)
"""What the log tells afterwards: lines of turns are no part of a conversation, so the second one's is still there."""


async def read_back(lab: ScreenLab, *events: Any) -> None:
    assert lab.client.asked(LoadHistory)
    recorded = tuple(Recorded(at=AT, event=event) for event in events)
    await lab.tell(HistoryLoaded(events=recorded, before=None))


def seen(lab: ScreenLab) -> list[str]:
    rows = [row.strip() for row in lab.rows()[1:15]]
    return ["── turn" if row.startswith("──") else row for row in rows if row]


async def test_what_is_left_is_shown_and_the_rest_is_gone() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("first"), words("the answer"), over())
        await lab.tell(turn(2), prompt("second", 2), words("taken back", reply="r2"), over(2))
        await lab.tell(BACK)
        await read_back(lab, *LEFT)
        assert seen(lab) == ["▌ first", "the answer", "── turn", "┆ Rewound: the conversation."]


async def test_it_is_the_same_when_the_session_is_resumed() -> None:
    async with screen() as lab:
        await lab.tell(BACK)  # asks for history, as a resumed session does
        await read_back(lab, *LEFT, prompt("third", 3), words("more", reply="r3"), over(3))
        assert seen(lab)[:4] == ["▌ first", "the answer", "── turn", "┆ Rewound: the conversation."]
        assert seen(lab)[4:] == ["▌ third", "more", "── turn"]
