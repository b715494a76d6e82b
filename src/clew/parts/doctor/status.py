"""What is in force in a session and where its files lie, as rows for people."""

from collections.abc import Iterator

from clew import __version__
from clew.host.room import Room
from clew.orient.daily_cap import DailyCap
from clew.protocol.lookups.session import StatusRow


def status_rows(room: Room) -> tuple[StatusRow, ...]:
    """Blocks: the sandbox may have to test itself first."""
    return tuple(StatusRow(name=name, value=value) for name, value in _rows(room) if value)


def _rows(room: Room) -> Iterator[tuple[str, str]]:
    session = room.session
    log, agent = session.journal.main, session.main.agent
    yield "Session", session.started.session_id
    yield "Title", log.state.title
    yield "Model", agent.model.name
    yield "Effort", agent.effort or "as the model likes"
    yield "Permission mode", room.permits.policy.mode
    yield "Directory", room.tools.cwd if room.tools is not None else log.stamp.cwd
    yield "Branch", log.stamp.git_branch
    yield from _place(room)
    yield "Sandbox", _sandbox(room)
    yield "Window", _window(room)
    yield "Side queries", _side_queries(room)
    yield "Transcript", str(room.transcript) if room.transcript is not None else "not kept on disk"
    yield "Saved rules", room.permits.saved_in
    yield "Version", __version__


def _place(room: Room) -> Iterator[tuple[str, str]]:
    workspace = room.workspace
    if workspace is None:
        return
    yield "Project", f"{workspace.root} ({'trusted' if workspace.trusted else 'not trusted'})"
    yield "Home", str(workspace.home)
    places = {source.place for sources in workspace.loaded.sources.values() for source in sources}
    yield "Settings from", ", ".join(sorted(place for place in places if place))


def _sandbox(room: Room) -> str:
    sandbox = room.tools.sandbox if room.tools is not None else None
    if sandbox is None:
        return "off"
    held = sandbox.status.label if sandbox.enforced else "commands are not held"
    network = "with network" if sandbox.network else "no network"
    return "; ".join(part for part in (f"{held}, {network}" if sandbox.enforced else held, sandbox.why_not) if part)


def _side_queries(room: Room) -> str:
    if room.workspace is None:
        return ""
    wanted = room.workspace.settings.side_queries
    return DailyCap(room.workspace.home, wanted.daily_cap_usd).told() if wanted.enabled else "off"


def _window(room: Room) -> str:
    meter = room.session.journal.main.state.meter
    if meter is None or meter.tokens is None:
        return ""
    share = f" ({100 * meter.tokens // meter.window} %)" if meter.window else ""
    return f"{meter.tokens:,} of {meter.window:,} tokens{share}"
