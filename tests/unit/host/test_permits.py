"""Permissions of a running session: rules that are added, modes that change, results that may be read back."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from clew.agents.permits import Permits, SavedRules
from clew.permissions.access import Access, FetchAccess, FileAccess, ShellAccess, ToolAccess
from clew.permissions.conditions import with_rules
from clew.permissions.policy import make_policy
from clew.permissions.rules import parse_rule


def permits(tmp_path: Path, saved: list[str] | None = None) -> Permits:
    (tmp_path / "project").mkdir(exist_ok=True)
    policy = make_policy(root=str(tmp_path / "project"), home=str(tmp_path), clew_home=str(tmp_path / ".clew"))
    kept = saved if saved is not None else []
    return Permits(policy, save=kept.extend, results_dir=tmp_path / ".clew" / "projects" / "k" / "s" / "tool-results")


def run(tmp_path: Path, command: str) -> ShellAccess:
    return ShellAccess(command=command, cwd=str(tmp_path / "project"))


def test_always_holds_from_now_on_and_is_saved(tmp_path: Path) -> None:
    saved: list[str] = []
    one = permits(tmp_path, saved)
    access = (run(tmp_path, "make test"),)
    assert one.judge(access).decision == "ask"
    one.remember(("Bash(make test)", "not a rule at all("))
    assert one.judge(access).decision == "allow"
    assert saved == ["Bash(make test)"]


def test_modes_change_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    one = permits(tmp_path)
    write = (FileAccess(op="write", path="x.txt", cwd=str(tmp_path / "project")),)
    assert one.judge(write).decision == "ask"
    one.set_mode("acceptEdits")
    assert one.judge(write).decision == "allow"
    one.set_mode("plan")
    assert one.judge(write).decision == "deny"
    with pytest.raises(ValueError, match="wild"):
        one.set_mode("wild")


def test_tb_4_a_spilled_result_may_be_read_back_and_nothing_beside_it(tmp_path: Path) -> None:
    one = permits(tmp_path)
    results = tmp_path / ".clew" / "projects" / "k" / "s" / "tool-results"
    results.mkdir(parents=True)
    (results / "call.txt").write_text("long")
    (results / "link").symlink_to(tmp_path / ".clew" / "settings.json")

    def read(path: Path) -> str:
        return one.judge((FileAccess(op="read", path=str(path), cwd="/"),)).decision

    assert read(results / "call.txt") == "allow"
    assert read(results / "link") != "allow"
    assert read(results / ".." / ".." / "s.jsonl") != "allow"
    assert one.judge((FileAccess(op="write", path=str(results / "call.txt"), cwd="/"),)).decision != "allow"


@pytest.mark.parametrize(
    ("access", "only"),
    [
        (ShellAccess(command="make test", cwd="@"), False),
        (ShellAccess(command="make test", cwd="@", sandboxed=True), False),
        (ShellAccess(command="make test", cwd="@", leaves_sandbox=True), True),
        (ShellAccess(command="ls", cwd="@", leaves_sandbox=True), True),
        (ShellAccess(command="echo x > .git/config", cwd="@"), True),
        (ShellAccess(command="cat ~/.ssh/id_rsa", cwd="@"), True),
        (ShellAccess(command="curl example.org", cwd="@"), True),
        (ShellAccess(command="git show HEAD:.env", cwd="@", sandboxed=True), True),
        (ShellAccess(command="rm -rf build", cwd="@", sandboxed=True), False),
        (ShellAccess(command="x" * 200_000, cwd="@"), True),
        (ShellAccess(command="$(echo rm) x", cwd="@"), True),
        (FileAccess(op="write", path="a.py", cwd="@"), False),
        (FileAccess(op="read", path="/etc/hosts", cwd="@"), False),
        (FileAccess(op="write", path=".git/hooks/pre-commit", cwd="@"), True),
        (FileAccess(op="read", path=".env", cwd="@"), True),
        (FetchAccess(url="https://example.org/x"), False),
        (ToolAccess(tool="Other"), False),
    ],
)
def test_what_only_a_person_may_answer(tmp_path: Path, access: Access, only: bool) -> None:
    one = permits(tmp_path)
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").write_text("a key")
    one.policy = with_rules(one.policy, (parse_rule("Bash(curl *)", "ask"),))
    if isinstance(access, ShellAccess | FileAccess):
        access = replace(access, cwd=str(tmp_path / "project"))
    assert one.only_a_person((access,)) is only
    assert one.only_a_person((ToolAccess(tool="Other"), access)) is only
    one.policy = replace(one.policy, trusted=False)
    assert one.only_a_person((access,)) is only


def test_saved_rules_come_back_and_a_damaged_file_grants_nothing(tmp_path: Path) -> None:
    store = SavedRules(tmp_path / "key")
    assert store.load() == ()
    store.add(("Bash(make test)",))
    store.add(("Bash(make test)", "Read(/etc/hosts)"))
    assert [rule.text for rule in store.load()] == ["Bash(make test)", "Read(/etc/hosts)"]
    path = tmp_path / "key" / "permissions.json"
    assert path.stat().st_mode & 0o077 == 0
    path.write_text('{"allow": ["Bash(make test)", 7')
    assert store.load() == ()
