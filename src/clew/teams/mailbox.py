"""One member's inbox: letters in the order in which they were stored, and receipts of what became of each.

The envelope of a letter is set here and by nobody else: words of a model are only ever the text of a `chat`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.ids import new_uuid
from clew.system.shared_log import LogBusy, LogFull, SharedLog
from clew.transcript.log.stamp import utc_now

MAX_TEXT_BYTES = 64 * 1024
MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_UNREAD_CHAT = 1_000
MAX_UNREAD_PROTOCOL = 2_000
KEPT_READ = 200
KEPT_READ_BYTES = 2 * 1024 * 1024
"""Letters that were read stay in the inbox up to so many; then they move to the archive."""
RESERVED_BYTES = 512 * 1024
"""Room that chat never takes, for protocol letters."""

LetterKind = Literal[
    "chat",
    "assignment",
    "idle",
    "shutdown_request",
    "shutdown_answer",
    "mode",
    "plan_request",
    "plan_answer",
    "permission_request",
    "permission_answer",
    "undelivered",
]
FIRST: dict[str, int] = {
    "shutdown_request": 0,
    "mode": 1,
    "permission_answer": 1,
    "plan_answer": 1,
    "shutdown_answer": 1,
}
"""What is taken before everything else."""
Became = Literal["delivered", "handled", "refused", "dead"]


class Letter(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line", tag="letter"):
    """What one member wrote to another, in an envelope that the runtime set."""

    id: str
    kind: LetterKind
    sender: str = field(name="from")
    to: str
    at: str
    body: dict[str, Any] = {}

    @property
    def is_chat(self) -> bool:
        """Words for the receiver's model, which are data; everything else is for a handler."""
        return self.kind == "chat"

    @property
    def text(self) -> str:
        """The words of a chat, or what a protocol letter says besides."""
        found = self.body.get("text", "")
        return found if isinstance(found, str) else ""


class MailReceipt(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line", tag="receipt"):
    """What became of a letter."""

    of: str
    what: Became
    at: str
    step: int = 0
    """The receiver's step at which it joined; 0: it joined no conversation."""
    why: str = ""


class NotStored(ValueError):
    """A letter that its sender must know was not stored; the words say why."""


class LetterStanding(Struct, frozen=True, kw_only=True):
    """One letter and what became of it."""

    letter: Letter
    receipt: MailReceipt | None = None

    @property
    def word(self) -> str:
        """In one word, for people."""
        return self.receipt.what if self.receipt is not None else "stored"


class Mailbox:
    """The inbox of one member; any process of the team may hold one for it."""

    def __init__(self, path: Path, *, archive: Path | None = None) -> None:
        self._log: SharedLog[Letter | MailReceipt] = SharedLog(path, Letter | MailReceipt)  # pyright: ignore[reportArgumentType] - a union is a type to msgspec
        self._archive = archive

    def post(self, kind: LetterKind, *, sender: str, to: str, body: dict[str, Any]) -> Letter:
        """Store a letter. Raises NotStored with the reason, and then nothing was stored."""
        letter = Letter(id=new_uuid(), kind=kind, sender=sender, to=to, at=utc_now(), body=body)
        if (size := len(letter.text.encode("utf-8", "surrogatepass"))) > MAX_TEXT_BYTES:
            raise NotStored(f"the text has {size:,} bytes, and a message at most {MAX_TEXT_BYTES:,}")
        try:
            with self._log.alone():
                self._make_room()
                self._check_room(letter)
                self._log.append(letter)
        except LogBusy:
            raise NotStored(f"the inbox of {to} is busy; try again") from None
        except LogFull as error:
            raise NotStored(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise NotStored(f"the inbox of {to} cannot be written: {error}") from error
        return letter

    def _check_room(self, letter: Letter) -> None:
        unread = [open_ for open_ in self._unread() if open_.is_chat == letter.is_chat]
        if letter.is_chat:
            if len(unread) >= MAX_UNREAD_CHAT:
                raise NotStored(f"the inbox of {letter.to} is full: {len(unread):,} messages are not read yet")
            if self._log.size + len(letter.text) > MAX_FILE_BYTES - RESERVED_BYTES:
                raise NotStored(f"the inbox of {letter.to} is full: its messages are not read yet")
        elif len(unread) >= MAX_UNREAD_PROTOCOL or self._log.size > MAX_FILE_BYTES:
            raise NotStored(f"the inbox of {letter.to} is full: {len(unread):,} requests are not handled yet")

    def refresh(self) -> bool:
        """Read what came since; whether anything did."""
        return self._log.refresh()

    @property
    def read_to(self) -> tuple[int, int]:
        """How far this process has read, whichever call read it."""
        return self._log.replaced, self._log.size

    @property
    def bad_lines(self) -> int:
        """Lines that nobody understands; they are left where they are."""
        return self._log.bad

    def unread(self) -> list[Letter]:
        """What nobody has taken yet: a request to stop first, then other requests and answers, then the rest in the
        order in which it was stored."""
        self._log.refresh()
        return sorted(self._unread(), key=lambda letter: FIRST.get(letter.kind, 2 if not letter.is_chat else 3))

    def _unread(self) -> list[Letter]:
        records = tuple(self._log.records)  # a thread may read more meanwhile
        taken = {record.of for record in records if isinstance(record, MailReceipt)}
        return [record for record in records if isinstance(record, Letter) and record.id not in taken]

    def all(self) -> list[LetterStanding]:
        """Every letter of the inbox, in order, with what became of it."""
        self._log.refresh()
        records = tuple(self._log.records)
        receipts = {record.of: record for record in records if isinstance(record, MailReceipt)}
        letters = [record for record in records if isinstance(record, Letter)]
        return [LetterStanding(letter=letter, receipt=receipts.get(letter.id)) for letter in letters]

    def archived(self) -> list[LetterStanding]:
        """Those that were read and moved away."""
        return Mailbox(self._archive).all() if self._archive is not None else []

    def settle(self, letters: Sequence[str], what: Became, *, step: int = 0, why: str = "") -> list[str]:
        """Say what became of these; the ones that were open till now. Raises LogBusy, LogFull or OSError."""
        with self._log.alone():
            open_ = {letter.id for letter in self._unread()}
            now = [letter for letter in dict.fromkeys(letters) if letter in open_]
            if now:
                at = utc_now()
                self._log.append(*(MailReceipt(of=letter, what=what, at=at, step=step, why=why) for letter in now))
        return now

    def _make_room(self) -> None:
        """Move what was read to the archive, once there is much of it. First there, then away from here: a kill between
        leaves a letter in both, and its id tells."""
        if self._archive is None:
            return
        records = self._log.records
        receipts = {record.of: record for record in records if isinstance(record, MailReceipt)}
        read = [record for record in records if isinstance(record, Letter) and record.id in receipts]
        if len(read) <= KEPT_READ and self._log.size <= KEPT_READ_BYTES:
            return
        kept = Mailbox(self._archive)
        with kept._log.alone():
            known = {record.id for record in kept._log.records if isinstance(record, Letter)}
            new = [letter for letter in read if letter.id not in known]
            kept._log.append(*(line for letter in new for line in (letter, receipts[letter.id])))
        gone = {letter.id for letter in read}
        self._log.rewrite(
            [record for record in records if (record.of if isinstance(record, MailReceipt) else record.id) not in gone]
        )
