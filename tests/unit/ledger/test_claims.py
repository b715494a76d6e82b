"""What a report says against the facts: one mark by kind of fact, and none on what is planned, denied or others'."""

import pytest

from clew.ledger.claims.marks import against
from clew.ledger.facts import AgentFact, CheckResult, CommandFact, CommitFact, FileFact, Ledger, TestResult
from clew.protocol.standing import Standing

NOTHING = Ledger(cwd="/home/ann/parcels")
GREEN = TestResult(runner="pytest", command="pytest -q", passed=12, failed=0, ok=True)
RED = TestResult(runner="pytest", command="pytest -q", passed=10, failed=2, ok=False)
WORKED = Ledger(
    cwd="/home/ann/parcels",
    files=(FileFact(path="/home/ann/parcels/src/config.py", edits=1, order=1),),
    tests=(GREEN,),
    commits=(
        CommitFact(kind="commit", ref="1a2b3c4", subject="config: read the file once"),
        CommitFact(kind="push", ref="main", branch="main"),
        CommitFact(kind="pr", ref="#7"),
    ),
    commands=(CommandFact(command="pytest -q", exit_code=0), CommandFact(command="make build", exit_code=0)),
    command_count=2,
    changes=1,
)
FAILED_BUILD = Ledger(
    commands=(CommandFact(command="cd app && make build", exit_code=2, failed=True),), command_count=1
)

TESTS = [
    "All tests pass.",
    "I ran the suite: 12 passed, 0 failed.",
    "The change is in, and the unit tests are green now.",
    "`pytest -q` passes without errors.",
    "- ✅ All 12 tests pass",
    "- [x] Run the tests: all tests pass",
    "12/12 tests passing",
    "No code had to change and all tests pass.",
    "All checks pass (lint, types, tests).",
    "| Tests | all tests pass |",
    "Alle Tests sind grün.",
    "Tous les tests passent.",
    "Todas las pruebas pasan.",
    "所有测试均已通过。",
]


@pytest.mark.parametrize("text", TESTS)
def test_tests_said_to_pass(text: str) -> None:
    assert against(text, NOTHING) == ("says that tests pass; no test ran",)
    assert against(text, Ledger(tests=(GREEN, RED))) == ("says that tests pass; the last run (pytest) had 2 failed",)
    assert against(text, WORKED) == ()


@pytest.mark.parametrize(
    "text",
    [
        "No tests were run.",
        "I could not run the tests.",
        "The tests should pass once the fixture exists.",
        "Do all tests pass?",
        "If the tests pass, merge it.",
        "Make sure that all tests pass before you merge.",
        "## Next steps\n- All tests pass on Windows\n- 12 tests passed on the server",
        "- [ ] All tests pass",
        "> All tests pass.",
        "```\nAll tests pass\n12 passed in 0.3s\n```",
        'The task says "all the existing tests pass on every machine" as its goal.',
        "All 12 checks pass on CI, with the tests of three versions.",
        "`loader_test.py`: ✅ Yes",
        "Tests that cover the value passed to `load` are missing.",
        "This will make the failing tests pass.",
        "Updated the test helpers to pass the new flag.",
        "Die Tests wurden nicht ausgeführt.",
        "Les tests n'ont pas été lancés.",
        "测试未运行。",
    ],
)
def test_what_says_nothing_of_passing_tests(text: str) -> None:
    assert against(text, NOTHING) == ()


def test_a_report_that_tells_of_the_failures_itself_is_not_marked() -> None:
    ledger = Ledger(tests=(RED,))
    assert against("The unit tests pass. 2 integration tests still fail.", ledger) == ()
    assert against("All tests pass except two flaky ones.", ledger) == ()
    assert against("I fixed the 2 failing tests. All tests pass now.", ledger) != ()


def test_a_green_run_before_the_last_change_is_told_by_the_facts_not_marked() -> None:
    assert against("All tests pass.", Ledger(tests=(GREEN,), changes=3)) == ()


def test_a_run_whose_end_nobody_told_is_not_marked() -> None:
    unknown = Ledger(commands=(CommandFact(command="./scripts/verify.sh", exit_code=0),), command_count=1)
    assert against("All tests pass.", unknown) == ()
    looked = Ledger(commands=(CommandFact(command="ls tests && cat tests/test_a.py", exit_code=0),), command_count=1)
    assert against("All tests pass.", looked) == ("says that tests pass; no test ran",)


FILES = [
    "Created `config.py` with the defaults.",
    "I've updated src/config.py to read the file once.",
    "- `src/config.py`: Added the loader",
    "- **config.py** — Removed the second read",
    "I added a retry to `src/config.py`.",
    "Fixed the double read (`config.py`).",
    "`config.py` was rewritten.",
    "Files changed:\n- `src/config.py`",
    "| `config.py` | Replaced the loop |",
    "The fix was in `config.py`:",
    "Ich habe `config.py` geändert.",
    "J'ai modifié `config.py`.",
    "He creado `config.py`.",
    "已修改 `config.py`。",
]


