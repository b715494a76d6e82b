"""What is approved is a definition and the project's files that it names: another digest is another decision."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clew.hooks.definitions import HookDefinition
from clew.hooks.digests import MAX_FILE_BYTES, TooManyNames, digest_of, named_files, stray_file, words_of

from .conftest import Files


def digest(files: Files, hook: HookDefinition) -> str:
    return digest_of(hook, str(files.root))


def script(files: Files, name: str = "check.sh", text: str = "exit 0\n") -> Path:
    path = files.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"moment": "PostToolUse"}, False),
        ({"matcher": "Edit"}, False),
        ({"command": "check.sh -y"}, False),
        ({"timeout_s": 61.0}, False),
        ({"shell": "bash"}, False),
        ({"scope": "claude_user"}, False),
        ({"scope": "claude_local"}, True),
        ({"scope": "project"}, True),
        ({"source": "elsewhere"}, True),
    ],
)
def test_every_part_of_a_definition_counts(files: Files, change: dict[str, object], same: bool) -> None:
    hook = files.hook("check.sh -x", matcher="Bash")
    assert (digest(files, replace(hook, **change)) == hook.digest) is same


def test_parts_do_not_run_into_each_other(files: Files) -> None:
    assert files.hook("b c", matcher="a").digest != files.hook("c", matcher="a b").digest


@pytest.mark.parametrize(
    "command",
    [
        "./check.sh",
        "check.sh",
        "sh check.sh --all",
        "$CLAUDE_PROJECT_DIR/check.sh",
        '"$CLAUDE_PROJECT_DIR"/check.sh',
        '"${CLAUDE_PROJECT_DIR}/check.sh"',
        "${CLEW_PROJECT_DIR}/check.sh",
        "python3 -u ./check.sh",
        "cd / && sh ./check.sh; true",
        "sh <check.sh",
        "cat check.sh|sh",
        "sh -c 'set -e; ./check.sh || exit 2'",
        """bash -c "sh -c './check.sh'" """,
        'sh -c "$(cat check.sh)"',
        "`cat check.sh`",
        'eval "`cat ./check.sh`"',
        "env X=1 ./check.sh",
        "tool --script=./check.sh",
        "SCRIPT=check.sh; . ./$SCRIPT",
        "PATH=/bin:./check.sh tool",
        '"$(git rev-parse --show-toplevel)/check.sh"',
        "$(git rev-parse --show-toplevel)/check.sh",
        "./check\\.sh",
        "'./check.sh",
        "./sub/../check.sh",
        "(./check.sh)",
        "{ ./check.sh; }",
        "true &&./check.sh",
        "true >log.txt ./check.sh",
        "./check.sh > out.txt 2>&1",
        "cmd > >(./check.sh)",
        "cmd '>' check.sh",
        "sh 0<>check.sh",
    ],
)
def test_a_named_file_counts_however_it_is_named(files: Files, command: str) -> None:
    path = script(files)
    hook = files.hook(command)
    assert digest(files, hook) == hook.digest
    path.write_text("exit 2\n")
    assert digest(files, hook) != hook.digest


def test_a_file_in_a_folder_that_the_command_enters(files: Files) -> None:
    path = script(files, "tools/hooks/check.sh")
    for command in ("cd tools/hooks && ./check.sh", "cd $CLAUDE_PROJECT_DIR/tools/hooks; sh check.sh"):
        hook = files.hook(command)
        path.write_text(f"# for {command}\n")
        assert digest(files, hook) != hook.digest


@pytest.mark.parametrize("command", ["sh tools/*.sh", "for f in ./tools/*; do . $f; done", "cd tools && cat ?.sh | sh"])
def test_files_that_a_pattern_names(files: Files, command: str) -> None:
    path = script(files, "tools/a.sh")
    hook = files.hook(command)
    path.write_text("exit 2\n")
    changed = digest(files, hook)
    assert changed != hook.digest
    script(files, "tools/b.sh")
    assert digest(files, hook) not in (changed, hook.digest)


def test_a_folder_on_the_way_that_is_a_link(files: Files, tmp_path: Path) -> None:
    script(files, "inside/check.sh")
    hook = files.hook("./tools/check.sh")
    seen = {hook.digest}
    for target in (files.root / "inside", tmp_path / "outside", tmp_path / "elsewhere"):
        target.mkdir(exist_ok=True)
        (target / "check.sh").write_text("exit 0\n")
        (files.root / "tools").unlink(missing_ok=True)
        (files.root / "tools").symlink_to(target)
        assert digest(files, hook) not in seen
        seen.add(digest(files, hook))


def test_a_module_of_python(files: Files) -> None:
    path = script(files, "tools/check.py")
    hook = files.hook("python3 -m tools.check --strict")
    path.write_text("import os\n")
    assert digest(files, hook) != hook.digest


def test_a_path_below_the_persons_home(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(files.root.parent))
    path = script(files)
    for command in ("~/project/check.sh", "$HOME/project/check.sh", '"${HOME}"/project/check.sh'):
        hook = files.hook(command)
        path.write_text(f"# for {command}\n")
        assert digest(files, hook) != hook.digest


@pytest.mark.parametrize(
    "command",
    [
        "jq . >> log.txt",
        "cat >log.txt",
        "cat 2>> ./log.txt",
        'cat >> "$CLAUDE_PROJECT_DIR/log.txt"',
        "cat &> log.txt",
        "cat | tee -a log.txt",
        "sh -c 'cat >> log.txt'",
    ],
)
def test_what_a_hook_writes_is_not_what_it_runs(files: Files, command: str) -> None:
    script(files, "log.txt")
    hook = files.hook(command)
    script(files, "log.txt", "a second line\n")
    assert digest(files, hook) == hook.digest


def changes(root: Path) -> list[tuple[str, Callable[[], object]]]:
    path, other = root / "check.sh", root / "other.sh"

    def link(target: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    def folder() -> None:
        path.unlink()
        path.mkdir()

    def pipe() -> None:
        path.rmdir()
        os.mkfifo(path)

    return [
        ("missing", path.unlink),
        ("there", lambda: path.write_text("exit 0\n")),
        ("link inside", lambda: link(other)),
        ("the link's file changed", lambda: other.write_text("exit 9\n")),
        ("link outside", lambda: link(Path("/bin/true"))),
        ("dangling link", lambda: link(root / "nowhere")),
        ("directory", folder),
        ("pipe", pipe),
    ]


def test_what_kind_of_thing_it_is_counts(files: Files) -> None:
    script(files)
    script(files, "other.sh", "other\n")
    hook = files.hook("./check.sh")
    first, before = hook.digest, hook.digest
    for name, change in changes(files.root):
        change()
        after = digest(files, hook)
        assert after != before, name
        assert (after == first) is (name == "there"), name
        before = after


def test_a_large_file_is_told_by_its_size_and_times(files: Files) -> None:
    path = files.root / "big"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    hook = files.hook("./big")
    assert digest(files, hook) == hook.digest
    os.utime(path, ns=(1, 1))
    assert digest(files, hook) != hook.digest


def test_what_lies_outside_the_project_does_not_count(files: Files, tmp_path: Path) -> None:
    outside = tmp_path / "outside.sh"
    outside.write_text("a")
    hook = files.hook(f"{outside} ../outside.sh")
    outside.write_text("b")
    assert digest(files, hook) == hook.digest


def test_the_users_own_settings_need_no_files(files: Files) -> None:
    path = script(files)
    hook = files.hook("./check.sh", scope="user")
    path.write_text("b")
    assert digest(files, hook) == hook.digest


def test_a_user_hook_of_claude_code_that_names_a_project_file_is_one_decision_per_content(files: Files) -> None:
    path = script(files)
    hook = files.hook("$CLAUDE_PROJECT_DIR/check.sh", scope="claude_user")
    path.write_text("b")
    assert digest(files, hook) != hook.digest


def test_where_the_project_is_the_home_directory_the_users_files_are_the_users(files: Files) -> None:
    (files.person / "mine.sh").write_text("a")
    hook = files.hook("~/mine.sh", scope="claude_user")
    assert named_files(hook, str(files.person)) == []
    assert named_files(replace(hook, scope="claude_project"), str(files.person)) == [str(files.person / "mine.sh")]


def test_a_command_that_names_too_much_is_refused(files: Files) -> None:
    with pytest.raises(TooManyNames):
        files.hook(" ".join(f"word{number}" for number in range(3_000)))


def test_patterns_over_the_whole_system_are_not_followed(files: Files) -> None:
    for command in ("ls /usr/bin/*", "ls /*/*/*/*", "cat ../*", "sh */*/*/x.sh"):
        assert digest(files, files.hook(command)) == files.hook(command).digest
        assert named_files(files.hook(command), str(files.root)) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.sampled_from("abs./*?[] '\"\\$(){}|&;<>=:`\n~-m!"), max_size=60))
def test_any_command_has_a_digest(files: Files, command: str) -> None:
    script(files, "a")
    script(files, "b/s")
    hook = files.hook(command)
    assert digest(files, hook) == hook.digest
    stray_file(hook, str(files.root), str(files.root / "b"))


def test_a_script_of_the_same_name_elsewhere_is_a_stray(files: Files) -> None:
    root = str(files.root)
    script(files, "check.sh")
    sub = files.root / "sub"
    sub.mkdir()
    hook = files.hook("./check.sh")
    assert stray_file(hook, root, root) == ""
    assert stray_file(hook, root, str(sub)) == ""
    script(files, "sub/check.sh")
    assert stray_file(hook, root, str(sub)) == "sub/check.sh"
    assert stray_file(files.hook("sh check.sh"), root, str(sub)) == "sub/check.sh"
    assert stray_file(files.hook("$CLAUDE_PROJECT_DIR/check.sh"), root, str(sub)) == ""
    assert stray_file(files.hook("echo check.sh"), root, str(sub)) == ""
    outside = files.root.parent / "outside"
    outside.mkdir()
    (outside / "check.sh").write_text("x")
    assert stray_file(hook, root, str(outside)) == "../outside/check.sh"
    (sub / "check.sh").unlink()
    (sub / "check.sh").symlink_to(files.root / "check.sh")
    assert stray_file(hook, root, str(sub)) == ""


@given(st.text(alphabet=st.sampled_from("ab./ '\"\\$(){}|&;<>=:`\n\t-~mé\0\ud800"), max_size=60))
def test_any_text_has_words(command: str) -> None:
    assert all(word.text for word in words_of(command))


@given(st.text(alphabet="""'"\\`$( """, min_size=200, max_size=600))
def test_many_quotes_are_no_more_work_than_many_words(command: str) -> None:
    assert len(words_of(command)) < 5_000
