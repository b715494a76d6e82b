"""Rules the user said "always" to, kept per project in the user's own home: never in the project."""

import os
from pathlib import Path

import msgspec

from clew.permissions.rules import Rule, RuleError, parse_rule
from clew.transcript.files import replace_file


class SavedRules:
    """`permissions.json` beside the sessions of a project."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "permissions.json"

    def load(self) -> tuple[Rule, ...]:
        """All that can be read; a damaged file grants nothing."""
        rules: list[Rule] = []
        for text in self._texts():
            try:
                rules.append(parse_rule(text, "allow", "user"))
            except RuleError:
                continue  # written by another version; it grants nothing here
        return tuple(rules)

    def add(self, texts: tuple[str, ...]) -> None:
        """Keep these too. Raises OSError."""
        known = self._texts()
        allowed = [*known, *(text for text in texts if text not in known)]
        replace_file(self.path, msgspec.json.format(msgspec.json.encode({"allow": allowed})) + b"\n")

    def remove(self, text: str) -> bool:
        """Take one back. False when it was not kept. Raises OSError."""
        known = self._texts()
        if text.strip() not in known:
            return False
        allowed = [one for one in known if one != text.strip()]
        replace_file(self.path, msgspec.json.format(msgspec.json.encode({"allow": allowed})) + b"\n")
        return True

    def texts(self) -> list[str]:
        """The rules as they were saved."""
        return self._texts()

    def _texts(self) -> list[str]:
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(fd, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, list[str]]).get("allow", [])
        except (OSError, msgspec.DecodeError):
            return []
