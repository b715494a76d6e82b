"""Test runs: counts as each runner prints them."""

import re
from collections import deque
from collections.abc import Iterable

from clew.ledger.commands import first_program, tells_its_end
from clew.ledger.facts import CommandFact, TestResult

KEPT = 20
_TAIL = 6000
_HEAD = 1500

_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|deselected)\b")
_PYTEST = re.compile(
    r"^=*\s*((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+) in [\d.]+",
    re.MULTILINE,
)
_UNITTEST = re.compile(r"^Ran (\d+) tests? in [\d.]+", re.MULTILINE)
_UNITTEST_END = re.compile(r"^(OK|FAILED)(?: \((.*?)\))?\s*$", re.MULTILINE)
_PAIR = re.compile(r"(failures|errors|skipped)=(\d+)")
_JEST = re.compile(
    r"^\s*Tests:?\s+((?:\d+ (?:passed|failed|skipped|todo|pending|total|expected fail)(?:,| \|)? ?)+)(?:\(\d+\))?",
    re.MULTILINE,
)
_JEST_PART = re.compile(r"(\d+) (passed|failed|skipped|todo|pending)")
_MOCHA = re.compile(r"^\s*(\d+) passing\b", re.MULTILINE)
_MOCHA_FAIL = re.compile(r"^\s*(\d+) failing\b", re.MULTILINE)
_GO_LINE = re.compile(r"^(ok|FAIL|---\s+PASS|---\s+FAIL|\s+--- PASS|\s+--- FAIL)[:\s]", re.MULTILINE)
_CARGO = re.compile(r"^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_NEXTEST = re.compile(
    r"Summary \[.*?\]\s+\d+ tests? run: (\d+) passed.*?(?:, (\d+) failed)?.*?(?:, (\d+) skipped)", re.MULTILINE
)
_MAVEN = re.compile(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?!.*Time elapsed)")
_GRADLE = re.compile(r"(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?")
_CTEST = re.compile(r"(\d+)% tests passed, (\d+) tests? failed out of (\d+)")
_EXAMPLES = re.compile(
    r"^(\d+) (examples?|tests?), (\d+) failures?(?:, (\d+) (?:pending|skipped|excluded))?", re.MULTILINE
)
_PHPUNIT_OK = re.compile(r"^OK \((\d+) tests?, \d+ assertions?\)", re.MULTILINE)
_PHPUNIT = re.compile(r"^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?", re.MULTILINE)
_DOTNET = re.compile(r"Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+)")
_NODE = re.compile(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)", re.MULTILINE)
_BUN = re.compile(r"^\s*(\d+) (pass|fail|skip)$", re.MULTILINE)
_DENO = re.compile(r"(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed")
_SWIFT = re.compile(r"Executed (\d+) tests?, with (\d+) failures?")
_LOOSE = re.compile(r"\b(\d+) (?:tests? )?(passed|failed)\b", re.IGNORECASE)

Counts = tuple[str, int | None, int | None, int | None]
"""Runner, passed, failed, skipped."""


def parse(output: str) -> Counts | None:
    """Counts from a runner's own words; None when there are none."""
    text = output if len(output) <= _TAIL + _HEAD else output[:_HEAD] + "\n" + output[-_TAIL:]
    for reader in _READERS:
        found = reader(text)
        if found:
            return found
    return None


def _pytest(text: str) -> Counts | None:
    found = _PYTEST.findall(text) if " in " in text else None
    if not found:
        return None
    counts = _sum(_COUNT.findall(found[-1]))
    return (
        "pytest",
        counts.get("passed", 0),
        counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0),
        counts.get("skipped", 0),
    )


def _unittest(text: str) -> Counts | None:
    ran = _UNITTEST.search(text) if "Ran " in text else None
    if not ran:
        return None
    total = int(ran.group(1))
    end = _UNITTEST_END.search(text, ran.end())
    counts = _sum((number, name) for name, number in _PAIR.findall(end.group(2) or "")) if end else {}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    skipped = counts.get("skipped", 0)
    return "unittest", total - failed - skipped, failed, skipped


def _jest(text: str) -> Counts | None:
    found = _JEST.findall(text) if "Tests" in text else None
    if not found:
        return None
    counts = _sum(_JEST_PART.findall(found[-1]))
    return "jest", counts.get("passed", 0), counts.get("failed", 0), counts.get("skipped", 0) + counts.get("pending", 0)


def _mocha(text: str) -> Counts | None:
    passing = _MOCHA.search(text) if "passing" in text else None
    if not passing:
        return None
    failing = _MOCHA_FAIL.search(text)
    return "mocha", int(passing.group(1)), int(failing.group(1)) if failing else 0, 0


def _cargo(text: str) -> Counts | None:
    found = _CARGO.findall(text) if "test result:" in text else []
    if found:
        return (
            "cargo",
            sum(int(row[1]) for row in found),
            sum(int(row[2]) for row in found),
            sum(int(row[3]) for row in found),
        )
    run = _NEXTEST.search(text) if "tests run:" in text else None
    return ("cargo", int(run.group(1)), int(run.group(2) or 0), int(run.group(3) or 0)) if run else None