@pytest.mark.parametrize("text", FILES)
def test_files_said_to_be_changed(text: str) -> None:
    (mark,) = against(text, NOTHING)
    assert mark.endswith("config.py was changed; no file of that name was")
    assert against(text, WORKED) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I did not change `config.py`.",
        "`config.py` is read by the loader.",
        "You could add a retry to `config.py`.",
        "I would update `config.py` next.",
        "`config.py` was already updated by you.",
        "Next steps:\n- Updated `config.py` goes out with the release",
        "The previous agent created `config.py`.",
        "Removed all references to `config.py`.",
        "Updated the `config.py` format example in the manual.",
        "Update `config.py` to use the new name.",
        "Should I have edited `config.py`?",
        "`config.py` wurde nicht geändert.",
    ],
)
def test_what_says_nothing_of_changed_files(text: str) -> None:
    assert against(text, NOTHING) == ()


def test_a_file_that_a_command_may_have_written_is_not_marked() -> None:
    ran = Ledger(commands=(CommandFact(command="python tools/make.py --out config.py", exit_code=0),), command_count=1)
    assert against("Created `config.py`.", ran) == ()
    looked = Ledger(commands=(CommandFact(command="cat config.py && git add config.py", exit_code=0),), command_count=1)
    assert against("Created `config.py`.", looked) != ()
    installed = Ledger(commands=(CommandFact(command="npm install left-pad", exit_code=0),), command_count=1)
    assert against("Updated `package.json`.", installed) == ()


DELIVERIES = [
    ("Committed as `1a2b3c4`.", "says that it committed; no commit was made"),
    ("All changes are committed.", "says that it committed; no commit was made"),
    ("I fixed the loader and committed it.", "says that it committed; no commit was made"),
    ("Pushed to main.", "says that it pushed; nothing was pushed"),
    ("I pushed the branch.", "says that it pushed; nothing was pushed"),
    ("I opened a pull request.", "says that it made a pull request; none was made"),
    ("Draft PR created: https://forge.example/ann/parcels/pull/7", "says that it made a pull request; none was made"),
    ("Die Änderungen sind committet.", "says that it committed; no commit was made"),
    ("已提交。", "says that it committed; no commit was made"),
]


@pytest.mark.parametrize(("text", "mark"), DELIVERIES)
def test_deliveries_said_to_be_made(text: str, mark: str) -> None:
    assert against(text, NOTHING) == (mark,)
    assert against(text, WORKED) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Nothing was committed.",
        "I have not committed or pushed anything.",
        "Want me to commit and push this?",
        "You can push once it is reviewed.",
        "The transaction is committed before the reply.",
        "Each event is pushed to the queue.",
        "The committed file holds the defaults.",
        "The change is uncommitted.",
        "Added a PR template.",
        "PR #7 https://forge.example/ann/parcels/pull/7 is somebody's.",
        "Commits are rebased/squashed/force-pushed there.",
        "Committed checkpoints bypass the pager.",
    ],
)
def test_what_says_nothing_of_deliveries(text: str) -> None:
    assert against(text, NOTHING) == ()


@pytest.mark.parametrize("text", ["`make build` succeeded.", "Ran `make build` successfully.", "`make build` ✅"])
def test_commands_said_to_succeed(text: str) -> None:
    assert against(text, FAILED_BUILD) == ("says that `make build` succeeded; it ended with exit 2",)
    assert against(text, WORKED) == ()
    assert against(text, NOTHING) == ()


def test_a_file_that_a_line_begins_with_is_the_one_it_is_about() -> None:
    changed = Ledger(files=(FileFact(path="clean.py", edits=1, order=1),))
    assert against("- `clean.py`: Added a handler, so that lines go to `app.log` instead of stderr.", changed) == ()


def test_a_command_that_only_names_a_delivery_makes_none() -> None:
    ran = Ledger(commands=(CommandFact(command="cat .git/hooks/pre-push && grep -rn commit docs", exit_code=0),))
    assert len(against("Committed and pushed.", ran)) == 2
    made = Ledger(commands=(CommandFact(command="git commit -qF note && git push -q", exit_code=0),))
    assert against("Committed and pushed.", made) == ()


def test_a_check_said_to_succeed() -> None:
    ledger = Ledger(checks=(CheckResult(kind="lint", command="ruff check", ok=False),))
    assert against("The linter is clean.", ledger) == ("says that the lint succeeded; its last run failed",)


def test_an_exit_code_of_another_command_says_nothing() -> None:
    chained = Ledger(commands=(CommandFact(command="make build && ./deploy", exit_code=1, failed=True),))
    assert against("`make build` succeeded.", chained) == ()


def test_absence_shows_nothing_where_others_worked_unseen() -> None:
    text = "All tests pass, I updated `config.py` and pushed to main."
    agent = AgentFact(name="worker", task="test", standing=Standing.COMPLETED)
    assert len(against(text, NOTHING)) == 3
    assert against(text, NOTHING, elsewhere=True) == ()
    assert against(text, Ledger(agents=(agent,))) == ()
    assert against(text, Ledger(agents=(agent,), tests=(RED,))) != ()


def test_marks_are_few() -> None:
    text = "\n".join(f"- Created `file{number}.py`" for number in range(50)) + "\nAll tests pass.\n" * 50
    assert len(against(text, NOTHING)) == 3


@pytest.mark.parametrize(
    "text", ["", "\n", "⟦F0⟧ was created", "`" * 999, "| " * 999, "a" * 100_000, "[" * 5000, "tests " * 20_000]
)
def test_hostile_words_give_no_mark_and_end(text: str) -> None:
    assert against(text, NOTHING) == ()
