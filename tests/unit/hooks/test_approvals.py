"""The store of decisions: exactly what was approved, where it was approved, kept when damaged."""

import os
import stat
import threading
from pathlib import Path

from msgspec.structs import replace

from clew.hooks.approvals import FILE_NAME, HookApprovals
from clew.permissions.own_state import own_state

from .conftest import Files


def test_nothing_is_approved_at_first(files: Files) -> None:
    approvals = HookApprovals(files.home)
    assert not approvals.is_approved(files.hook("x"), files.root)
    assert not (files.home / FILE_NAME).exists()
    assert not approvals.problem


def test_the_users_own_need_no_approval(files: Files) -> None:
    approvals = HookApprovals(files.home)
    for scope in ("user", "given"):
        assert approvals.is_approved(files.hook("x", scope=scope), files.root)
    for scope in ("project", "local", "claude_user", "claude_project", "claude_local"):
        assert not approvals.is_approved(files.hook("x", scope=scope), files.root)


def test_what_was_approved_is_remembered_by_its_digest(files: Files) -> None:
    hook = files.hook("x")
    assert HookApprovals(files.home).approve([hook], files.root) == 1
    fresh = HookApprovals(files.home)
    assert fresh.is_approved(hook, files.root)
    assert fresh.is_approved(replace(hook, scope="claude_local", source="elsewhere"), files.root)
    assert not fresh.is_approved(replace(hook, digest="0" * 64), files.root)
    assert stat.S_IMODE((files.home / FILE_NAME).stat().st_mode) == 0o600
    assert HookApprovals(files.home).approve([hook, files.hook("own", scope="user")], files.root) == 0


def test_another_project_is_another_decision(files: Files, tmp_path: Path) -> None:
    hook, everywhere = files.hook("x"), files.hook("x", scope="claude_user")
    approvals = HookApprovals(files.home)
    approvals.approve([hook, everywhere], files.root)
    other = tmp_path / "other"
    other.mkdir()
    assert not approvals.is_approved(hook, other)
    assert approvals.is_approved(everywhere, other)
    (tmp_path / "alias").symlink_to(files.root)
    assert approvals.is_approved(hook, tmp_path / "alias")


def test_a_project_that_was_replaced_asks_again(files: Files, tmp_path: Path) -> None:
    hook = files.hook("x")
    HookApprovals(files.home).approve([hook], files.root)
    files.root.rename(tmp_path / "moved")
    files.root.mkdir()
    assert not HookApprovals(files.home).is_approved(hook, files.root)
    files.root.rmdir()
    assert not HookApprovals(files.home).is_approved(hook, files.root)
    assert HookApprovals(files.home).approve([hook], files.root) == 0


def test_no_tool_may_touch_it(files: Files) -> None:
    assert own_state(str(files.home / FILE_NAME), str(files.home)) == "sealed"


def test_it_can_be_taken_back(files: Files) -> None:
    hooks = [files.hook("x"), files.hook("y"), files.hook("z", scope="claude_user")]
    approvals = HookApprovals(files.home)
    approvals.approve(hooks, files.root)
    assert approvals.revoke(hooks[:1], files.root) == 1
    assert [approvals.is_approved(hook, files.root) for hook in hooks] == [False, True, True]
    assert approvals.revoke(hooks[:1], files.root) == 0
    assert {one.command for one in approvals.approved_for(files.root)} == {"y", "z"}
    assert approvals.revoke_digests([hook.digest for hook in hooks], files.root) == 2
    assert approvals.approved_for(files.root) == ()


def test_approvals_of_other_projects_stay(files: Files, tmp_path: Path) -> None:
    hook = files.hook("x")
    other = tmp_path / "other"
    other.mkdir()
    approvals = HookApprovals(files.home)
    approvals.approve([hook], files.root)
    approvals.approve([hook], other)
    approvals.revoke_digests([hook.digest], files.root)
    assert not approvals.is_approved(hook, files.root)
    assert approvals.is_approved(hook, other)


def test_a_decision_of_another_process_is_seen(files: Files) -> None:
    hook = files.hook("x")
    here, elsewhere = HookApprovals(files.home), HookApprovals(files.home)
    assert not here.is_approved(hook, files.root)
    elsewhere.approve([hook], files.root)
    assert here.is_approved(hook, files.root)
    elsewhere.revoke([hook], files.root)
    assert not here.is_approved(hook, files.root)


def test_a_damaged_file_approves_nothing_and_is_kept(files: Files) -> None:
    path = files.home / FILE_NAME
    for damage in (b"{", b"[]", b'{"approved": 5}', b"\xff\xff", b"[" * 100_000, b'"' + b"x" * 5_000_000 + b'"'):
        path.write_bytes(damage)
        approvals = HookApprovals(files.home)
        assert not approvals.is_approved(files.hook("x"), files.root)
        assert "damaged" in approvals.problem
        assert path.read_bytes() == damage
        approvals.approve([files.hook("x")], files.root)
        assert approvals.problem == ""
        assert approvals.is_approved(files.hook("x"), files.root)
        assert damage in [kept.read_bytes() for kept in files.home.glob(f"{FILE_NAME}.damaged-*")]


def test_decisions_made_at_once_are_all_kept(files: Files) -> None:
    hooks = [files.hook(f"echo {number}") for number in range(12)]
    threads = [threading.Thread(target=HookApprovals(files.home).approve, args=([hook], files.root)) for hook in hooks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(HookApprovals(files.home).is_approved(hook, files.root) for hook in hooks)


def test_a_home_that_is_missing_is_made_for_this_user_only(files: Files, tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    HookApprovals(home).approve([files.hook("x")], files.root)
    assert stat.S_IMODE(os.stat(home).st_mode) == 0o700