def _maven(text: str) -> Counts | None:
    found = _MAVEN.findall(text) if "Tests run:" in text else []
    if not found:
        return None
    total, failures, errors, skipped = map(int, found[-1])
    return "maven", total - failures - errors - skipped, failures + errors, skipped


def _ctest(text: str) -> Counts | None:
    found = _CTEST.search(text) if "tests passed" in text else None
    return ("ctest", int(found.group(3)) - int(found.group(2)), int(found.group(2)), 0) if found else None


def _examples(text: str) -> Counts | None:
    found = _EXAMPLES.findall(text) if "failure" in text else []
    if not found:
        return None
    total, word, failed, skipped = found[-1]
    return (
        "rspec" if word.startswith("example") else "exunit",
        int(total) - int(failed) - int(skipped or 0),
        int(failed),
        int(skipped or 0),
    )


def _phpunit(text: str) -> Counts | None:
    if "ssertions" not in text:
        return None
    good = _PHPUNIT_OK.search(text)
    if good:
        return "phpunit", int(good.group(1)), 0, 0
    bad = _PHPUNIT.search(text)
    if not bad:
        return None
    failed = int(bad.group(2) or 0) + int(bad.group(3) or 0)
    return "phpunit", int(bad.group(1)) - failed, failed, 0


def _dotnet(text: str) -> Counts | None:
    found = _DOTNET.findall(text) if "Passed:" in text else []
    return (
        (
            "dotnet",
            sum(int(row[1]) for row in found),
            sum(int(row[0]) for row in found),
            sum(int(row[2]) for row in found),
        )
        if found
        else None
    )


def _small_runners(text: str) -> Counts | None:
    if "# pass" in text or "ℹ pass" in text:
        counts = _sum((number, name) for name, number in _NODE.findall(text))
        return "node", counts.get("pass", 0), counts.get("fail", 0), counts.get("skipped", 0)
    if " pass\n" in text or " fail\n" in text:
        counts = _sum(_BUN.findall(text))
        if counts:
            return "bun", counts.get("pass", 0), counts.get("fail", 0), counts.get("skip", 0)
    deno = _DENO.search(text) if " | " in text else None
    if deno:
        return "deno", int(deno.group(1)), int(deno.group(2)), 0
    swift = _SWIFT.search(text) if "Executed " in text else None
    if swift:
        return "swift", int(swift.group(1)) - int(swift.group(2)), int(swift.group(2)), 0
    gradle = _GRADLE.search(text) if "completed" in text else None
    if gradle:
        failed = int(gradle.group(2) or 0)
        return "gradle", int(gradle.group(1)) - failed - int(gradle.group(3) or 0), failed, int(gradle.group(3) or 0)
    return None


def _go(text: str) -> Counts | None:
    marks = [mark.strip() for mark in _GO_LINE.findall(text)]
    if not marks:
        return None
    if any(mark.startswith("---") for mark in marks):
        return (
            "go",
            sum(mark.endswith("PASS") for mark in marks) or None,
            sum(mark.endswith("--- FAIL") for mark in marks),
            0,
        )
    failed = sum(mark == "FAIL" for mark in marks)
    return "go", None, failed, 0


def _loose(text: str) -> Counts | None:
    counts = _sum((number, name.lower()) for number, name in _LOOSE.findall(text[-1500:]))
    return ("tests", counts.get("passed"), counts.get("failed", 0), None) if counts else None


def _sum(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for number, name in pairs:
        totals[name] = totals.get(name, 0) + int(number)
    return totals


_READERS = (
    _pytest,
    _unittest,
    _jest,
    _mocha,
    _cargo,
    _maven,
    _ctest,
    _examples,
    _phpunit,
    _dotnet,
    _small_runners,
    _go,
    _loose,
)


class TestsFold:
    """The latest test runs."""

    __test__ = False

    def __init__(self) -> None:
        self._runs: deque[TestResult] = deque(maxlen=KEPT)

    def settle(self, command: CommandFact, output: str, order: int) -> TestResult | None:
        """Take the result of a command that runs tests."""
        if command.background:
            return None
        counts = parse(output)
        runner, passed, failed, skipped = counts or (first_program(command.command), None, None, None)
        told = tells_its_end(command.command, "test")
        ok: bool | None
        if failed or (command.failed and told):
            ok = False
        elif (passed or runner == "go") if counts else (told and command.exit_code == 0):
            ok = True
        else:
            ok = None
        run = TestResult(
            runner=runner,
            command=command.command,
            passed=passed,
            failed=failed,
            skipped=skipped,
            ok=ok,
            order=order,
            source=command.source,
        )
        self._runs.append(run)
        return run

    def facts(self) -> tuple[TestResult, ...]:
        """The most recent runs, oldest first."""
        return tuple(self._runs)
