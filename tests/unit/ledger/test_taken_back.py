"""What git or a rewind took back is not told as changed; what a later commit replaced is not told as made."""

from typing import Any

import pytest

from clew.ledger.facts import Ledger
from clew.ledger.failures import left_undone
from clew.protocol.entries import EventEntry
from clew.protocol.event_kinds.context import FileRestore, Rewound
from clew.protocol.ids import CallId, EntryId
from unit.ledger.talk import SESSION, Talk


def committed() -> Talk:
    talk = Talk().user("Set x to 2 and commit").edit("/home/ann/parcels/app.py")
    return talk.bash("git commit -am 'Set x to 2'", "[main be0fe0e] Set x to 2\n 1 file changed")


def changed(ledger: Ledger) -> list[str]:
    return [file.path for file in ledger.changed_files]


def refs(ledger: Ledger) -> list[str]:
    return [commit.ref for commit in ledger.commits]


def test_an_amended_commit_replaces_the_one_before() -> None:
    told = "[main a680bc0] Set x to two\n 1 file changed"
    assert refs(committed().bash("git commit --amend -m 'Set x to two'", told).ledger()) == ["a680bc0"]


@pytest.mark.parametrize(
    "command", ["git reset --hard HEAD~1", "git -C /p reset --hard HEAD^", "git reset --hard HEAD~"]
)
def test_a_commit_that_was_taken_back_is_gone_with_its_files(command: str) -> None:
    ledger = committed().bash(command, "HEAD is now at 7d60764 start").ledger()
    assert refs(ledger) == []
    assert changed(ledger) == []


def test_a_soft_reset_takes_the_commit_and_leaves_the_files() -> None:
    ledger = committed().bash("git reset --soft HEAD~1", "").ledger()
    assert refs(ledger) == []
    assert changed(ledger) == ["/home/ann/parcels/app.py"]


def test_a_reset_to_a_known_commit_keeps_it() -> None:
    talk = committed().edit("/home/ann/parcels/other.py").bash("git commit -am 'More'", "[main c0ffee1] More\n 1 file")
    ledger = talk.bash("git reset --hard be0fe0e", "HEAD is now at be0fe0e Set x to 2").ledger()
    assert refs(ledger) == ["be0fe0e"]
    assert changed(ledger) == ["/home/ann/parcels/app.py"]


@pytest.mark.parametrize(
    "command", ["git checkout -- app.py", "git restore app.py", "git checkout .", "git restore .", "git stash",
                "git reset --hard", "git checkout HEAD -- app.py", "cd /p && git stash push -m wip",
                "ls\ngit checkout -- 'app.py' | cat"],
)  # fmt: skip
def test_a_file_that_was_put_back_is_not_changed(command: str) -> None:
    talk = Talk().user("Try x = 2").bash("pytest -q", "3 passed in 1s").edit("/home/ann/parcels/app.py")
    ledger = talk.bash("pytest -q", "3 passed in 1s").bash(command, "").ledger()
    assert changed(ledger) == []
    assert ledger.current_test is None, "the run was of files that are no more"


@pytest.mark.parametrize(
    "command", ["git checkout main", "git checkout -b feature", "git reset", "git reset HEAD app.py", "git stash list",
                "git restore --staged app.py", "echo git checkout -- app.py", "git log --grep 'git reset --hard'",
                "git log --grep 'x && git stash && y'", "cat > how.md <<EOF\ngit reset --hard\nEOF", "echo 'git stash"],
)  # fmt: skip
def test_what_takes_nothing_back_leaves_everything(command: str) -> None:
    ledger = committed().edit("/home/ann/parcels/app.py", "b", "c").bash(command, "").ledger()
    assert "/home/ann/parcels/app.py" in changed(ledger)
    assert refs(ledger) == ["be0fe0e"]


def test_what_failed_took_nothing_back() -> None:
    ledger = committed().bash("git reset --hard HEAD~1", "fatal: Exit code 128", error=True).ledger()
    assert refs(ledger) == ["be0fe0e"]


def test_what_was_stashed_comes_back() -> None:
    talk = Talk().user("Try x = 2").edit("/home/ann/parcels/app.py").bash("git stash", "Saved working directory")
    assert changed(talk.bash("git stash pop", "Dropped refs/stash@{0}").ledger()) == ["/home/ann/parcels/app.py"]


def test_a_commit_stays_when_later_edits_are_thrown_away() -> None:
    talk = committed().write("/home/ann/parcels/new.py", "x").edit("/home/ann/parcels/late.py")
    ledger = talk.bash("git checkout .", "Updated 1 path from the index").ledger()
    assert changed(ledger) == ["/home/ann/parcels/app.py", "/home/ann/parcels/new.py"], "git leaves what it never knew"


def test_one_file_is_one_file_however_it_is_written() -> None:
    talk = Talk().user("Count the lines").write("/home/ann/parcels/count.py", "print(1)")
    ledger = talk.bash("python3 count.py && rm count.py", "1").ledger()
    assert [(file.path, file.created, file.deleted) for file in ledger.changed_files] == [
        ("/home/ann/parcels/count.py", True, True)
    ]


