"""Themes: one accent, hierarchy by weight and space. Names of styles as colours; no colour or motion where unwanted."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, cast

from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.theme import Theme
from textual.types import AnimationLevel
from textual.widget import Widget

DARK = Theme(
    name="clew-dark",
    primary="#6fb7c1",
    secondary="#6fb7c1",
    accent="#6fb7c1",
    warning="#dcae6a",
    error="#e58482",
    success="#93c285",
    foreground="#d9dce2",
    background="#14161a",
    surface="#1a1d22",
    panel="#22262d",
    dark=True,
    variables={
        "user-bar": "#6fb7c1",
        "dim": "#8b929e",
        "notice": "#9aa1ad",
        "recap": "#b3a4d6",
        "added": "#93c285",
        "removed": "#e58482",
        "added-word": "#2c4630",
        "removed-word": "#562d30",
        "inline-code": "#e0b98f",
        "code-keyword": "#8fb4e0",
        "code-string": "#a9c492",
        "code-comment": "#7f8793",
        "code-name": "#d9c08a",
        "code-number": "#d3a27e",
        "input-cursor-background": "#d9dce2",
        "input-cursor-foreground": "#14161a",
        "scrollbar": "#363c46",
        "scrollbar-background": "#1a1d22",
    },
)
LIGHT = Theme(
    name="clew-light",
    primary="#0c6a78",
    secondary="#0c6a78",
    accent="#0c6a78",
    warning="#8a5a00",
    error="#b3261e",
    success="#2c6e2c",
    foreground="#22262c",
    background="#fbfaf8",
    surface="#f3f2ef",
    panel="#e8e6e1",
    dark=False,
    variables={
        "user-bar": "#0c6a78",
        "dim": "#666c76",
        "notice": "#5a606a",
        "recap": "#6a4fa3",
        "added": "#2c6e2c",
        "removed": "#b3261e",
        "added-word": "#cfe8cc",
        "removed-word": "#f6d2cf",
        "inline-code": "#8a3d6b",
        "code-keyword": "#2456a5",
        "code-string": "#3d6b21",
        "code-comment": "#686e78",
        "code-name": "#7a5b00",
        "code-number": "#96480f",
        "input-cursor-background": "#22262c",
        "input-cursor-foreground": "#fbfaf8",
        "scrollbar": "#c9c6bf",
        "scrollbar-background": "#f3f2ef",
    },
)
HIGH_CONTRAST = Theme(
    name="clew-high-contrast",
    primary="#5ff0ff",
    secondary="#5ff0ff",
    accent="#5ff0ff",
    warning="#ffd84d",
    error="#ff8f8f",
    success="#7dff7d",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    variables={
        "user-bar": "#5ff0ff",
        "dim": "#c8c8c8",
        "notice": "#dddddd",
        "recap": "#e0c8ff",
        "added": "#7dff7d",
        "removed": "#ff8f8f",
        "added-word": "#005a00",
        "removed-word": "#7a0000",
        "inline-code": "#ffc4e6",
        "code-keyword": "#9fd0ff",
        "code-string": "#b8ff9e",
        "code-comment": "#c8c8c8",
        "code-name": "#ffe28a",
        "code-number": "#ffc48a",
        "input-cursor-background": "#ffffff",
        "input-cursor-foreground": "#000000",
        "scrollbar": "#ffffff",
        "scrollbar-background": "#000000",
    },
)
TERMINAL = Theme(
    name="terminal",
    ansi=True,
    primary="ansi_cyan",
    secondary="ansi_cyan",
    accent="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "user-bar": "ansi_cyan",
        "dim": "ansi_default",
        "notice": "ansi_default",
        "recap": "ansi_magenta",
        "added": "ansi_green",
        "removed": "ansi_red",
        "added-word": "ansi_default",
        "removed-word": "ansi_default",
        "inline-code": "ansi_yellow",
        "code-keyword": "ansi_blue",
        "code-string": "ansi_green",
        "code-comment": "ansi_default",
        "code-name": "ansi_yellow",
        "code-number": "ansi_magenta",
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "input-cursor-background": "ansi_default",
        "input-cursor-foreground": "ansi_default",
        "input-cursor-text-style": "reverse",
        "input-selection-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
        "scrollbar": "ansi_default",
        "scrollbar-background": "ansi_default",
        "block-hover-background": "ansi_default",
    },
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT, HIGH_CONTRAST, TERMINAL)}
DEFAULT = DARK.name

_COLOURS = {
    "dim": "dim",
    "accent": "primary",
    "link": "primary",
    "user": "user-bar",
    "quote": "dim",
    "number": "dim",
    "inline-code": "inline-code",
    "heading-1": "primary",
    "heading-2": "primary",
    **{name: name for name in ("notice", "recap", "warning", "error", "success", "added", "removed")},
    **{f"code-{kind}": f"code-{kind}" for kind in ("keyword", "string", "comment", "name", "number")},
    "added-word": "added",
    "removed-word": "removed",
}
"""Which field or variable of a theme colours a style; the others have the colour of the text."""
_WEIGHTS = {
    "bold": Style(bold=True),
    "italic": Style(italic=True),
    "strike": Style(strike=True),
    "heading": Style(bold=True),
    "heading-1": Style(bold=True, underline=True),
    "heading-2": Style(bold=True),
    "heading-3": Style(bold=True, italic=True),
    "link": Style(underline=True),
    "quote": Style(italic=True),
    "user": Style(bold=True),
    "warning": Style(bold=True),
    "error": Style(bold=True),
    "added-word": Style(bold=True),
    "removed-word": Style(bold=True),
    "code-keyword": Style(bold=True),
}
"""What a style is without any colour: nothing is told by colour alone."""
_FAINT = frozenset({"dim", "number", "notice", "code-comment", "quote"})
"""Fainter by an attribute where the theme has no colour of its own for it."""
NAMES = (
    *("text", "dim", "bold", "italic", "strike", "code", "heading", "link", "quote", "accent", "user", "notice"),
    *("inline-code", "heading-1", "heading-2", "heading-3"),
    *("warning", "error", "success", "added", "removed", "added-word", "removed-word", "number", "recap"),
    *("code-keyword", "code-string", "code-comment", "code-name", "code-number"),
)

_OURS = sorted(Path(__file__).parent.rglob("*.tcss"), key=lambda sheet: (sheet.parent.name == "dialogs", sheet))
SHEETS: list[str | PurePath] = [*_OURS]
"""The style sheets; those of dialogs last, since they stand over everything else."""


def styles_of(theme: Theme, *, colour: bool = True) -> dict[str, Style]:
    """Each name of a style with what this theme makes of it."""
    return {name: _style(name, theme, colour=colour) for name in NAMES}


def _style(name: str, theme: Theme, *, colour: bool) -> Style:
    plain = not colour or theme.ansi
    style = _WEIGHTS.get(name, Style.null())
    if name == "inline-code" and not colour:
        style += Style(reverse=True)
    if name in _FAINT and plain:
        style += Style(dim=True)
    if not colour:
        return style
    source = _COLOURS.get(name, "")
    shade = theme.variables.get(source) or getattr(theme, source, None) if source else None
    if shade and shade != "ansi_default":
        style += Style(color=Color.parse(shade).rich_color)
    if name in ("added-word", "removed-word"):
        ground = theme.variables.get(name, "ansi_default")
        style += Style(reverse=True) if ground == "ansi_default" else Style(bgcolor=Color.parse(ground).rich_color)
    return style


@lru_cache(maxsize=16)
def _table(name: str, *, colour: bool) -> dict[str, Style]:
    return styles_of(THEMES.get(name, DARK), colour=colour)


def styles_for(widget: Widget) -> dict[str, Style]:
    """The table of the theme that is in force where a widget is shown."""
    app = cast("App[object]", cast(Any, widget).app)  # Textual does not say what its App returns
    return _table(app.theme, colour=not app.no_color)


def mixed(styles: Mapping[str, Style], names: str) -> Style:
    """The style of several names joined by blanks; unknown ones add nothing."""
    found = Style.null()
    for name in names.split():
        found += styles.get(name, Style.null())
    return found


def without_colour(env: Mapping[str, str]) -> bool:
    """Whether `NO_COLOR` asks for none. To be looked at before the App begins: Textual takes it out of `os.environ`."""
    return bool(env.get("NO_COLOR"))


def theme_for(wanted: str, env: Mapping[str, str]) -> str:
    """The theme to begin with: without colours only the terminal's own, which an App made with `ansi_color` strips."""
    if without_colour(env):
        return TERMINAL.name
    return wanted if wanted in THEMES else DEFAULT


def register(app: App[Any], theme: str) -> None:
    """Make the themes known to an App and use one."""
    for known in THEMES.values():
        app.register_theme(known)
    app.theme = theme if theme in THEMES else DEFAULT


def animation(env: Mapping[str, str], *, reduced: bool) -> AnimationLevel:
    """How much may move: nothing when a setting or `CLEW_REDUCED_MOTION` says so."""
    asked = env.get("CLEW_REDUCED_MOTION", "").strip().lower()
    return "none" if reduced or asked not in ("", "0", "no", "false", "off") else "full"
