"""What a probe found out about a model at one address, and where that is kept."""

import os
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from clew.config.edit import locked
from clew.system.private_files import replace_private

Grade = Literal["ok", "info", "warning", "problem"]
FILE = "model-cards.json"
MAX_BYTES = 1024 * 1024
MAX_CARDS = 100


class ProbeFinding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was tried."""

    name: str
    grade: Grade
    summary: str
    brief: str = ""
    """A few words for a list, where there is something to know; never for what is as it should be."""


class ReportCard(Struct, frozen=True, kw_only=True):
    """All of it, for one model."""

    model: str
    """`provider/model`."""
    address: str
    at: str
    """When, in UTC."""
    findings: tuple[ProbeFinding, ...]
    input_tokens: int = 0
    output_tokens: int = 0
    """What it cost, as the provider counted; 0 where it does not count."""

    @property
    def brief(self) -> str:
        """For a list of models."""
        remarks = [finding.brief for finding in self.findings if finding.brief]
        return f"probed {self.at[:10]}: {', '.join(remarks) or 'as it should be'}"


class _Kept(Struct, frozen=True, kw_only=True):
    version: int = 1
    cards: tuple[ReportCard, ...] = ()


def report_cards(home: Path) -> tuple[ReportCard, ...]:
    """All that are kept, the newest last. A damaged file counts as none: a probe can be repeated."""
    try:
        descriptor = os.open(home / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ()
    try:
        return msgspec.json.decode(os.read(descriptor, MAX_BYTES), type=_Kept).cards
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    finally:
        os.close(descriptor)


def keep_card(home: Path, card: ReportCard) -> None:
    """In place of an older one of the same model at the same address."""
    with locked(home / FILE, private=True):
        others = [one for one in report_cards(home) if (one.model, one.address) != (card.model, card.address)]
        kept = _Kept(cards=(*others, card)[-MAX_CARDS:])
        replace_private(home / FILE, msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
