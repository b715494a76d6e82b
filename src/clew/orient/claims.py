"""What a sentence claims about results and state, what the facts say to it, and how people say it in a dialog."""

import re
from collections.abc import Callable
from typing import NamedTuple

from clew.ledger.facts import FileFact, Ledger
from clew.protocol.standing import Standing as State

Facts = Callable[[Ledger], bool | None]
"""True and False where the facts decide; None: somebody must have said it."""


class Claim(NamedTuple):
    """Words that claim something. Without `said` only facts can bear it out."""

    words: re.Pattern[str]
    facts: Facts
    said: re.Pattern[str] | None
    undeniable: Facts
    """Where this is True, the opposite must not be said."""
    of_file: Callable[[FileFact], bool | None] | None = None
    """What the facts say of a file that the sentence names."""


def _claim(
    words: str,
    facts: Facts,
    said: str = "",
    undeniable: Facts | None = None,
    of_file: Callable[[FileFact], bool | None] | None = None,
) -> Claim:
    heard = re.compile(said) if said else None
    return Claim(re.compile(words, re.IGNORECASE), facts, heard, undeniable or facts, of_file)


def _tests(*, good: bool) -> Facts:
    def ask(ledger: Ledger) -> bool | None:
        run = ledger.tests[-1] if ledger.tests else None
        return None if run is None or run.ok is None else run.ok is good

    return ask


def _checks(kind: str, *, good: bool) -> Facts:
    def ask(ledger: Ledger) -> bool | None:
        last = next((check for check in reversed(ledger.checks) if check.kind == kind), None)
        return None if last is None or last.ok is None else last.ok is good

    return ask


def _left(kind: str) -> Facts:
    return lambda ledger: any(item.kind == kind for item in ledger.commits) or None


def _nothing_after(*kinds: str) -> Facts:
    """One of these is the last thing that left the working tree, and nothing changed since."""

    def ask(ledger: Ledger) -> bool | None:
        last = ledger.commits[-1] if ledger.commits else None
        return (last is not None and last.kind in kinds and last.order >= ledger.changes) or None

    return ask


def _in(*states: State) -> Facts:
    return lambda ledger: ledger.state in states


def _finished(ledger: Ledger) -> bool | None:
    if ledger.state not in (State.IDLE, State.ASKING):
        return False if ledger.turn <= 1 else None
    run = ledger.current_test
    return False if run is not None and run.ok is False else ledger.said is not None or None


def _unknown(ledger: Ledger) -> bool | None:
    del ledger
    return None


_TESTS = r"(?:\b(?:tests?|suite|specs?)\b|测试|測試|テスト|тест\w*|prueba\w*)"
_BUILD = r"\b(?:builds?|compil\w+)\b"
_LINT = r"\b(?:lint\w*|type.?check\w*)\b"
_CI = r"\b(?:CI|ci|pipeline|workflow)\b"
_GOOD = r"(?:\bpass(?:es|ed|ing)?\b|\bgreen\b|\bclean\b|succe\w+|通过|通過|成功|прош|проход|pasa)"
_BAD = r"(?:\bfail(?:s|ed|ing|ures?)?\b|\bred\b|\bbroken\b|失败|失敗|пада|fall)"

