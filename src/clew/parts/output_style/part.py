"""The output style of a session: how the model words what it tells, by a name of the settings or of Claude Code's."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from clew.config.errors import SettingsError
from clew.config.text import read_file
from clew.host.part import Part, PartSetup
from clew.host.workspace import Workspace
from clew.protocol.events import SessionStarted
from clew.skills.output_styles import claude_home, style_text

DEFAULT = "default"


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
