"""Themes: every style has its look, is told apart without colour, and can be read on its ground."""

import pytest
from textual.color import Color
from textual.theme import Theme

from clew.presentation.rows.spans import STYLES
from clew.tui.themes import DEFAULT, NAMES, THEMES, animation, mixed, styles_of, theme_for, without_colour

COLOURED = [theme for theme in THEMES.values() if not theme.ansi]
VARIABLES = {
    *("user-bar", "dim", "added", "removed", "added-word", "removed-word", "notice", "recap"),
    *("code-keyword", "code-string", "code-comment", "code-name", "code-number"),
}


@pytest.mark.parametrize("name", THEMES)
def test_every_name_of_a_style_has_a_style(name: str) -> None:
    assert set(styles_of(THEMES[name])) == set(NAMES) >= set(STYLES)
    assert set(THEMES[name].variables) >= VARIABLES


@pytest.mark.parametrize("name", THEMES)
def test_without_colour_no_style_has_one(name: str) -> None:
    for style in styles_of(THEMES[name], colour=False).values():
        assert style.color is None
        assert style.bgcolor is None


def test_the_terminals_own_theme_has_no_colour_of_ours() -> None:
    for style in styles_of(THEMES["terminal"]).values():
        for colour in (style.color, style.bgcolor):
            assert colour is None or colour.triplet is None


@pytest.mark.parametrize("colour", [True, False])
def test_what_matters_is_told_by_more_than_colour(colour: bool) -> None:
    styles = styles_of(THEMES["terminal"], colour=colour)
    for name in ("warning", "error", "user", "heading", "bold"):
        assert styles[name].bold
    assert styles["dim"].dim
    assert styles["added-word"].bold
    assert styles["link"].underline


def contrast_of(one: Color, other: Color) -> float:
    """As the accessibility guidelines measure it, from 1 to 21."""
    lights = sorted(luminance(colour) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour: Color) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
def test_text_can_be_read(theme: Theme) -> None:
    """At least the contrast of the accessibility guidelines: 4.5 for text, 7 where high contrast is promised."""
    least = 7 if "contrast" in theme.name else 4.5
    for ground in (theme.background, theme.surface):
        assert ground is not None
        for name, style in styles_of(theme).items():
            if style.color is not None and style.bgcolor is None:
                shade = Color.from_rich_color(style.color)
                contrast = contrast_of(shade, Color.parse(ground))
                assert contrast >= least, f"{name} on {ground}: {contrast:.1f}"


def test_styles_mix() -> None:
    styles = styles_of(THEMES[DEFAULT])
    both = mixed(styles, "bold added unknown")
    assert both.bold
    assert both.color == styles["added"].color


def test_the_theme_to_begin_with() -> None:
    assert theme_for("clew-light", {}) == "clew-light"
    assert theme_for("no such theme", {}) == DEFAULT
    assert theme_for("clew-light", {"NO_COLOR": "1"}) == "terminal"
    assert not without_colour({"NO_COLOR": ""})


@pytest.mark.parametrize(
    ("env", "reduced", "level"),
    [({}, False, "full"), ({}, True, "none"), ({"CLEW_REDUCED_MOTION": "1"}, False, "none")]
    + [({"CLEW_REDUCED_MOTION": word}, False, "full") for word in ("", "0", "off")],
)
def test_less_motion(env: dict[str, str], reduced: bool, level: str) -> None:
    assert animation(env, reduced=reduced) == level
