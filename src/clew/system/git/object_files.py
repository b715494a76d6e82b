"""Files of git's object store that a confined command wrote: each must hold what its name says. Standard library only.

Git names an object by its content but does not compare them when it checks out a file, and the store can be written by
whoever may commit. So every file there that changed since the command began is read once more.
"""

import os
import re
import stat
from collections.abc import Iterator

from clew.system.git.keeper_call import KeptRepository
from clew.system.git.left_behind import HeldFolder, Judged, ObeyedEntry

MAX_FILES = 200_000
MAX_BYTES = 400_000_000
PIECE = 1 << 20
EARLIER_NS = 1_000_000_000
"""File systems keep time more coarsely than clocks do."""
WRONG = "its content is not what its name says"
_FANOUT = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")


class TooMuchToCheck(Exception):
    """The command wrote more objects than are read again."""


class ObjectFiles:
    """The object store of one repository."""

    def __init__(self, git: HeldFolder, since_ns: int) -> None:
        """`since_ns`: when the command began."""
        self._git = git
        self._since_ns = since_ns - EARLIER_NS
        self._left = MAX_BYTES
        self._files = MAX_FILES

    def wrong(self, unclear: list[Judged]) -> Iterator[ObeyedEntry]:
        """Entries to be taken away; each is held open until the next one is asked for."""
        with self._git.inner("objects") as objects:
            if objects is None:
                unclear.append(Judged(os.path.join(self._git.path, "objects"), "", "its objects cannot be looked at"))
                return
            try:
                for name in objects.listed() or ():
                    if _FANOUT.fullmatch(name):
                        yield from self._loose_in(objects, name)
                yield from self._packs_in(objects, unclear)
            except TooMuchToCheck:
                unclear.append(Judged(objects.path, "", "the command wrote more objects than are read again"))

    def _loose_in(self, objects: HeldFolder, prefix: str) -> Iterator[ObeyedEntry]:
        with objects.inner(prefix) as folder:
            if folder is None:
                yield objects.found(prefix, "it is no directory of objects")
                return
            for name in folder.listed() or ():
                status = self._changed(folder, name)
                if status is None or not _LOOSE.fullmatch(name):
                    continue
                if not stat.S_ISREG(status.st_mode) or not self._is_named(folder, name, prefix + name):
                    yield folder.found(name, WRONG)

    def _changed(self, folder: HeldFolder, name: str) -> os.stat_result | None:
        """The entry, if it changed since the command began. No program can set this time back."""
        self._files -= 1
        if self._files < 0:
            raise TooMuchToCheck
        try:
            status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
        except OSError:
            return None
        return status if status.st_ctime_ns >= self._since_ns or not stat.S_ISREG(status.st_mode) else None

    def _is_named(self, folder: HeldFolder, name: str, digits: str) -> bool:
        import hashlib  # few commands need these, and the process starter is to start fast
        import zlib

        digest = (hashlib.sha256 if len(digits) == 64 else hashlib.sha1)(usedforsecurity=False)
        unpack = zlib.decompressobj()
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder.descriptor)
        except OSError:
            return False
        with os.fdopen(file, "rb") as data:
            try:
                while piece := unpack.unconsumed_tail or data.read(PIECE):
                    plain = unpack.decompress(piece, PIECE)
                    self._left -= len(plain)
                    if self._left < 0:
                        raise TooMuchToCheck
                    digest.update(plain)
                    if unpack.eof:
                        break
            except zlib.error:
                return False
        return unpack.eof and digest.hexdigest() == digits

    def _packs_in(self, objects: HeldFolder, unclear: list[Judged]) -> Iterator[ObeyedEntry]:
        with objects.inner("pack") as packs:
            if packs is None:
                if objects.mode("pack"):
                    yield objects.found("pack", "it is no directory of objects")
                return
            repository = KeptRepository(self._git.path)
            changed = {name: status for name in packs.listed() or () if (status := self._changed(packs, name))}
            for name, status in changed.items():
                if not stat.S_ISREG(status.st_mode):
                    yield packs.found(name, WRONG)
            if any(name.startswith("multi-pack-index") for name in changed) and (
                repository.run(["multi-pack-index", "verify", "--no-progress"]) is None
            ):
                yield packs.found("multi-pack-index", WRONG)
            for stem in sorted({name.partition(".")[0] for name in changed if name.endswith((".pack", ".idx"))}):
                yield from self._pack(packs, stem, repository, unclear)

    def _pack(
        self, packs: HeldFolder, stem: str, repository: KeptRepository, unclear: list[Judged]
    ) -> Iterator[ObeyedEntry]:
        """One pack and its index, as git itself checks them."""
        size = os.stat(f"{stem}.pack", dir_fd=packs.descriptor).st_size if packs.mode(f"{stem}.pack") else 0
        if size > self._left:
            unclear.append(Judged(os.path.join(packs.path, f"{stem}.pack"), "", "it is too large to be read again"))
            return
        self._left -= size
        path = os.path.join(packs.path, f"{stem}.idx")
        if packs.mode(f"{stem}.idx") and repository.run(["verify-pack", "--", path]) is None:
            yield packs.found(f"{stem}.idx", WRONG)
            yield packs.found(f"{stem}.pack", WRONG)
