"""Lookups that need no session: the hub answers them for a place, as a session there would."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace

from clew.assembly.place import CAPABILITIES, answer_at
from clew.cli.sub.place import make_hub
from clew.host.workspace import Workspace, open_workspace, remember_trust
from clew.llm.scripted import Say
from clew.mcp.files import set_disabled
from clew.parts.mcp.listing import places_at
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.hooks import ApproveHooks, ListHooks
from clew.protocol.lookups.mcp import ApproveMcp, ListMcp
from clew.protocol.lookups.place import ListSessions, RunChecks
from clew.protocol.lookups.rules_and_models import AllowRule, ListModels, ListRules, RemoveRule
from clew.protocol.lookups.tasks import ListTasks
from e2e.command import Place
from unit.host.lab import lab


def place_at(tmp_path: Path, **settings: object) -> Workspace:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    (home / "settings.json").write_text(json.dumps(settings))
    return open_workspace(project, {"HOME": str(tmp_path), "CLEW_HOME": str(home)}, lenient=True, keys=False)


def test_every_capability_in_the_table_has_its_answers() -> None:
    for capability in set(CAPABILITIES.values()):
        assert callable(import_module(f"clew.parts.{capability}.at_place").answer)


async def test_what_needs_a_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LookupRefused, match="session"):
        await make_hub().look_up(place_at(tmp_path), ListTasks())


async def test_rules_of_the_settings_and_saved_ones_are_told_apart(tmp_path: Path) -> None:
    place = place_at(tmp_path, permissions={"deny": ["Bash(rm *)"], "allow": ["Bash(ls *)"]})
    for rule in ("Bash(ls *)", "Read(.env)"):
        await answer_at(place, AllowRule(rule=rule))
    listed = await answer_at(place, ListRules())
    assert [(row.decision, row.rule, row.scope, row.removable) for row in listed.rules] == [
        ("deny", "Bash(rm *)", "user", False),
        ("allow", "Bash(ls *)", "user", False),
        ("allow", "Bash(ls *)", "project", True),
        ("allow", "Read(.env)", "project", True),
    ]
    assert "Read(.env)" in Path(listed.saved_in).read_text()


async def test_a_rule_that_is_not_understood_keeps_nobody_from_changing_a_saved_one(tmp_path: Path) -> None:
    place = place_at(tmp_path, permissions={"allow": ["Bash(git"]})
    with pytest.raises(LookupRefused, match="Bash"):
        await answer_at(place, ListRules())
    saved = await answer_at(place, AllowRule(rule="Bash(make test)"))
    assert [row.rule for row in saved.rules] == ["Bash(make test)"]
    assert (await answer_at(place, RemoveRule(rule="Bash(make test)"))).rules == ()
    with pytest.raises(LookupRefused, match="not saved"):
        await answer_at(place, RemoveRule(rule="Bash(make test)"))


async def test_an_approval_can_be_taken_back_when_its_hook_is_gone(tmp_path: Path) -> None:
    claude = tmp_path / ".claude" / "settings.json"
    claude.parent.mkdir()
    claude.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo mine"}]}]}}))
    place = place_at(tmp_path)
    (hook,) = (await answer_at(place, ListHooks())).hooks
    assert hook.state == "unapproved"
    approved = await answer_at(place, ApproveHooks(digests=(hook.digest,)))
    assert [row.state for row in approved.hooks] == ["approved"]
    claude.unlink()
    listed = await answer_at(place, ListHooks())
    assert (listed.hooks, [(row.digest, row.command) for row in listed.approvals]) == ((), [(hook.digest, "echo mine")])
    with pytest.raises(LookupRefused, match="changed"):
        await answer_at(place, ApproveHooks(digests=(hook.digest,)))
    assert (await answer_at(place, ApproveHooks(digests=(hook.digest,), approved=False))).approvals == ()


async def test_a_server_is_approved_without_being_started_also_where_it_is_switched_off(tmp_path: Path) -> None:
    started = tmp_path / "started"
    place = place_at(tmp_path)
    program = {"command": "/bin/sh", "args": ["-c", f"echo > {started}"]}
    (place.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": program, "off": program}}))
    remember_trust(place.home, place.root)
    place = place_at(tmp_path)
    set_disabled(places_at(place).file_of("local"), "off", disabled=True)
    before = await answer_at(place, ListMcp(connect=False))
    assert ([row.state for row in before.servers], before.approved) == (["unapproved", "off"], ())
    after = await answer_at(place, ApproveMcp(digests=tuple(row.digest for row in before.servers)))
    assert [row.state for row in after.servers] == ["waiting", "off"]
    assert set(after.approved) == {row.digest for row in before.servers}
    assert not started.exists()
    assert [row.name for row in (await answer_at(place, ListMcp(server="off", connect=False))).servers] == ["off"]
    with pytest.raises(LookupRefused, match="changed"):
        await answer_at(place, ApproveMcp(digests=("0" * 64,)))
    none = await answer_at(place, ApproveMcp(digests=after.approved, approved=False))
    assert (none.approved, [row.state for row in none.servers]) == ((), ["unapproved", "off"])


async def test_a_session_lists_the_rules_that_its_place_has(tmp_path: Path) -> None:
    async with lab(tmp_path) as session:
        after = await session.look_up(AllowRule(rule="Bash(make test)"))
        place = session.workspace
        assert await make_hub().look_up(place, ListRules()) == after


async def test_models_and_sessions_of_a_place_are_those_that_a_session_there_lists(tmp_path: Path) -> None:
    server = {
        "baseUrl": "https://m.test/v1",
        "dialect": "openai-chat",
        "keyEnv": "CORP_KEY",
        "models": {"big": {}},
    }
    place = place_at(tmp_path, providers={"corp": server})
    place = replace(place, env={**place.env, "CORP_KEY": "k"})
    async with lab(tmp_path, Say("done")) as session:
        await session.say("count the beans")
        (row,) = (await answer_at(place, ListSessions())).sessions
        (same,) = (await session.look_up(ListSessions())).sessions
        assert (row.session_id, row.title) == (same.session_id, same.title)
        assert "beans" in row.title
    assert "corp/big" in (await answer_at(place, ListModels())).models


COMMANDS = (
    ("permissions", "list"),
    ("hooks", "list"),
    ("doctor",),
    ("mcp", "list"),
    ("mcp", "logout", "nobody"),
    ("sessions",),
    ("recap",),
    ("rewind", "nobody"),
    ("auth", "status"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_sub_command_that_only_asks_loads_nothing_of_a_session(words: tuple[str, ...], tmp_path: Path) -> None:
    place = Place(tmp_path, "http://127.0.0.1:1")
    code = f"import sys; from clew.cli.main import run; run({list(words)!r}); print('LOADED', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=place.project, env=place.env, check=True
    )
    loaded = done.stdout.rpartition("LOADED ")[2].split()
    assert "clew.assembly.place" in loaded
    assert [
        name for name in loaded if name.startswith(("clew.host.door", "clew.engine", "clew.assembly.opening"))
    ] == []


async def test_a_directory_that_was_removed_is_a_finding_and_no_failure(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    place.root.rmdir()
    checks = {row.name: row for row in (await answer_at(place, RunChecks())).checks}
    assert checks["trust"].state == "problem"
    assert "does not exist any more" in checks["trust"].summary
