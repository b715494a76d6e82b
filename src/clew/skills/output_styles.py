"""Output styles: words that tell a model how to word what it tells, from files or from those that come with clew."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from clew.config.errors import SettingsError
from clew.config.text import read_file

MAX_CHARS = 20_000
STYLES = {
    "explanatory": (
        "Besides doing the work, explain it: before and after a change say in two or three sentences why this way fits "
        "this code base and which other way was possible. Say what is particular to the project, not what is generally "
        "known."
    ),
    "learning": (
        "The user wants to learn while you work together. Explain what you do and why. Where a piece of five to ten "
        "lines decides something, such as a rule of the domain or a way to handle errors, do not write it: leave a "
        "place marked TODO(human), say what has to be decided there and how one could weigh it, and wait for the user "
        "to write it."
    ),
}
"""The styles that need no file, by their names in lower case."""


class StylePlace(Protocol):
    """Where styles are looked for; a workspace is one."""

    @property
    def home(self) -> Path:
        """Clew's own."""
        ...

    @property
    def root(self) -> Path:
        """The project's."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """The user's."""
        ...

    @property
    def trusted(self) -> bool:
        """Whether the project's files count."""
        ...

    @property
    def sources(self) -> Collection[str]:
        """Whose files may be read."""
        ...


def known_styles(place: StylePlace) -> tuple[str, ...]:
    """The names that can be given here."""
    found = {name.capitalize() for name in STYLES}
    for folder in style_folders(place):
        try:
            found |= {file.stem for file in (folder / "output-styles").iterdir() if file.suffix == ".md"}
        except OSError:
            continue
    return tuple(sorted(found))


def style_folders(place: StylePlace) -> list[Path]:
    """Whose styles may be used."""
    folders = [place.home, claude_home(place)] if "user" in place.sources else []
    if place.trusted and "project" in place.sources:
        folders += [place.root / ".clew", place.root / ".claude"]
    return folders


def style_text(name: str, place: StylePlace) -> str | None:
    """The words of a style: of a file of the user or of a trusted project, or those that come with clew; None: there
    is none."""
    if os.path.basename(name) == name:
        for folder in style_folders(place):
            try:
                data = read_file(str(folder / "output-styles" / f"{name}.md"))
            except SettingsError:
                continue
            if data is not None:
                return body(data.decode(errors="replace"))[:MAX_CHARS]
    return STYLES.get(name.lower())


def body(text: str) -> str:
    """A Markdown file without what stands between its first two lines of dashes."""
    if not text.startswith("---\n"):
        return text.strip()
    _, end, rest = text.partition("\n---\n")
    return rest.strip() if end else text.strip()


def claude_home(place: StylePlace) -> Path:
    """Where Claude Code keeps its own."""
    given = place.env.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path(place.env.get("HOME") or os.path.expanduser("~")) / ".claude"