def test_what_an_undo_put_back_is_not_changed_until_it_is_redone() -> None:
    talk = Talk().user("Try x = 2").edit("/home/ann/parcels/app.py").write("/home/ann/parcels/new.py", "x")
    files = (
        FileRestore(path="/home/ann/parcels/app.py"),
        FileRestore(path="new.py"),
        FileRestore(path="/home/ann/parcels/other.py", conflict="edited since"),
    )
    talk.edit("/home/ann/parcels/other.py")

    def went(direction: Any) -> list[str]:
        calls = (CallId("c1"), CallId("c2"), CallId("c3")) if direction == "undo" else ()
        event = Rewound(direction=direction, scope="files", to=None, files=files, call_ids=calls)
        talk.add(EventEntry(session_id=SESSION, timestamp="2026-03-01T11:00:00.000Z", event=event))
        return sorted(changed(talk.ledger()))

    assert went("undo") == ["/home/ann/parcels/other.py"], "what was left alone is as it was"
    assert went("redo") == [f"/home/ann/parcels/{name}.py" for name in ("app", "new", "other")]


def test_an_undo_leaves_what_other_calls_did_and_takes_the_words_about_it() -> None:
    path = "/home/ann/parcels/app.py"
    talk = Talk().user("x = 1, please").edit(path).agent("x is 1.").user("Make it x = 2").edit(path).agent("x is 2.")
    event = Rewound(direction="undo", scope="files", to=None, files=(FileRestore(path=path),), call_ids=(CallId("c2"),))
    talk.add(EventEntry(session_id=SESSION, timestamp="2026-03-01T11:00:00.000Z", event=event))
    ledger = talk.ledger()
    assert [(file.path, file.edits) for file in ledger.changed_files] == [(path, 1)]
    assert (ledger.said, left_undone(ledger)) == (None, True)


def test_what_was_asked_and_taken_back_is_not_the_last_request() -> None:
    talk = Talk().user("Set the port to 80").agent("It is 80.").user("Now use TLS as well").agent("TLS is on.")
    event = Rewound(direction="rewind", scope="conversation", to=EntryId("e2"))
    talk.add(EventEntry(session_id=SESSION, timestamp="2026-03-01T11:00:00.000Z", event=event))
    ledger = talk.ledger()
    assert ledger.last_request is not None
    assert (ledger.last_request.text, ledger.said) == ("Set the port to 80", None)


@pytest.mark.parametrize(
    "command", ["mv util.py helpers.py", "git mv -f util.py ./helpers.py", "cd . ; mv util.py helpers.py"]
)
def test_a_file_that_was_moved_is_where_it_went(command: str) -> None:
    talk = Talk().user("Create util.py, then call it helpers.py").write("/home/ann/parcels/util.py", "a")
    files = {file.path: file for file in talk.bash(command, "").ledger().changed_files if not file.deleted}
    assert [path.rsplit("/", 1)[-1] for path in files] == ["helpers.py"]
    other = Talk().user("Rename it").bash("git mv app.py main.py", "").ledger().changed_files
    assert [(file.path, file.deleted) for file in other] == [("app.py", True), ("main.py", False)]


def test_a_folder_is_put_back_with_what_git_knows_in_it() -> None:
    talk = Talk().user("Try it").edit("src/a.js").edit("/home/ann/parcels/src/b.js").write("src/new.js", "x")
    talk.edit("source.js").bash("git checkout -- src/", "")
    assert changed(talk.ledger()) == ["src/new.js", "source.js"]


def test_a_revert_is_a_commit() -> None:
    talk = committed().bash("git revert --no-edit HEAD", '[main 0ddba11] Revert "Set x to 2"\n 1 file changed')
    assert refs(talk.ledger()) == ["be0fe0e", "0ddba11"]


def test_what_was_committed_stays_changed_when_a_later_edit_is_thrown_away() -> None:
    talk = committed().edit("/home/ann/parcels/app.py").bash("git checkout -- app.py", "")
    assert changed(talk.ledger()) == ["/home/ann/parcels/app.py"]
    assert [file.edits for file in talk.ledger().changed_files] == [1]
    assert changed(talk.bash("git reset --hard HEAD~1", "HEAD is now at 7d60764 start").ledger()) == []


def told_files(talk: Talk) -> list[str]:
    return [f"{file.path}{' gone' if file.deleted else ''}" for file in talk.ledger().changed_files]


def test_what_was_there_removed_and_made_again_comes_back_as_it_was() -> None:
    talk = Talk().user("Tidy up").bash("rm a.py", "").write("a.py", "x")
    assert told_files(talk) == ["a.py"]
    assert told_files(talk.bash("git reset --hard", "HEAD is now at 1a2b3c4")) == []


