"""What the facts say to a claim: test runs, checks, commits, files, refusals and the state of the session."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from clew.ledger.facts import Ledger, TestResult
from clew.orient.claims import NUMBER, Claim, lowered, words_in
from clew.orient.vocabulary import NUMBER_WORDS, WORK, is_past
from clew.protocol.standing import Standing

_TESTS = re.compile(r"\b(?:tests?|suite|specs?|assertions?|prueba\w*|тест\w*)\b|测试|測試|テスト", re.IGNORECASE)
_BUILD = re.compile(r"\b(?:builds?|built|compil\w+)\b", re.IGNORECASE)
_LINT = re.compile(r"\b(?:lint\w*|type.?checks?|check-types|types|ruff|eslint|biome|clippy|mypy)\b", re.IGNORECASE)
_WRONG = re.compile(r"\b(?:errors?|failures?|tests?|builds?|lint\w*)\b", re.IGNORECASE)
_PART = re.compile(r"\b\d+ of \d+\b")
_COUNTS = {"one": "1", "two": "2", **NUMBER_WORDS}
_PLAIN_COMMAND = 80
"""A longer command that printed no figures may be anything that has a test in its text."""
_STOPPED = (Standing.INTERRUPTED, Standing.LIMITED, Standing.FAILED)


class About(NamedTuple):
    """What a claim is said of."""

    phrase: str
    clause: str
    things: Sequence[str]
    names: Sequence[str]

    @property
    def subject(self) -> str:
        """Where a test, a build or a check is named: the phrase, or the clause when it has no words of its own."""
        own = self.things or self.names or any(words.search(self.phrase) for words in (_TESTS, _BUILD, _LINT))
        return self.phrase if own else self.clause


def decided(claim: Claim, about: About, ledger: Ledger) -> bool | None:
    """True and False where the facts decide whether it may be said; None: somebody must have said it."""
    if claim.name in ("pass", "fail"):
        return _result(claim, about, ledger)
    if claim.name in ("commit", "push", "merge", "tag", "release"):
        return _left(claim, ledger)
    if claim.name in ("run", "test") and claim.holds and _TESTS.search(about.subject):
        return True if any(map(_is_plain, ledger.tests)) or ledger.doing else None
    if claim.name == "fix" and claim.holds and _WRONG.search(about.phrase):
        runs = [run.ok for run in ledger.tests], [check.ok for check in ledger.checks]
        return True if any(False in results and results[-1] for results in runs) else None
    if claim.name == "cancel" and claim.holds and ledger.state in _STOPPED:
        return True
    if claim.name == "refuse" and claim.holds and _is_refused(about, ledger):
        return True
    if claim.name == "finish" and not about.things and not about.names:
        return _PART.search(about.clause) is not None or _finished(ledger) is claim.holds
    if claim.name in WORK and claim.holds and any(_is_only_refused(name, ledger) for name in about.names):
        return False
    return None


def _is_only_refused(name: str, ledger: Ledger) -> bool:
    """Nobody let this file be written, and nothing wrote it."""
    refused = any(item.decision == "deny" and is_file(item.subject, name) for item in ledger.approvals)
    return refused and not any(is_file(file.path, name) for file in ledger.changed_files)


def _result(claim: Claim, about: About, ledger: Ledger) -> bool | None:
    good = claim.name == "pass"
    counts = {*NUMBER.findall(about.phrase), *(_COUNTS.get(word, "") for word in words_in(about.phrase))}
    if ledger.tests and _TESTS.search(about.clause):
        last = ledger.tests[-1]
        if str(last.passed if good else last.failed) in counts:
            return True
    verdict: bool | None = None
    if _TESTS.search(about.subject):
        verdict = next((run.ok for run in reversed(ledger.tests) if run.ok is False or _is_plain(run)), None)
    elif _BUILD.search(about.subject) or _LINT.search(about.subject):
        kind = "build" if _BUILD.search(about.subject) else "lint"
        verdict = next((check.ok for check in reversed(ledger.checks) if check.kind == kind), None)
    if verdict is None:
        return None
    if (verdict is good) is claim.holds:
        return True
    return None if is_past(claim.word) and claim.holds else False


def _is_plain(run: TestResult) -> bool:
    return bool(run.passed or run.failed) or len(run.command) < _PLAIN_COMMAND


def _left(claim: Claim, ledger: Ledger) -> bool | None:
    """What left the working tree: a denial holds while something changed since."""
    made = [item for item in ledger.commits if item.kind == claim.name]
    if claim.holds:
        tried = [command for command in ledger.commands if f"git {claim.name}" in command.command]
        return True if made else False if tried and tried[-1].failed else None
    current = any(item.order >= ledger.changes for item in made)
    return not (current and (claim.name != "push" or ledger.commits[-1].kind != "commit"))


def _is_refused(about: About, ledger: Ledger) -> bool:
    words = [*about.things, *about.names]
    denied = [lowered(item.subject) for item in ledger.approvals if item.decision == "deny"]
    return any(not words or any(word in subject for word in words) for subject in denied)


def _finished(ledger: Ledger) -> bool:
    if ledger.state in (Standing.WORKING, Standing.WAITING, Standing.LIMITED, Standing.FAILED):
        return False
    run, todos = ledger.current_test, ledger.current_todos
    return ledger.said is not None and not (run and run.ok is False) and not (todos and todos.open_items)


def is_file(path: str, name: str) -> bool:
    """Whether a path is, or ends in, a name."""
    return ("/" + lowered(path)).endswith("/" + lowered(name).lstrip("/.~"))


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


def contradicted(claims: Sequence[Claim], sentence: str, ledger: Ledger) -> bool:
    """Whether a sentence asserts what the facts deny."""
    about = About(sentence, sentence, ("",), ())
    return any(claim.asserted and decided(claim, about, ledger) is False for claim in claims)
