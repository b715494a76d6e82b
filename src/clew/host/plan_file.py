"""The plan of a session: a file in its own folder that the model writes and a person may edit."""

from collections.abc import Callable, Iterable
from pathlib import Path

from clew.protocol.entries import AssistantEntry, Entry, EventEntry
from clew.protocol.events import PlanAnswered
from clew.protocol.messages import ToolCallPart
from clew.system.private_files import private_dir, replace_private

MAX_PLAN_BYTES = 200_000
PROPOSES = "ExitPlanMode"


class PlanFile:
    """Read anew each time: people edit it. Nothing is written before there is something to keep."""

    def __init__(self, path: Path | None, known: Callable[[], str]) -> None:
        """`path` None: the session is not kept. `known`: the plan that was brought along, as long as there is no
        file."""
        self.path = path
        self._known = known
        self._text: str | None = None
        """What was written where there is no file."""

    @property
    def shown_path(self) -> str:
        """For people and the model; empty: there is none."""
        return str(self.path) if self.path is not None else ""

    def text(self) -> str:
        """The plan as it stands; empty: there is none."""
        if self._text is not None:
            return self._text
        found = read_plan(self.path) if self.path is not None else None
        return self._known() if found is None else found

    def write(self, text: str) -> None:
        """Put this in its place, whole or not at all. Raises OSError."""
        if self.path is None:
            self._text = text
        else:
            replace_private(self.path, text.encode("utf-8", "replace"))

    def keep(self) -> None:
        """What was brought along becomes a file of this session, and its folder is there. Raises OSError."""
        if self.path is None:
            return
        if not self.path.exists() and (known := self._known()):
            self.write(known)
        private_dir(self.path.parent)


def read_plan(path: Path) -> str | None:
    """A plan's file, as far as one would read it; None: there is none that can be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_PLAN_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def plan_in(entries: Iterable[Entry]) -> str:
    """The newest plan that a log tells of, given its entries from the newest on."""
    for entry in entries:
        if isinstance(entry, EventEntry) and isinstance(entry.event, PlanAnswered) and entry.event.plan:
            return entry.event.plan
        if isinstance(entry, AssistantEntry):
            for part in entry.message.content:
                if isinstance(part, ToolCallPart) and part.name == PROPOSES:
                    plan = part.arguments.get("plan")
                    return plan if isinstance(plan, str) else ""
    return ""
