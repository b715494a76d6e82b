"""How much the side queries of a day may cost, over all sessions of this user."""

import fcntl
import os
from pathlib import Path

import msgspec

from clew.system.clock import Clock, SystemClock, local_date
from clew.system.home import private_dir
from clew.text.figures import money, price


class _Day(msgspec.Struct):
    date: str = ""
    usd: float = 0.0
    calls: int = 0
    purposes: dict[str, float] = {}


class DailyCap:
    """A small file in the home directory; a broken or missing one counts as nothing spent."""

    def __init__(self, home: Path, limit_usd: float, *, clock: Clock | None = None) -> None:
        self._path = home / "side-queries.json"
        self.limit_usd = limit_usd
        self._clock = clock or SystemClock()

    def spent_usd(self) -> float:
        """What today's queries cost so far."""
        return self._read().usd

    def calls(self) -> int:
        """How many there were today."""
        return self._read().calls

    def told(self) -> str:
        """Today's spending beside the cap, for people."""
        return f"{money(self.spent_usd())} of {price(self.limit_usd)} today"

    def allows(self) -> bool:
        """Whether another one may start."""
        return self.spent_usd() < self.limit_usd

    def add(self, usd: float, purpose: str = "") -> None:
        """Book one query. Several programs may do so at once."""
        try:
            private_dir(self._path.parent)
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return  # without a home nothing can be counted; the cap of this process's settings still holds per call
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            day = self._parse(os.read(fd, 4096))
            purposes = {**day.purposes, purpose: day.purposes.get(purpose, 0.0) + usd} if purpose else day.purposes
            spent = _Day(date=day.date, usd=day.usd + usd, calls=day.calls + 1, purposes=purposes)
            line = msgspec.json.encode(spent)
            os.ftruncate(fd, 0)
            os.pwrite(fd, line, 0)
        finally:
            os.close(fd)

    def _read(self) -> _Day:
        try:
            return self._parse(self._path.read_bytes())
        except OSError:
            return self._parse(b"")

    def _parse(self, data: bytes) -> _Day:
        today = local_date(self._clock.wall_s())
        try:
            day = msgspec.json.decode(data, type=_Day)
        except msgspec.DecodeError:
            return _Day(date=today)
        return day if day.date == today else _Day(date=today)
