"""What the facts say to a claim: test runs, checks, commits, files, commands, refusals and the state of the session."""

import re
from collections.abc import Sequence

from clew.ledger.calls import EDIT_TOOLS
from clew.ledger.facts import Ledger
from clew.ledger.failures import red_left
from clew.orient.claims import NUMBER, Claim, claims_in, code_in, is_denied, lowered, things
from clew.orient.deeds import file_name
from clew.protocol.standing import Standing

_TESTS = re.compile(
    r"\btest_|\b(?:tests?|suite|specs?|assertions?|prueba\w*|тест\w*)\b|测试|測試|テスト", re.IGNORECASE
)
_BUILD = re.compile(r"\b(?:builds?|built|compil\w+)\b", re.IGNORECASE)
_LINT = re.compile(r"\b(?:lint\w*|type.?checks?|check-types|types|ruff|eslint|biome|clippy|mypy)\b", re.IGNORECASE)
_PLAIN_COMMAND = 80
"""A longer command that printed no figures may be anything that has a test in its text."""
_PART = re.compile(r"\b\d+ of \d+\b")
_STOPPED = (Standing.STOPPED, Standing.INTERRUPTED, Standing.SUSPENDED, Standing.FAILED)
_LEFT = ("commit", "push", "merge", "tag", "release")
_COMMANDS = {
    "remove": re.compile(r"\b(?:rm|rmdir|unlink|delete|drop|prune|uninstall|clean)\b"),
    "revert": re.compile(r"\b(?:revert|restore|reset|checkout|stash)\b"),
}


def decided(claim: Claim, phrase: str, clause: str, ledger: Ledger) -> bool | None:
    """True and False where the facts decide whether it may be said; None: somebody must have said it."""
    if claim.name in ("pass", "fail") and (verdict := _result(claim, phrase, clause, ledger)) is not None:
        return verdict
    if claim.name in _LEFT:
        return _left(claim, ledger)
    if claim.name == "fail" and claim.holds and ledger.state in (Standing.FAILED, Standing.SUSPENDED):
        return True
    if claim.name == "stop" and claim.holds:
        return True if ledger.state in _STOPPED else None
    if claim.name == "refuse" and any(item.decision == "deny" for item in ledger.approvals):
        return True
    if claim.name == "finish" and not things(phrase) and not code_in(phrase) and not _PART.search(clause):
        return _finished(ledger) is claim.holds
    if claim.name == "approve" and ledger.plan is not None and ledger.plan.approved:
        return True
    return None


def _finished(ledger: Ledger) -> bool:
    if ledger.state in (Standing.WORKING, Standing.WAITING, Standing.SUSPENDED, Standing.FAILED):
        return False
    run, todos = ledger.current_test, ledger.current_todos
    return ledger.said is not None and not (run and run.ok is False) and not (todos and todos.open_items)


def shown(claim: Claim, ledger: Ledger) -> list[str]:
    """The deeds of this kind that the facts show, each as the text that names what it was done to."""
    found = [file.path for file in ledger.files if claim.name == "remove" and file.deleted]
    if claim.name == "fail":
        found += [f"{error.where} {error.text}" for error in ledger.errors]
        found += [f"edit {file.path}" for file in ledger.files if file.failed_edits]
        return found + [run.command for run in ledger.commands if run.failed]
    words = _COMMANDS.get(claim.name) or re.compile(rf"\b{claim.name}")
    return found + [run.command for run in ledger.commands if not run.failed and words.search(run.command)]


def _result(claim: Claim, phrase: str, clause: str, ledger: Ledger) -> bool | None:
    good = claim.name == "pass"
    if ledger.tests and _TESTS.search(clause):
        last = ledger.tests[-1]
        if str(last.passed if good else last.failed) in NUMBER.findall(phrase):
            return True
    verdict: bool | None = None
    about = phrase if _TESTS.search(phrase) or _BUILD.search(phrase) or _LINT.search(phrase) else clause
    if _TESTS.search(about):
        if len({run.ok for run in ledger.current_tests}) > 1:  # one suite is red and another is not
            return True if claim.name == "fail" and claim.holds else None
        plain = (run for run in reversed(ledger.tests) if run.ok is False or run.passed or _is_plain(run.command))
        verdict = next((run.ok for run in plain), None)
        if verdict and good and red_left(ledger.tests):  # a smaller run is green
            return None
    elif _BUILD.search(about) or _LINT.search(about):
        kind = "build" if _BUILD.search(about) else "lint"
        verdict = next((check.ok for check in reversed(ledger.checks) if check.kind == kind), None)
    if verdict is None:
        return None
    if (verdict is good) is claim.holds:
        return True
    return None if claim.word.endswith("ed") and claim.holds else False


def _is_plain(command: str) -> bool:
    return len(command) < _PLAIN_COMMAND


def _left(claim: Claim, ledger: Ledger) -> bool | None:
    """What left the working tree: a denial holds while something changed since."""
    made = [item for item in ledger.commits if item.kind == claim.name]
    if claim.holds:
        tried = [command for command in ledger.commands if f"git {claim.name}" in command.command]
        return True if made else False if tried and tried[-1].failed else None
    current = any(item.order >= ledger.changes for item in made)
    return not (current and (claim.name != "push" or ledger.commits[-1].kind != "commit"))


def refused_part(phrase: str, ledger: Ledger) -> str:
    """What of a refused command stands in the phrase and in nothing that ran; "" for none."""
    ran = lowered(" ".join(command.command for command in ledger.commands if not command.failed))
    told = lowered(phrase.replace("`", ""))
    for item in ledger.approvals:
        words = lowered(item.subject).split()
        if item.decision != "deny" or len(words) < 2:
            continue
        ends = (word.rstrip("/").rsplit("/", 1)[-1] for word in words)
        for part in (" ".join(words[:2]), *(end for end in ends if re.fullmatch(r"\w+(?:-\w+)+", end))):
            if part not in ran and re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", told):
                return part
    return ""


def names_unwritten(sentence: str, ledger: Ledger) -> bool:
    """It speaks of a file that the agent was not allowed to write, or failed to, as if it had."""
    return any(name in sentence for name in _unwritten(ledger)) and not is_denied(sentence)


def tells_unwritten(sentence: str, ledger: Ledger) -> bool:
    """It does so, or says that something worked where writing was refused and nothing was changed."""
    if any(name in sentence for name in _unwritten(ledger)) or ledger.changed_files or not _refused_files(ledger):
        return names_unwritten(sentence, ledger)
    return any(claim.name in ("work", "finish") for claim in claims_in(sentence))


def _unwritten(ledger: Ledger) -> set[str]:
    failed = {file_name(file.path) for file in ledger.files if file.failed_edits}
    return (_refused_files(ledger) | failed) - {file_name(file.path) for file in ledger.changed_files}


def _refused_files(ledger: Ledger) -> set[str]:
    return {file_name(item.subject) for item in ledger.refused if item.tool in EDIT_TOOLS or "/" in item.subject}


def contradicted(claims: Sequence[Claim], sentence: str, ledger: Ledger) -> bool:
    """Whether a sentence asserts what the facts deny."""
    return any(decided(claim, sentence, sentence, ledger) is False for claim in claims)
