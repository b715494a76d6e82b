"""Files with line counts, commands with exit codes, commits, shell edits."""

import pytest

from clew.ledger.commands import first_program, purpose_of
from clew.ledger.files import changed_lines, patch_changes
from clew.ledger.shell_files import moved_files, removed_files, written_files
from unit.ledger.talk import Talk


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\nb\nc", "a\nB\nc", (1, 1)),
        ("", "x\ny", (2, 0)),
        ("x\ny", "", (0, 2)),
        ("same", "same", (0, 0)),
        ("a\nb", "a\nnew\nb", (1, 0)),
    ],
)
def test_changed_lines(old: str, new: str, expected: tuple[int, int]) -> None:
    assert changed_lines(old, new) == expected


def test_files_read_created_changed_and_failed() -> None:
    talk = Talk().user("work on the importer please").call("Read", file_path="/p/a.py").result("text")
    talk.edit("/p/a.py", "x\ny", "x\nz").write("/p/new.py", "one\ntwo\nthree").edit("/p/b.py", error=True)
    facts = {file.path: file for file in talk.ledger().files}
    assert (facts["/p/a.py"].reads, facts["/p/a.py"].added, facts["/p/a.py"].removed) == (1, 1, 1)
    assert (facts["/p/new.py"].created, facts["/p/new.py"].added) == (True, 3)
    assert (facts["/p/b.py"].edits, facts["/p/b.py"].failed_edits) == (0, 1)
    assert facts["/p/a.py"].source == ("e2", "e3", "e4", "e5")


def test_our_own_diff_blocks_count_more_than_guesses() -> None:
    block = {"kind": "diff", "path": "/p/a.py", "patch": "", "added": 7, "removed": 2, "created": False}
    talk = Talk().user("edit it please now").call("Edit", file_path="/p/a.py", old_string="q", new_string="w")
    fact = talk.result(extra={"display": [block]}).ledger().files[0]
    assert (fact.added, fact.removed) == (7, 2)


def test_patches_of_both_dialects() -> None:
    mine = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n+z\n*** Add File: b.py\n+1\n*** Delete File: c.py\n"
    assert patch_changes(mine) == [("a.py", 2, 1, "update"), ("b.py", 1, 0, "add"), ("c.py", 0, 0, "delete")]
    unified = "--- a/src/x.c\n+++ b/src/x.c\n@@ -1 +1 @@\n-old\n+new\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+hi"
    assert patch_changes(unified) == [("src/x.c", 1, 1, "update"), ("n.txt", 1, 0, "add")]


def test_commands_keep_their_exit_codes() -> None:
    talk = Talk().user("run things please now").bash("make", "done").bash("false", "Exit code 3\nboom", error=True)
    talk.call("Bash", command="sleep 99").result(
        "x", extra={"display": [{"kind": "terminal", "exit_code": None, "background_id": "b1"}]}
    )
    commands = talk.ledger().commands
    assert [(item.exit_code, item.failed, item.background) for item in commands] == [
        (0, False, False),
        (3, True, False),
        (None, False, True),
    ]


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("cd x && uv run pytest -q", "test"),
        ("npm test -- --watch=false", "test"),
        ("mise run test 2>&1 | head", "test"),
        ("go test ./...", "test"),
        ("./gradlew :app:test", "test"),
        ("pnpm check-types", "lint"),
        ("ruff check .", "lint"),
        ("npm run build", "build"),
        ("git status", "git"),
        ("echo 'run pytest later'", "other"),
        ("cat tests/test_x.py", "other"),
        ("ls", "other"),
    ],
)
def test_what_a_command_is_for(command: str, purpose: str) -> None:
    assert purpose_of(command) == purpose


def test_short_names_of_commands() -> None:
    assert first_program("cd /x && FOO=1 git commit -m 'x y'") == "git commit"
    assert first_program("npm run lint -- --fix") == "npm run lint"
    assert first_program("/usr/bin/python3 a.py") == "python3"


def test_commits_tags_pushes_and_pull_requests() -> None:
    talk = Talk().user("release it please now").edit("/p/a.py")
    talk.bash("git commit -am 'x'", "[main 1a2b3c4] fix: parcels with no weight\n 1 file changed")
    talk.bash("git tag v1.2.0").bash("git push origin main", "To host:r.git\n   0000001..1a2b3c4  main -> main")
    talk.bash("gh pr create --fill", "https://github.com/o/r/pull/88")
    ledger = talk.ledger()
    assert [(item.kind, item.ref) for item in ledger.commits] == [
        ("commit", "1a2b3c4"),
        ("tag", "v1.2.0"),
        ("push", "main"),
        ("pr", "#88"),
    ]
    assert ledger.commits[0].subject == "fix: parcels with no weight"
    assert ledger.commits[0].source == ("e4", "e5")


def test_a_failed_push_is_no_push() -> None:
    talk = Talk().user("push it now please").bash("git push", "! [rejected] main -> main", error=True)
    assert talk.ledger().commits == ()


def test_files_written_and_removed_by_the_shell() -> None:
    assert written_files("cat > src/a.py <<'EOF'\nx = 1\ny = 2\nEOF\n") == [("src/a.py", 2, True)]
    assert written_files("sed -i 's/a/b/' src/b.py") == [("src/b.py", 0, False)]
    assert removed_files("git rm a.txt b.txt && ls") == [("a.txt", True), ("b.txt", True)]
    assert removed_files("rm -rf build/*") == []


def test_a_redirection_writes_the_file_it_names_and_nothing_else_does() -> None:
    command = 'mkdir -p src && echo "const a = (b) => b > 1" > src/index.js && echo dist | sudo tee -a .gitignore'
    assert written_files(command) == [("src/index.js", 0, True), (".gitignore", 0, False)]
    quiet = "pytest -q 2>&1 | tail -3; ls x 2> err.txt >&2; make > /dev/null; grep -n 'a > b' *.py; echo hi > $OUT"
    assert written_files(quiet) == []
    assert written_files("python3 - <<'EOF'\nif a > b:\n    print('it\\'s')\nEOF\necho done >> log.md") == [
        ("log.md", 0, False)
    ]
    assert written_files("sed -n 3p a.py; sed -i -e s/a/b/ -e s/c/d/ 'my file.py' 2>/dev/null") == [
        ("my file.py", 0, False)
    ]
    assert removed_files("sudo rm -f old.txt 2>/dev/null; rm --recursive x; git rm --cached y") == [("old.txt", False)]
    assert written_files("echo 207 > a.txt; ls 2> b.txt") == [("a.txt", 0, True)], "a number is said, or names a stream"
    assert moved_files("FOO=1 mv a.py b.py && git mv c.py src/ > /dev/null; mv a b c/") == [
        ("a.py", "b.py"),
        ("c.py", "src/c.py"),
    ]


def test_a_file_that_is_written_and_tested_by_one_command_is_tested() -> None:
    talk = Talk().user("Fix it").bash("sed -i 's/a/b/' a.py && pytest -q", "3 passed in 0.1s")
    assert talk.ledger().current_test is not None
    talk = Talk().user("Run them").bash("pytest -q > out.txt; tail -1 out.txt", "3 passed in 0.1s")
    assert talk.ledger().current_test is not None


def test_a_patch_that_moves_a_file_leaves_it_under_its_new_name() -> None:
    patch = "*** Begin Patch\n*** Update File: app.py\n*** Move to: main.py\n@@\n-a\n+b\n*** End Patch"
    assert patch_changes(patch) == [("app.py", 0, 0, "delete"), ("main.py", 1, 1, "update")]
