"""THE list of parts: every capability of a session, in the order in which they are asked and told."""

from collections.abc import Callable, Sequence

from clew.host.door import Door
from clew.host.part import Part, PartSetup
from clew.host.socket_life import SocketPart
from clew.parts.doctor.part import DoctorPart
from clew.parts.files.part import FilePart
from clew.parts.history.part import HistoryPart
from clew.parts.hooks.part import HookPart
from clew.parts.mcp.part import McpPart
from clew.parts.memory.part import MemoryPart
from clew.parts.models.part import ModelPart
from clew.parts.notifications.part import NotificationPart
from clew.parts.orientation.part import OrientationPart, side_model
from clew.parts.permissions.part import PermissionPart
from clew.parts.plan.part import PlanPart
from clew.parts.preferences.part import PreferencePart
from clew.parts.sessions.part import SessionListPart
from clew.parts.shells.part import ShellPart
from clew.parts.skills.part import SkillPart
from clew.parts.tasks.part import TaskPart
from clew.parts.undo.part import UndoPart
from clew.parts.window.part import WindowPart

PartMaker = Callable[[PartSetup], Part]


def parts_of(setup: PartSetup, door: Door, more: Sequence[PartMaker] = ()) -> tuple[Part, ...]:
    """The parts of one session. `more`: those that only this one has. Raises SettingsError."""
    workspace = setup.workspace
    hooks = HookPart(setup)
    memory = MemoryPart(setup)
    orientation = OrientationPart(setup, memory.memory.text)
    found: list[Part] = [hooks]
    if not setup.request.bare:
        found.append(SkillPart(setup))
    found += [McpPart(setup), PlanPart(setup), TaskPart()]
    lsp = workspace.settings.lsp.mode
    if workspace.trusted and (lsp == "on" or (lsp == "auto" and not setup.request.headless)):
        from clew.parts.language_servers.part import LanguageServerPart  # where one may be asked

        found.append(LanguageServerPart(setup))
    found += [
        memory,
        UndoPart(),
        WindowPart(
            setup,
            consent=hooks.before_compaction,
            side_model=lambda main: side_model(workspace, main, setup.connect, setup.log),
        ),
        ShellPart(),
        orientation,
        NotificationPart(setup),
        PermissionPart(),
        ModelPart(setup),
        PreferencePart(setup),
        FilePart(setup),
        HistoryPart(setup),
        SessionListPart(setup, orientation.words_for),
        DoctorPart(setup),
    ]
    return (*found, *(make(setup) for make in more), SocketPart(setup, door))
