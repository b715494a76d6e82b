"""Counts of test runs as the runners print them."""

import pytest

from clew.ledger.test_results import parse
from unit.ledger.talk import Talk

RUNS = [
    ("pytest", "===== 2 failed, 14 passed, 1 skipped in 0.53s =====", (14, 2, 1)),
    ("pytest", "14 passed in 0.10s", (14, 0, 0)),
    ("unittest", "Ran 12 tests in 0.01s\n\nFAILED (failures=1, errors=2)", (9, 3, 0)),
    ("unittest", "Ran 3 tests in 0.01s\n\nOK", (3, 0, 0)),
    ("jest", "Tests:       1 failed, 3 passed, 4 total\nTime: 1 s", (3, 1, 0)),
    ("jest", " Test Files  2 passed (2)\n      Tests  1 failed | 8 passed (9)", (8, 1, 0)),
    ("mocha", "  12 passing (30ms)\n  2 failing", (12, 2, 0)),
    (
        "cargo",
        "test result: ok. 5 passed; 0 failed; 1 ignored\ntest result: FAILED. 2 passed; 1 failed; 0 ignored",
        (7, 1, 1),
    ),
    ("maven", "[INFO] Tests run: 8, Failures: 1, Errors: 1, Skipped: 2", (4, 2, 2)),
    ("gradle", "10 tests completed, 3 failed", (7, 3, 0)),
    ("ctest", "80% tests passed, 2 tests failed out of 10", (8, 2, 0)),
    ("rspec", "9 examples, 1 failure, 2 pending", (6, 1, 2)),
    ("exunit", "5 tests, 0 failures", (5, 0, 0)),
    ("phpunit", "OK (12 tests, 30 assertions)", (12, 0, 0)),
    ("phpunit", "Tests: 12, Assertions: 30, Failures: 2.", (10, 2, 0)),
    ("dotnet", "Passed!  - Failed:     0, Passed:    10, Skipped:     1, Total:    11", (10, 0, 1)),
    ("node", "# tests 4\n# pass 3\n# fail 1", (3, 1, 0)),
    ("bun", " 3 pass\n 1 fail\n", (3, 1, 0)),
    ("deno", "FAILED | 3 passed | 1 failed (20ms)", (3, 1, 0)),
    ("swift", "Executed 5 tests, with 1 failure (0 unexpected)", (4, 1, 0)),
    ("go", "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\nexit status 1", (1, 1, 0)),
    ("go", "ok  \tparcels/core\t0.01s\nok  \tparcels/io\t0.02s", (None, 0, 0)),
]


@pytest.mark.parametrize(("runner", "output", "counts"), RUNS)
def test_runners(runner: str, output: str, counts: tuple[int | None, int, int]) -> None:
    assert parse(output) == (runner, *counts)


def test_no_counts_in_plain_output() -> None:
    assert parse("hello world") is None


def test_only_the_ends_of_a_huge_output_are_read() -> None:
    assert parse("x" * 1_000_000 + "\n3 passed in 0.1s") == ("pytest", 3, 0, 0)


@pytest.mark.parametrize(
    ("command", "output", "error", "ok"),
    [
        ("pytest -q", "3 passed in 0.1s", False, True),
        ("pytest -q", "1 failed, 2 passed in 0.1s", True, False),
        ("npm test", "", False, True),
        ("npm test | tail -3", "", False, None),
        ("npm test", "Exit code 1", True, False),
    ],
)
def test_ok_is_only_what_the_run_showed(command: str, output: str, error: bool, ok: bool | None) -> None:
    run = Talk().user("run the tests please now").bash(command, output, error=error).ledger().tests[-1]
    assert run.ok is ok


def test_builds_and_lints() -> None:
    talk = Talk().user("check it all please").bash("ruff check .", "All checks passed!")
    talk.bash("npm run build", "src/a.ts(3,1): error TS2304: Cannot find name", error=True)
    assert [(check.kind, check.ok) for check in talk.ledger().checks] == [("lint", True), ("build", False)]


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("Found 7 errors (7 fixed, 0 remaining).\nAll checks passed!", True),
        ("a.py:1: error: bad\nFound 10 errors in 2 files", False),
        ("✖ 3 problems (0 errors, 3 warnings)", True),
        ("All checks passed!\n✖ 1 problem (1 error, 0 warnings)", False),
    ],
)
def test_of_a_check_that_ran_twice_the_last_word_counts(output: str, ok: bool) -> None:
    talk = Talk().user("Tidy up").bash("ruff check --fix . ; ruff check . ; true", output)
    assert [check.ok for check in talk.ledger().checks] == [ok]


def test_a_chain_that_went_well_tells_of_all_that_it_is_for() -> None:
    talk = Talk().user("Split it").bash("go build ./...", "Exit code 1\nundefined: utils", error=True).edit("main.go")
    ledger = talk.bash("go build ./... && go test ./...", "ok  \tacme/text\t0.01s").ledger()
    assert ([check.ok for check in ledger.checks], [run.ok for run in ledger.tests]) == ([False, True], [True])
    ledger = Talk().user("Test it").bash("vendor/bin/phpunit", "Tests: 12, Assertions: 30, Failures: 1.").ledger()
    assert [(run.passed, run.failed) for run in ledger.tests] == [(11, 1)]
