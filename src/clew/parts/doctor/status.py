"""What is in force in a session and where its files lie, as rows for people."""

from collections.abc import Iterator

from clew import __version__
from clew.agents.toolbox import AgentTools
from clew.commands.stats import session_cost
from clew.host.part import PartSession, PartSetup
from clew.host.session import Session
from clew.host.workspace import Workspace
from clew.orient.daily_cap import DailyCap
from clew.protocol.lookups.session import StatusRow


def status_rows(setup: PartSetup, own: PartSession) -> tuple[StatusRow, ...]:
    """Blocks: the sandbox may have to test itself first."""
    return tuple(StatusRow(name=name, value=value) for name, value in _rows(setup, own) if value)


def _rows(setup: PartSetup, own: PartSession) -> Iterator[tuple[str, str]]:
    session, workspace, path = own.session, setup.workspace, setup.past.path
    log, agent, permits = session.journal.main, session.main.agent, own.toolbox.permits
    yield "Session", session.started.session_id
    yield "Title", log.state.title
    yield "Model", agent.model.name
    yield "Effort", agent.effort or "as the model likes"
    yield "Permission mode", permits.policy.mode
    yield "Directory", own.toolbox.session.cwd
    yield "Branch", log.stamp.git_branch
    yield from _place(workspace)
    yield "Sandbox", _sandbox(own.toolbox)
    yield "Window", _window(session)
    yield "Cost", session_cost(session.journal.state.spent)
    line = workspace.settings.status_line
    indented = f", {line.padding} blanks before it" if line.padding else ""
    yield "Status line", f"{line.command}{indented} (kept; clew does not show it yet)" if line.command else ""
    yield "Side queries", _side_queries(workspace)
    yield "Transcript", str(path) if path is not None else "not kept on disk"
    yield "Saved rules", permits.saved_in
    yield "Version", __version__


def _place(workspace: Workspace) -> Iterator[tuple[str, str]]:
    yield "Project", f"{workspace.root} ({'trusted' if workspace.trusted else 'not trusted'})"
    yield "Home", str(workspace.home)
    places = {source.place for sources in workspace.loaded.sources.values() for source in sources}
    yield "Settings from", ", ".join(sorted(place for place in places if place))


def _sandbox(toolbox: AgentTools) -> str:
    sandbox = toolbox.session.sandbox
    if sandbox is None:
        return "off"
    held = sandbox.status.label if sandbox.enforced else "commands are not held"
    network = "with network" if sandbox.network else "no network"
    return "; ".join(part for part in (f"{held}, {network}" if sandbox.enforced else held, sandbox.why_not) if part)


def _side_queries(workspace: Workspace) -> str:
    wanted = workspace.settings.side_queries
    return DailyCap(workspace.home, wanted.daily_cap_usd).told() if wanted.enabled else "off"


def _window(session: Session) -> str:
    meter = session.journal.main.state.meter
    if meter is None or meter.tokens is None:
        return ""
    share = f" ({100 * meter.tokens / meter.window:.0f} %)" if meter.window else ""  # as in the footer
    return f"{meter.tokens:,} of {meter.window:,} tokens{share}"
