"""The postman of one process: takes letters out of the inboxes of its agents, exactly once each.

A letter that joined a conversation stands in that agent's log, as a prompt that names it (`PromptAccepted.notices`).
The receipt in the inbox comes after; where a kill came between the two, the log counts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from clew.agents.report import escaped
from clew.engine.turn import Notices
from clew.protocol.ids import TaskId
from clew.system.shared_log import LogBusy, LogFull
from clew.teams.mailbox import Became, Letter
from clew.teams.names import LEAD
from clew.teams.roster import Roster

MAX_TOGETHER = 20
"""Letters that join as one message; more of them join with the next step."""
MAX_TOGETHER_BYTES = 96 * 1024
LOOK_S = 1.0
"""How often the files are looked at for letters of other processes."""


class Postman:
    """One per process that has agents in a team."""

    def __init__(
        self,
        roster: Roster,
        *,
        deliver: Callable[[str, Callable[[], Notices], bool], bool],
        handle: Callable[[str, Letter], Awaitable[tuple[Became, str]]],
        tell: Callable[[str], None],
    ) -> None:
        """`deliver`: let what is to be read join the conversation of this member, at its next step or by waking it, or
        quietly with its next turn; false: it takes nothing now. `handle`: do what a protocol letter asks; what became
        of it. `tell`: say to a person what went wrong."""
        self._roster = roster
        self._deliver = deliver
        self._handle = handle
        self._tell = tell
        self._local: dict[str, set[str]] = {}
        """Addresses of this process, each with the letters that were taken for it."""
        self._queued: set[str] = set()
        self._looked_at: dict[str, tuple[int, int]] = {}
        """How far each inbox was read when its letters were last taken by a look."""
        self._unsettled: dict[str, dict[int, list[str]]] = {}
        """Letters that joined and whose receipt is not written yet, by address and step."""
        self._working: set[asyncio.Task[None]] = set()
        self._closed = False

    def serve(self, name: str, told: Iterable[str] = ()) -> None:
        """An agent of this process has this address. `told`: letters that its log has already."""
        self._local.setdefault(name, set()).update(told)
        known = [letter.id for letter in self._roster.box(name).unread() if letter.id in self._local[name]]
        if known:
            self._settle_later(name, known, 0)

    def leave(self, name: str) -> None:
        """It takes no more mail."""
        self._local.pop(name, None)
        self._queued.discard(name)

    def close(self) -> None:
        """The session ends: what is not read stays in its inbox."""
        self._closed = True

    @property
    def addresses(self) -> tuple[str, ...]:
        """Those of this process."""
        return tuple(self._local)

    def pump(self, name: str, *, wake: bool = True, quietly: bool = False) -> None:
        """Take what is in one inbox: protocol to its handler, chat to its agent. `wake` false: only protocol.
        `quietly`: chat begins no turn."""
        taken = self._local.get(name)
        if taken is None or self._closed:
            return
        letters = [letter for letter in self._roster.box(name).unread() if letter.id not in taken]
        for letter in letters:
            if not joins(letter):
                taken.add(letter.id)
                self._beside(self._handled(name, letter))
        chat = any(map(joins, letters))
        if chat and wake and name not in self._queued and self._deliver(name, lambda: self._take(name), quietly):
            self._queued.add(name)
        if self._unsettled:
            self._beside(self._settle())

    def _take(self, name: str) -> Notices:
        """What is unread at the moment of joining, as one message."""
        self._queued.discard(name)
        taken = self._local.get(name)
        if taken is None:
            return Notices()
        chat = [one for one in self._roster.box(name).unread() if joins(one) and one.id not in taken]
        now: list[Letter] = []
        size = 0
        for letter in chat[:MAX_TOGETHER]:
            size += len(letter.text.encode("utf-8", "replace"))
            if now and size > MAX_TOGETHER_BYTES:
                break
            now.append(letter)
        taken.update(letter.id for letter in now)
        if len(chat) > len(now):
            asyncio.get_running_loop().call_soon(self.pump, name)
        return Notices(content="\n".join(map(told, now)), tasks=tuple(TaskId(letter.id) for letter in now))

    def not_taken(self, name: str) -> None:
        """Its agent could not be woken: the letters wait for the next time."""
        self._queued.discard(name)

    def joined(self, name: str, notices: Iterable[str], step: int) -> None:
        """A prompt joined the conversation of this member that tells of these, letters among them."""
        taken = self._local.get(name)
        if taken is None:
            return
        letters = [one for one in notices if one in taken]
        if letters:
            self._settle_later(name, letters, step)

    def _settle_later(self, name: str, letters: list[str], step: int) -> None:
        self._unsettled.setdefault(name, {}).setdefault(step, []).extend(letters)
        self._beside(self._settle())

    async def _settle(self) -> None:
        """Write the receipts; what cannot be written now is written with the next one."""
        waiting, self._unsettled = self._unsettled, {}
        for name, steps in waiting.items():
            for step, letters in steps.items():
                try:
                    await asyncio.to_thread(self._roster.box(name).settle, letters, "delivered", step=max(step, 1))
                except (LogBusy, LogFull, OSError) as error:
                    self._unsettled.setdefault(name, {}).setdefault(step, []).extend(letters)
                    if not isinstance(error, LogBusy):
                        self._tell(f"receipts for {name} could not be written: {error}")

    async def _handled(self, name: str, letter: Letter) -> None:
        try:
            what, why = await self._handle(name, letter)
        except ValueError as error:
            what, why = "refused", str(error)
        try:
            await asyncio.to_thread(self._roster.box(name).settle, [letter.id], what, why=why)
        except (LogBusy, LogFull, OSError) as error:
            self._tell(f"a receipt for {name} could not be written: {error}")

    def _beside(self, work: "Awaitable[None]") -> None:
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def settled(self) -> None:
        """Until what was taken is written down."""
        while self._working:
            await asyncio.gather(*self._working, return_exceptions=True)

    async def watch(self) -> None:
        """Look for letters of other processes, as long as this runs."""
        while not self._closed:
            await asyncio.sleep(LOOK_S)
            self.look()

    def look(self) -> None:
        """Take what other processes wrote since."""
        for name in self.addresses:
            box = self._roster.box(name)
            box.refresh()
            if self._looked_at.get(name) != box.read_to:  # a receipt of ours may have read it before
                self.pump(name)
                self._looked_at[name] = box.read_to


def joins(letter: Letter) -> bool:
    """Whether a letter joins the receiver's conversation, in words of the program or as data: chat, an item that was
    assigned, and the first task of a member in a pane. It is told exactly once; other letters are for handlers."""
    return letter.is_chat or is_first_task(letter) or is_item(letter)


def is_item(letter: Letter) -> bool:
    """Whether it says that an item of the work list was assigned to the receiver."""
    return letter.kind == "assignment" and isinstance(letter.body.get("item"), int)


def is_first_task(letter: Letter) -> bool:
    """Whether the lead's runtime sent the prompt that a member in a pane begins with."""
    given = letter.kind == "assignment" and letter.sender == LEAD and letter.to != LEAD
    return given and isinstance(letter.body.get("prompt"), str)


def told(letter: Letter) -> str:
    """A letter as the receiver's model reads it: an envelope by the runtime, the rest is data."""
    if is_first_task(letter):
        return letter.body["prompt"]
    if is_item(letter):
        said = f'<said by="{escaped(letter.sender)}">{escaped(letter.text)}</said>'
        return f"[Item #{letter.body['item']} of the work list is assigned to you.]\n{said}"
    return (
        f'<teammate-message from="{escaped(letter.sender)}" id="{letter.id[:8]}">\n'
        f"{escaped(letter.text)}\n</teammate-message>"
    )
