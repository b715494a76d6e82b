"""The output style of a session: how the model words what it tells, by a name of the settings or of Claude Code's."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from clew.config.errors import SettingsError
from clew.config.text import read_file
from clew.host.part import Part, PartSetup
from clew.host.workspace import Workspace
from clew.protocol.events import SessionStarted

DEFAULT = "default"
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


class OutputStylePart(Part):
    """Made where a style is named."""

    def __init__(self, setup: PartSetup, name: str) -> None:
        self._name = name
        text = style_text(name, setup.workspace)
        if text is None:
            self.warnings = (
                f"there is no output style {name!r}: it needs a file {name}.md in an output-styles folder",
            )
        else:
            self.words = f"# Output style: {name}\n{text}"

    def introduced(self, started: SessionStarted) -> SessionStarted:
        return replace(started, output_style=self._name)


def output_style(setup: PartSetup) -> str:
    """The name of the style that is wanted; empty: none. Clew's own settings count first; then, for programs that were
    written for Claude Code, what its files say."""
    named = setup.workspace.settings.output_style
    if not named and setup.request.driven:
        named = next(named_by_claude(setup.workspace), "")
    return "" if named.lower() == DEFAULT else named


def named_by_claude(place: Workspace) -> Iterator[str]:
    """What Claude Code's settings files name, the nearest first. Those of a project count where it is trusted."""
    folder = place.root / ".claude"
    files = [(folder / "settings.local.json", "local"), (folder / "settings.json", "project")] if place.trusted else []
    for file, source in (*files, (claude_home(place) / "settings.json", "user")):
        if source not in place.sources:
            continue
        try:
            found = msgspec.json.decode(read_file(str(file)) or b"{}", type=NamedStyle).output_style
        except (msgspec.DecodeError, SettingsError, RecursionError):
            continue  # whoever reads its hooks says what is wrong with the file
        if found:
            yield found


class NamedStyle(msgspec.Struct, rename="camel"):
    """The one key that is looked at here."""

    output_style: str = ""


def known_styles(place: Workspace) -> tuple[str, ...]:
    """The names that can be given here."""
    found = {name.capitalize() for name in STYLES}
    for folder in style_folders(place):
        try:
            found |= {file.stem for file in (folder / "output-styles").iterdir() if file.suffix == ".md"}
        except OSError:
            continue
    return tuple(sorted(found))


def style_folders(place: Workspace) -> list[Path]:
    """Whose styles may be used."""
    folders = [place.home, claude_home(place)] if "user" in place.sources else []
    if place.trusted and "project" in place.sources:
        folders += [place.root / ".clew", place.root / ".claude"]
    return folders


def style_text(name: str, place: Workspace) -> str | None:
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


def claude_home(place: Workspace) -> Path:
    """Where Claude Code keeps its own."""
    given = place.env.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path(place.env.get("HOME") or os.path.expanduser("~")) / ".claude"
