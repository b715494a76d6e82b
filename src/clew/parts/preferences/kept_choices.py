"""A choice that a person makes in a session and that later sessions keep: written to the user's settings."""

from typing import Any

from clew.config.edit import remove_value, typed_value, write_value
from clew.config.errors import SettingsError
from clew.config.load import settings_path
from clew.config.walk import KeyPath
from clew.engine.agent import Agent
from clew.host.part import OpRefused
from clew.host.workspace import Workspace
from clew.protocol.events import EffortChanged, ScreenChanged, ThemeChanged
from clew.protocol.ops import SetEffort, SetScreen, SetTheme

EFFORT: KeyPath = ("effort",)
THEME: KeyPath = ("screen", "theme")
EFFORTS = ("", "low", "medium", "high", "xhigh", "max")
NOT_KEPT = "it holds for this session only: your settings are not read in it"


def keep_choice(workspace: Workspace, key: KeyPath, word: str) -> str:
    """Set a key of the user's settings, or with an empty word take it out. Returns the file; empty: the user's settings
    are not read here, so nothing is written. Raises OpRefused, and then the file is as it was."""
    if "user" not in workspace.sources:
        return ""
    file = settings_path("user", home=workspace.home, project_root=None)
    try:
        if word:
            value: Any = typed_value(key, word)
            write_value(file, key, value)
        else:
            remove_value(file, key)
    except SettingsError as error:
        raise OpRefused(str(error)) from error
    except OSError as error:
        raise OpRefused(f"{file} cannot be written: {error.strerror}") from error
    return str(file)


def choose_theme(op: SetTheme, workspace: Workspace | None) -> ThemeChanged:
    """Keep colours for later sessions. Raises OpRefused."""
    if workspace is None:
        raise OpRefused("this session has no place of its own")
    return ThemeChanged(theme=op.theme, saved_in=keep_choice(workspace, THEME, op.theme))


def choose_screen(op: SetScreen, workspace: Workspace | None) -> ScreenChanged:
    """Keep a setting of the screen for later sessions. Raises OpRefused."""
    if workspace is None:
        raise OpRefused("this session has no place of its own")
    if not op.value:
        raise OpRefused(f"screen.{op.name} needs a value")
    return ScreenChanged(name=op.name, value=op.value, saved_in=keep_choice(workspace, ("screen", op.name), op.value))


def choose_effort(op: SetEffort, agent: Agent, workspace: Workspace | None) -> EffortChanged:
    """Put an effort in force, and keep it where that is asked for. A variable of the environment counts more than what
    is kept, and that is told. Raises OpRefused; then everything is as it was."""
    if op.effort not in EFFORTS:
        raise OpRefused(f"there is no effort {op.effort!r}; efforts are {', '.join(EFFORTS[1:])}")
    notes: list[str] = []
    saved_in = ""
    if op.keep and workspace is not None:
        saved_in = keep_choice(workspace, EFFORT, op.effort)
        notes += [] if saved_in else [NOT_KEPT]
    variable = _variable(workspace) if op.keep else ""
    if variable:
        notes.append(f"{variable} is set in the environment and counts as long as it is")
    else:
        agent.effort = op.effort or None
    in_force = agent.own_effort or ""
    sent = agent.model.sent_effort(in_force or None) or ""
    if in_force and sent != in_force:
        notes.append(f"{agent.model.name} is sent {sent}" if sent else f"{agent.model.name} takes no effort")
    return EffortChanged(effort=in_force, saved=op.effort if saved_in else "", saved_in=saved_in, note="; ".join(notes))


def _variable(workspace: Workspace | None) -> str:
    """The variable that the effort in force comes from; empty: none."""
    found = workspace.loaded.sources.get("effort", ()) if workspace is not None else ()
    return next((source.place for source in found[-1:] if source.layer == "env"), "")