def test_a_forced_removal_of_a_file_that_nobody_saw_removes_nothing_for_sure() -> None:
    talk = Talk().user("Tidy up").bash("rm -f a.py", "")
    assert told_files(talk.bash("rm -f a.py", "")) == []
    assert told_files(talk.write("a.py", "x").bash("git reset --hard", "HEAD is now at 1a2b3c4")) == []
    talk = Talk().user("Tidy up").call("Read", file_path="a.py").result("x").bash("rm -f a.py", "")
    assert told_files(talk) == ["a.py gone"]


def test_a_new_file_that_git_was_told_of_goes_with_a_hard_reset() -> None:
    talk = Talk().user("Add it").write("a.py", "x").write("b.py", "x")
    talk.bash("git add a.py && git commit -m x", "Author identity unknown", error=True)
    assert told_files(talk.bash("git reset --hard", "HEAD is now at 1a2b3c4")) == ["b.py"]


def test_a_new_name_is_new_to_git_unless_git_gave_it() -> None:
    talk = Talk().user("Rename them").call("Read", file_path="a.py").result("x").bash("mv a.py b.py", "")
    assert told_files(talk.bash("git stash", "Saved working directory and index state")) == ["b.py"]
    talk = Talk().user("Rename them").bash("git mv a.py b.py", "")
    assert told_files(talk.bash("git reset --hard", "HEAD is now at 1a2b3c4")) == []


def test_commits_that_are_squashed_leave_the_one_that_holds_them() -> None:
    talk = committed().bash(
        "git reset --soft HEAD~1 && git commit -m 'x is 2'", "[main c0ffee1] x is 2\n 1 file changed"
    )
    assert refs(talk.ledger()) == ["c0ffee1"]
    talk.bash("git commit -m 'More' && git reset --hard HEAD~1", "[main badcafe] More\n 1 file changed")
    assert refs(talk.ledger()) == ["c0ffee1"]


@pytest.mark.parametrize(
    "command", ["git switch -f main", "git checkout --force main", "git switch --discard-changes x"]
)
def test_a_forced_switch_throws_away_what_was_not_committed(command: str) -> None:
    talk = committed().bash("rm package-lock.json", "").bash(command, "Switched to branch 'main'")
    assert changed(talk.ledger()) == ["/home/ann/parcels/app.py"]


def test_commits_go_with_their_branch() -> None:
    talk = Talk().user("Try it").edit("a.py").bash("git commit -am Try", "[try 1234567] Try\n 1 file changed")
    assert refs(talk.bash("git switch main && git branch -D try", "Deleted branch try").ledger()) == []


def test_an_editor_that_undoes_takes_back_its_last_change() -> None:
    talk = Talk().user("Fix it").edit("cache.py").edit("cache.py")
    for left in (1, 0):
        talk.call("str_replace_editor", command="undo_edit", path="cache.py").result("Last edit undone successfully.")
        assert sum(file.edits for file in talk.ledger().changed_files) == left


def test_a_deleted_branch_takes_its_files_along() -> None:
    talk = Talk().user("Try pino on a branch").edit("/home/ann/parcels/log.ts")
    talk.bash("git commit -am 'Try pino'", "[try 3c3c3c3] Try pino\n 1 file changed")
    ledger = talk.bash("git checkout main && git branch -D try", "Deleted branch try (was 3c3c3c3).").ledger()
    assert (refs(ledger), changed(ledger)) == ([], [])


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git push -u origin try", "To github.com:a/b.git\n * [new branch]      try -> try"),
        ("git checkout main && git merge try", "Updating 1a2b3c4..3c3c3c3\nFast-forward\n log.ts | 2 +-"),
    ],
)
def test_what_was_pushed_or_merged_outlives_its_branch(command: str, output: str) -> None:
    talk = Talk().user("Try pino on a branch").edit("/home/ann/parcels/log.ts")
    talk.bash("git commit -am 'Try pino'", "[try 3c3c3c3] Try pino\n 1 file changed").bash(command, output)
    ledger = talk.bash("git checkout main && git branch -D try", "Deleted branch try (was 3c3c3c3).").ledger()
    assert "3c3c3c3" in refs(ledger)
    assert changed(ledger) == ["/home/ann/parcels/log.ts"]


def test_a_closed_pull_request_is_not_told_as_made() -> None:
    talk = Talk().user("Open a PR").bash("gh pr create --fill", "https://github.com/acme/gw/pull/12")
    assert refs(talk.ledger()) == ["#12"]
    assert refs(talk.bash("gh pr close 11", "✓ Closed pull request acme/gw#11 (Old)").ledger()) == ["#12"]
    assert refs(talk.bash("gh pr close 12", "✓ Closed pull request acme/gw#12 (Docs)").ledger()) == []


def test_a_file_made_in_the_place_of_one_that_was_moved_away_is_put_back_too() -> None:
    talk = Talk().user("Start it anew").bash("mv notes.txt old_notes.txt", "").write("notes.txt", "x")
    assert "notes.txt" in told_files(talk)
    assert told_files(talk.bash("git stash", "Saved working directory and index state")) == ["old_notes.txt"]
