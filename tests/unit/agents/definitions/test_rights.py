"""What a kind leaves of tools and rights: its tools, its bounds, and the one decision about prompt and tools."""

from pathlib import Path

import pytest

from clew.agents.definitions.kinds import Kinds
from clew.agents.permits import AgentRights, PathBounds, Permits
from clew.agents.runner import MAIN, AgentSpec
from clew.agents.toolbox import AgentTools, SessionTools, open_tools
from clew.config.errors import SettingsError
from clew.host.prompt_bytes import main_prompt
from clew.host.request import SessionRequest
from clew.host.workspace import open_workspace, remember_trust
from clew.permissions.access import FileAccess, FileOp, ShellAccess
from clew.permissions.policy import make_policy
from clew.protocol.ids import AgentId
from clew.tools.toolset import is_chosen

AGENT = AgentSpec(
    kind="reviewer", system=("You review.", "Twice."), tools=("Read", "mcp__git"), without=("mcp__git__push",)
)
COORDINATOR = AgentSpec(kind="coordinator", system=("You coordinate.",), tools=("Agent",))


def request(system_prompt: str | None = None, append: str | None = None) -> SessionRequest:
    return SessionRequest(cwd=Path("/p"), env={}, system_prompt=system_prompt, append_system_prompt=append)


@pytest.mark.parametrize(
    ("tool", "names", "without", "has"),
    [
        ("Read", None, (), True),
        ("Read", ("Read",), (), True),
        ("Read", ("Grep",), (), False),
        ("Read", None, ("Read",), False),
        ("Read", ("Read",), ("Read",), False),
        ("mcp__git__log", ("mcp__git",), (), True),
        ("mcp__git__log", ("mcp__git__*",), (), True),
        ("mcp__github__log", ("mcp__git",), (), False),
        ("mcp__git__push", ("mcp__git",), ("mcp__git__push",), False),
        ("Read", (), (), False),
    ],
)
def test_which_tools_an_agent_has(
    tool: str, names: tuple[str, ...] | None, without: tuple[str, ...], has: bool
) -> None:
    assert is_chosen(tool, names, without) is has


def rights(tmp_path: Path, *, bounds: PathBounds | None = None) -> AgentRights:
    policy = make_policy(
        root=str(tmp_path), home=str(tmp_path), clew_home=str(tmp_path / ".clew"), mode="bypassPermissions"
    )
    return AgentRights(Permits(policy, save=lambda rules: None), bounds=bounds)


@pytest.mark.parametrize(
    ("op", "path", "decision"),
    [
        ("read", "notes.txt", "allow"),
        ("list", ".", "allow"),
        ("write", "wanted.json", "allow"),
        ("write", "other.json", "deny"),
        ("delete", "notes.txt", "deny"),
        ("write", "link.json", "deny"),
        ("read", "/etc/hostname", "deny"),
        ("read", "../outside", "deny"),
    ],
)
def test_bounds_narrow_also_where_nothing_asks(tmp_path: Path, op: FileOp, path: str, decision: str) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "other.json")
    real = tmp_path.resolve()
    bounds = PathBounds(reads=(str(real),), edits=(str(real / "wanted.json"),))
    verdict = rights(tmp_path, bounds=bounds).judge((FileAccess(op=op, path=path, cwd=str(tmp_path)),))
    assert verdict.decision == decision, verdict.why


def test_bounds_run_no_command_and_widen_nothing(tmp_path: Path) -> None:
    sealed = str((tmp_path / ".clew" / "settings.json").resolve())
    bounded = rights(tmp_path, bounds=PathBounds(reads=(str(tmp_path.resolve()),), edits=(sealed,)))
    assert bounded.judge((ShellAccess(command="ls", cwd=str(tmp_path)),)).decision == "deny"
    assert bounded.judge((FileAccess(op="write", path=sealed, cwd="/"),)).decision == "deny"
    assert rights(tmp_path).judge((ShellAccess(command="ls", cwd=str(tmp_path)),)).decision == "allow"


def test_prompt_and_tools_come_from_one_decision() -> None:
    own = main_prompt(request(append="Also."), MAIN)
    assert (own.role, own.override, own.append, own.tools) == (None, None, "Also.", None)
    agent = main_prompt(request(append="Also."), AGENT)
    assert (agent.role, agent.append) == ("You review.\n\nTwice.", "Also.")
    assert [agent.has(name) for name in ("Read", "Edit", "mcp__git__log", "mcp__git__push")] == [
        True,
        False,
        True,
        False,
    ]
    assert agent.has_servers
    assert main_prompt(request("Mine."), AGENT).override == "Mine."
    assert main_prompt(request("Mine."), AGENT).tools == AGENT.tools
    coordinator = main_prompt(request(), MAIN, COORDINATOR)
    assert (coordinator.role, coordinator.tools, coordinator.has_servers) == ("You coordinate.", ("Agent",), False)


def test_an_agent_that_should_coordinate_besides_is_refused() -> None:
    with pytest.raises(SettingsError, match="runs as the agent reviewer, which cannot coordinate"):
        main_prompt(request(), AGENT, COORDINATOR)


async def test_a_childs_tools_and_rights_are_those_of_its_kind(tmp_path: Path) -> None:
    home = tmp_path / ".clew"
    env = {"HOME": str(tmp_path), "CLEW_HOME": str(home), "PATH": "/usr/bin:/bin"}
    remember_trust(home, tmp_path)
    place = open_workspace(tmp_path, env, flags={"sandbox.mode": "off", "permissionMode": "bypassPermissions"})
    shared = SessionTools(place, None)
    kinds, parent = Kinds(place), open_tools(shared)

    def child(name: str) -> AgentTools:
        spec = kinds.find(name)
        mode = spec.permission_mode
        return parent.child(AgentId(name), spec.tools, mode=mode, without=spec.without, bounds=spec.bounds)

    try:
        explore = child("Explore")
        assert explore.tools.names == ("Bash", "Read", "Grep", "Glob")
        assert explore.rights.judge((ShellAccess(command="ls", cwd=str(tmp_path)),)).decision == "allow"
        assert explore.rights.judge((ShellAccess(command="touch x", cwd=str(tmp_path)),)).decision == "deny"
        setup = child("statusline-setup")
        assert setup.tools.names == ("Read", "Edit")
        assert setup.rights.judge((FileAccess(op="write", path=".bashrc", cwd=str(tmp_path)),)).decision == "deny"
        assert parent.child(AgentId("a"), None, without=("Bash", "Write")).tools.find("Bash") is None
    finally:
        await shared.close()
