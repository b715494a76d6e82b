"""Which directories the kernel watches for us, and which must be listed each time."""

import contextlib
import os

from clew.system.file_events import FileEvents


class Watches:
    """Paths by watch number. Without inotify, or without a watch left, a directory counts as never watched."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._events: FileEvents | None = None
        if enabled:
            with contextlib.suppress(OSError):
                self._events = FileEvents()
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self.unwatched: set[str] = set()

    @property
    def working(self) -> bool:
        """Whether the kernel tells us anything at all."""
        return self._events is not None

    def add(self, folder: str, descriptor: int) -> None:
        """Before its listing, so that nothing happens in between unseen."""
        if folder in self._numbers:
            return
        try:
            if self._events is None:
                raise OSError
            number = self._events.add(descriptor)
        except OSError:
            self.unwatched.add(folder)
            return
        moved = self._paths.get(number)
        if moved is not None:
            self._numbers.pop(moved, None)  # the same directory under its old name
        self._paths[number] = folder
        self._numbers[folder] = number
        self.unwatched.discard(folder)

    def remove(self, folder: str) -> None:
        """The directory is gone or not covered any more."""
        self.unwatched.discard(folder)
        number = self._numbers.pop(folder, None)
        if number is not None and self._paths.get(number) == folder:
            del self._paths[number]
            if self._events is not None:
                self._events.remove(number)

    def read(self) -> tuple[dict[str, set[str]], bool]:
        """Names that changed, by directory, and whether events were lost."""
        names: dict[str, set[str]] = {}
        lost = False
        if self._events is None:
            return names, lost
        for event in self._events.read():
            if event.overflowed:
                lost = True
                continue
            folder = self._paths.get(event.watch)
            if folder is None:
                continue
            if event.own:
                self.remove(folder)
                self.unwatched.add(folder)  # until the scan found out what became of it
                parent, name = os.path.split(folder)
                names.setdefault(parent, set()).add(name)
            elif event.name:
                names.setdefault(folder, set()).add(event.name)
        return names, lost

    def close(self) -> None:
        """Give all watches back."""
        if self._events is not None:
            self._events.close()
            self._events = None
