"""Auto-memory: what a model would like to be remembered, checked, shown to a person, and kept as `#` lines are."""

import os

from clew.host.part import Part, PartSession, PartSetup
from clew.parts.memory.part import add_line, adds_to, clean_line
from clew.text.redact import find_secrets
from clew.tools.builtin.remember import LineNotKept, RememberLine

MAX_PER_SESSION = 20


class MemorySuggestionPart(Part):
    """The tool by which a model suggests a line; only where the user asked for it."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self._count = 0
        self._kept: list[tuple[str, str]] = []
        self.tools = (RememberLine(looked_at=self._looked_at, keep=self._keep),)

    def start(self, own: PartSession) -> None:
        """What is kept is also listed there, so that it can be taken back in this session."""
        self._kept = own.toolbox.session.remembered

    def _looked_at(self, text: str) -> tuple[str, str]:
        """The line as it would stand there, and the file. Raises NotKept."""
        try:
            line = clean_line(self._workspace, text)
        except ValueError as error:
            raise LineNotKept(str(error)) from error
        if "\n" in text.strip():
            raise LineNotKept("it is more than one line")
        if find_secrets(text):
            raise LineNotKept("it holds what looks like a secret")
        if self._count >= MAX_PER_SESSION:
            raise LineNotKept(f"{MAX_PER_SESSION} lines were kept in this session, which is enough")
        path, _ = adds_to(self._workspace)
        return f"- {line}", os.path.realpath(path)

    def _keep(self, text: str) -> str:
        shown, target = self._looked_at(text)
        try:
            line, path, _, _ = add_line(self._workspace, text, only=target)
        except ValueError as error:
            raise LineNotKept(str(error)) from error
        except OSError as error:
            raise LineNotKept(f"{target} cannot be written ({error.strerror})") from error
        self._count += 1
        self._kept.append((str(path), line))
        return f"Kept in {path}: {shown}"
