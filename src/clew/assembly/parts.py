"""THE list of parts: every capability of a session, in the order in which they are asked and told."""

from collections.abc import Callable, Sequence

from clew.host.door import Door
from clew.host.part import Part, PartSetup
from clew.host.socket_life import SocketPart
from clew.parts.hooks.part import HookPart
from clew.parts.memory.part import MemoryPart
from clew.parts.notifications.part import NotificationPart
from clew.parts.plan.part import PlanPart
from clew.parts.skills.part import SkillPart
from clew.parts.tasks.part import TaskPart
from clew.parts.window.part import WindowPart
from clew.transcript.log.store import SessionStore

PartMaker = Callable[[PartSetup], Part]


def parts_of(setup: PartSetup, door: Door, more: Sequence[PartMaker] = ()) -> tuple[Part, ...]:
    """The parts that a session has from its first moment on. `more`: those that only this one has. Raises
    SettingsError."""
    request, workspace = setup.request, setup.workspace
    hooks = HookPart(setup)
    memory = MemoryPart(setup)
    found: list[Part] = [hooks]
    if not request.bare:
        found.append(SkillPart(setup))
    expected = may_have_servers(setup)
    if expected or request.driven:
        from clew.parts.mcp.part import McpPart  # where there may be a server, or a program may bring one

        found.append(McpPart(setup, expected=expected))
    if workspace.settings.output_style or request.driven:
        from clew.parts.output_style.part import OutputStylePart, output_style  # where a style may be named

        if name := output_style(setup):
            found.append(OutputStylePart(setup, name))
    found += [PlanPart(setup), TaskPart()]
    lsp = workspace.settings.lsp.mode
    if workspace.trusted and (lsp == "on" or (lsp == "auto" and not request.headless)):
        from clew.parts.language_servers.part import LanguageServerPart  # where one may be asked

        found.append(LanguageServerPart(setup))
    found += [memory, WindowPart(setup, consent=hooks.before_compaction)]
    if is_oriented(setup):
        from clew.parts.orientation.part import OrientationPart  # where words are wanted

        found.append(OrientationPart(setup, memory.memory.text))
    return (*found, NotificationPart(setup), *(make(setup) for make in more), SocketPart(setup, door))


def answering_parts(setup: PartSetup, known: Sequence[Part]) -> tuple[Part, ...]:
    """The parts that only answer: made by the first op or lookup that none of those above takes. `known`: those."""
    from clew.parts.doctor.part import DoctorPart  # what nobody asks for is not loaded
    from clew.parts.files.part import FilePart
    from clew.parts.history.part import HistoryPart
    from clew.parts.mcp.part import McpPart
    from clew.parts.models.part import ModelPart
    from clew.parts.orientation.part import OrientationPart
    from clew.parts.permissions.part import PermissionPart
    from clew.parts.preferences.part import PreferencePart
    from clew.parts.sessions.part import SessionListPart
    from clew.parts.shells.part import ShellPart
    from clew.parts.undo.part import UndoPart

    found: list[Part] = [] if any(isinstance(part, McpPart) for part in known) else [McpPart(setup)]
    orientation = next((part for part in known if isinstance(part, OrientationPart)), None)
    if orientation is None:
        orientation = OrientationPart(setup, "", speaks=False)
        found.append(orientation)
    return (
        *found,
        UndoPart(setup),
        ShellPart(),
        PermissionPart(),
        ModelPart(setup),
        PreferencePart(setup),
        FilePart(setup),
        HistoryPart(setup),
        SessionListPart(setup, orientation.words_for),
        DoctorPart(setup),
    )


def is_oriented(setup: PartSetup) -> bool:
    """Whether somebody sees labels and recaps, or the user wants a model's words even where nobody watches; facts can
    be had from the log later."""
    settings, request = setup.workspace.settings, setup.request
    wanted = settings.titles.model == "on" or settings.summaries.tool_batches == "model"
    return wanted or request.labelled or not request.headless


def may_have_servers(setup: PartSetup) -> bool:
    """Whether it is worth looking: a few names on disk."""
    request, workspace = setup.request, setup.workspace
    if request.mcp_config:
        return True
    if request.strict_mcp or request.bare:
        return False
    kept = SessionStore(workspace.home).project_dir(workspace.root)
    files = [(workspace.home / "mcp.json", "user"), (kept / "mcp.json", "local")]
    files += [(workspace.root / ".mcp.json", "project")] if workspace.trusted else []
    return any(source in workspace.sources and file.exists() for file, source in files)