CLAIMS = (
    _claim(
        rf"{_TESTS}[^.;,]{{0,40}}{_GOOD}|\bpassing tests",
        _tests(good=True),
        rf"{_TESTS}.{{0,60}}(?:{_GOOD}|\bok\b)|\d+ passed|{_GOOD}.{{0,20}}{_TESTS}",
    ),
    _claim(
        rf"{_TESTS}[^.;,]{{0,40}}{_BAD}|\bfail\w+ (?:\w+ )?tests?\b",
        _tests(good=False),
        rf"{_TESTS}.{{0,60}}{_BAD}|{_BAD}.{{0,30}}{_TESTS}",
    ),
    _claim(rf"{_BUILD}[^.;,]{{0,30}}{_GOOD}", _checks("build", good=True), rf"{_BUILD}.{{0,60}}(?:{_GOOD}|\bok\b)"),
    _claim(rf"{_BUILD}[^.;,]{{0,30}}{_BAD}", _checks("build", good=False), rf"{_BUILD}.{{0,80}}(?:{_BAD}|error)"),
    _claim(
        rf"{_LINT}[^.;,]{{0,30}}{_GOOD}",
        _checks("lint", good=True),
        rf"(?:{_LINT}|biome|ruff|clippy|eslint|\btsc\b).{{0,60}}(?:{_GOOD}|\bok\b|no (?:errors|issues))",
    ),
    _claim(rf"{_LINT}[^.;,]{{0,30}}{_BAD}", _checks("lint", good=False), rf"{_LINT}.{{0,80}}(?:{_BAD}|error)"),
    _claim(rf"{_CI}[^.;,]{{0,30}}{_GOOD}", _unknown, rf"(?:{_CI}|run \d+|checks).{{0,60}}(?:{_GOOD}|\bok\b)"),
    _claim(rf"{_CI}[^.;,]{{0,30}}{_BAD}", _unknown, rf"(?:{_CI}|release|build).{{0,80}}(?:{_BAD}|error)"),
    _claim(
        r"\b(?<!un)committed\b|已提交|コミット(?:済|しました)|закоммичен",
        _left("commit"),
        r"(?<!un)committed|commit [0-9a-f]{7}|已提交|コミットしました|закоммич",
        _nothing_after("commit", "push", "tag", "pr", "merge"),
    ),
    _claim(
        r"\b(?<!un)pushed\b|已推送|プッシュ(?:済|しました)",
        _left("push"),
        r"\bpushed\b|已推送|プッシュしました|запуш",
        _nothing_after("push"),
    ),
    _claim(
        r"\bmerged\b|已合并|已合併|マージ(?:済|しました)", _left("merge"), r"\bmerged\b|已合并|已合併|マージしました"
    ),
    _claim(
        r"\b(?:deployed|shipped)\b|\b(?:in|to) production\b|\bwent live\b|已部署|デプロイ(?:済|しました)",
        _unknown,
        r"\b(?:deployed|shipped)\b|in production|已部署|デプロイしました",
    ),
    _claim(r"\b(?:released|published)\b|已发布|已發布", _left("tag"), r"\b(?:released|published)\b|已发布|已發布"),
    _claim(r"\btagged\b", _left("tag"), r"\btagged\b"),
    _claim(
        r"\b(?:PR|pull request)\b[^.;,]{0,30}\b(?:opened|created|is open)\b|\bopened (?:a |the )?(?:PR|pull request)",
        _left("pr"),
        r"(?:\bpr\b|pull request).{0,40}(?:opened|created)|(?:opened|created).{0,30}(?:\bpr\b|pull request)",
    ),
    _claim(
        r"\b(?:deleted|removed|wiped|erased|purged|dropped)\b|已删除|已刪除|削除(?:済|しました)|удал(?:ён|ен|или)",
        lambda ledger: any(file.deleted for file in ledger.files) or None,
        r"\b(?:delet|remov|wip|eras|purg|drop)(?:ed|es|ing)\b|\brm\b|删除|刪除|削除|удал",
        of_file=lambda file: file.deleted if file.deleted or file.edits else None,
    ),
    _claim(r"\brenamed\b", _unknown, r"\brenam(?:e|ed|es|ing)\b|\bgit mv\b|\bmv\b"),
    _claim(
        r"\b(?:reverted|rolled back|undone)\b|已回滚|已還原",
        _unknown,
        r"\brevert(?:ed|s|ing)\b|\brolled back\b|\bundid\b|\bgit (?:revert|reset|checkout|restore)\b|回滚",
    ),
    _claim(
        r"\b(?:rejected|refused|denied|declined)\b",
        lambda ledger: any(item.decision == "deny" for item in ledger.approvals) or None,
        r"\b(?:reject|refus|den[iy]|declin)\w*",
    ),
    _claim(
        r"\b(?:approved|accepted)\b",
        lambda ledger: (ledger.plan is not None and ledger.plan.approved) or None,
        r"\b(?:approv|accept)(?:ed|es)\b|\blgtm\b",
    ),
    _claim(
        r"\b(?:waiting|waits) (?:for|on) (?:your )?(?:approval|permission)|\bapproval is pending", _in(State.WAITING)
    ),
    _claim(
        r"\b(?:wait(?:ing|s)|await(?:ing|s)) (?:for |on )?(?:your |an? |the user's )?"
        r"(?:answer|reply|decision|choice|response)",
        lambda ledger: ledger.question is not None or None,
        r"\?\s*$|let me know|which (?:one|option)|please (?:confirm|provide|choose)|？",
    ),
    _claim(r"\b(?:crashed|errored out)\b", lambda ledger: ledger.state is State.FAILED or None, r"\bcrash|\berror"),
    _claim(
        r"\binterrupted\b|\b(?:was|were|got|been) (?:cut off|aborted|cancelled|canceled)|已中断|已中斷|中断され",
        _in(State.INTERRUPTED, State.LIMITED, State.FAILED),
    ),
    _claim(
        r"\b(?:rate|usage|budget|token|credit) limit\b[^.;]{0,20}\b(?:hit|reached|stopped)|\bran out of \w+",
        lambda ledger: ledger.state is State.LIMITED or None,
        r"\blimit\b.{0,30}(?:hit|reached)",
    ),
    _claim(
        r"\b(?:is|are|still) (?:running|at work|in progress|working on)\b|进行中|実行中です",
        lambda ledger: bool(ledger.running_agents) or ledger.state is State.WORKING or None,
        r"\b(?:is|are|still) (?:running|in progress)\b",
    ),
    _claim(
        r"\b(?:all|everything|work|task|it)\b[^.;,]{0,24}\b(?:completed?|finished|done)\b|"
        r"\b(?:is|are) (?:now )?(?:complete|done|finished)\b|全部完成|已完成|すべて完了|всё готово",
        _finished,
        r"\b(?:is|are) (?:now )?(?:complete|done|finished)\b|\bcompleted?\b|已完成|完了",
    ),
)
