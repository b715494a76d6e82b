"""Values that the schema alone cannot judge: models, permission rules, tools, styles. What is unknown is refused here,
with what is known, instead of by the next session."""

from collections.abc import Iterable
from typing import Any, cast

from clew.config.errors import SettingsKeyError
from clew.config.load import load_settings
from clew.config.schema import Provider
from clew.config.walk import KeyPath, edits
from clew.host.workspace import Workspace
from clew.llm.errors import UnknownModel
from clew.llm.models.connect import all_rows, resolve
from clew.permissions.access import Decision
from clew.permissions.rules import RuleError, parse_rule
from clew.skills.output_styles import known_styles, style_text
from clew.tools.registry import builtin_names

MODELS = ("model", "fallbackModel", "fastModel")
EFFECTS: dict[str, Decision] = {"allow": "allow", "ask": "ask", "deny": "deny"}


def check_value(path: KeyPath, value: Any, place: Workspace) -> None:
    """Raises SettingsKeyError for a value that no session could use, with the values that one could."""
    match path, value:
        case ((name,), str()) if name in MODELS and value and (name, value) != ("fastModel", "none"):
            _check_model(value, place)
        case (("permissions", effect), _) if effect in EFFECTS:
            for rule in cast("list[Any]", value) if isinstance(value, list | tuple) else []:
                _check_rule(str(rule), EFFECTS[effect])
        case (("screen", "tools", tool), _):
            _check_tool(tool)
        case (("outputStyle",), str()) if value and value != "default":
            _check_style(value, place)
        case _:
            pass


def _check_model(name: str, place: Workspace) -> None:
    providers = _providers(place)
    try:
        resolve(name, providers, place.env)
    except UnknownModel as error:
        known = ", ".join(sorted(all_rows(providers)))
        raise SettingsKeyError(f"{error}; providers are {known}") from error


def _providers(place: Workspace) -> dict[str, Provider]:
    """Those of the user's own settings; a broken file is told by whoever writes it."""
    loaded = load_settings(home=place.home, project_root=None, trusted=False, env={}, lenient=True)
    return loaded.settings.providers


def _check_rule(text: str, effect: Decision) -> None:
    try:
        parse_rule(text, effect)
    except RuleError as error:
        raise SettingsKeyError(f"{error}; tools are {', '.join(builtin_names())}") from error
    _check_tool(text.partition("(")[0].strip())


def _check_tool(name: str) -> None:
    """A name near to one of ours is a slip; any other may be a tool that somebody else brings."""
    known = tuple(builtin_names())
    near = _nearest(name, known)
    if name not in known and near:
        raise SettingsKeyError(f"no tool {name!r}, did you mean {near}? tools are {', '.join(known)}")


def _nearest(name: str, known: Iterable[str]) -> str:
    close = min(known, key=lambda one: edits(name, one))
    return close if edits(name, close) <= 1 else ""


def _check_style(name: str, place: Workspace) -> None:
    if style_text(name, place) is None:
        known = ", ".join(("default", *known_styles(place)))
        raise SettingsKeyError(f"no output style {name!r}; one of {known}, or a file {name}.md in output-styles")
