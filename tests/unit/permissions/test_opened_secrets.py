"""A rule that names one secret file opens exactly that file, to tools and commands alike; nothing wider does."""

import os

import pytest

from clew.permissions.access import FileAccess, FileOp, Mode, ShellAccess
from clew.permissions.conditions import with_rules
from clew.permissions.policy import Policy, judge, make_policy
from clew.permissions.rules import parse_rule
from unit.permissions.world import World

READS = ("cat .env", "head -1 .env", "grep KEY .env", "wc -l < .env", "cd src && cat ../.env", "cat ./.env a.txt")


def policy(world: World, *allow: str, deny: str = "", ask: str = "", mode: Mode = "default") -> Policy:
    rules = [parse_rule(text, "allow") for text in allow]
    rules += [parse_rule(text, "deny") for text in [deny] if text] + [parse_rule(text, "ask") for text in [ask] if text]
    made = make_policy(root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home), mode=mode)
    return with_rules(made, tuple(rules))


def file(world: World, path: str, used: Policy, op: FileOp = "read") -> str:
    return judge(FileAccess(op=op, path=path, cwd=str(world.workspace)), used).decision


def shell(world: World, command: str, used: Policy) -> str:
    return judge(ShellAccess(command=command, cwd=str(world.workspace)), used).decision


@pytest.fixture(autouse=True)
def secrets(world: World) -> None:
    for name in (".env", ".env.local", "sub/.env", "server.key"):
        (world.workspace / name).write_text("KEY=abc\n")


def test_without_a_rule_every_reading_asks(world: World) -> None:
    used = policy(world)
    assert [file(world, name, used) for name in (".env", ".env.local", "sub/.env", "server.key")] == ["ask"] * 4
    assert [command for command in READS if shell(world, command, used) != "ask"] == []


@pytest.mark.parametrize("rule", ["Read(.env)", "Read(./.env)", "Read({WORKSPACE}/.env)", "Read(//{WORKSPACE}/.env)"])
def test_a_rule_for_the_file_opens_it_to_tools_and_commands(world: World, rule: str) -> None:
    used = policy(world, world.fill(rule.replace("//{", "/{")))
    assert file(world, ".env", used) == "allow"
    assert [command for command in READS if shell(world, command, used) != "allow"] == []


def test_it_opens_nothing_else(world: World) -> None:
    used = policy(world, "Read(.env)")
    assert [file(world, name, used) for name in (".env.local", "sub/.env", "server.key")] == ["ask"] * 3
    for command in ("cat .env.local", "cat sub/.env", "cat .env server.key", "cat .env*", "cp .env x", "cat ../.env"):
        assert shell(world, command, used) == "ask", command


def test_the_name_stays_protected_against_writing(world: World) -> None:
    used = policy(world, "Read(.env)", "Edit(.env)", mode="acceptEdits")
    assert [file(world, ".env", used, op) for op in ("write", "delete")] == ["ask", "ask"]
    for command in ("echo x > .env", "cp a.txt .env", "sed -i s/a/b/ .env", "touch .env"):
        assert shell(world, command, used) == "ask", command
    assert file(world, ".env", policy(world, "Read(.env)", mode="bypassPermissions"), "write") == "ask"


@pytest.mark.parametrize(
    "rule", ["Read(**)", "Read(.env*)", "Read(*)", "Read", "Read(.e?v)", "Read(.[e]nv)", "Read(./)"]
)
def test_a_pattern_that_happens_to_match_opens_nothing(world: World, rule: str) -> None:
    used = policy(world, rule)
    assert file(world, ".env", used) == "ask"
    assert shell(world, "cat .env", used) == "ask"


def test_deny_and_ask_rules_close_it_again(world: World) -> None:
    assert file(world, ".env", policy(world, "Read(.env)", deny="Read(.env)")) == "deny"
    assert shell(world, "cat .env", policy(world, "Read(.env)", deny="Read(**/.env)")) == "deny"
    assert file(world, ".env", policy(world, "Read(.env)", ask="Read(.env)")) == "ask"
    assert shell(world, "cat .env", policy(world, "Read(.env)", ask="Read")) == "ask"


def test_a_file_that_leads_elsewhere_is_not_the_one_that_was_named(world: World) -> None:
    (world.workspace / ".env").unlink()
    (world.workspace / ".env").symlink_to(world.home / ".ssh" / "id_rsa")
    used = policy(world, "Read(.env)")
    assert file(world, ".env", used) == "ask"
    assert shell(world, "cat .env", used) == "ask"


def test_a_link_that_comes_after_the_rule_is_seen(world: World) -> None:
    used = policy(world, "Read(.env)")
    (world.workspace / ".env").unlink()
    (world.workspace / ".env").symlink_to(world.home / ".ssh" / "id_rsa")
    assert file(world, ".env", used) == "ask"
    os.unlink(world.workspace / ".env")
    os.link(world.home / ".ssh" / "id_rsa", world.workspace / ".env")
    assert file(world, ".env", used) == "ask"


def test_a_key_outside_the_workspace_can_be_named(world: World) -> None:
    used = policy(world, "Read(~/.ssh/id_rsa)")
    assert file(world, "~/.ssh/id_rsa", used) == "allow"
    assert file(world, "~/.ssh/id_ed25519", used) == "ask"


def test_a_rule_of_the_project_itself_opens_nothing(world: World) -> None:
    made = make_policy(root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home))
    used = with_rules(made, (parse_rule("Read(.env)", "allow", "project"),))
    assert file(world, ".env", used) == "ask"


def test_own_state_stays_closed_whatever_a_rule_says(world: World) -> None:
    used = policy(world, f"Read({world.clew_home}/vault.json)", "Read(~/.clew/vault.json)")
    assert file(world, str(world.clew_home / "vault.json"), used) == "deny"
    assert shell(world, f"cat {world.clew_home}/vault.json", used) == "deny"
