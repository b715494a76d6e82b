"""Statements that tests pass, and that some fail."""

import re

from clew.ledger.claims.outcome import GOOD, told
from clew.ledger.claims.reality import AND, HISTORY, MODAL, NOT, OTHERS, SURE, UNREAL
from clew.ledger.claims.statements import Statement

_TESTS = (
    r"(?:⟦[TG]\d+⟧|\b(?:\w*tests?|test[- ]?suites?|suites?|specs?|examples|pytest|jest|vitest|playwright|junit|go test|"
    r"cargo test|npm test|\w*testsuite|testfälle|pruebas?)\b|测试)"
)
_TESTS_PASS = (
    re.compile(rf"{_TESTS}[^.;]{{0,70}}?{GOOD}", re.IGNORECASE),
    re.compile(
        rf"(?<!the )\b(?:pass(?:es|ed|ing)?|green|successfully|通过了?)\s*(?:(?:all|the|its|every|existing|of|\d+|unit|"
        rf"integration|e2e|"
        rf"new|full|our|所有|全部)\s*)*{_TESTS}(?!\s+(?:data|fixtures?|input|file|case (?:to|into)))",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\d/.])[1-9][\d,]*\s+(?:tests?\s+)?passed\b(?!\s+(?:to|as|by|into|from))", re.IGNORECASE),
    re.compile(rf"(?<![\d/.])(\d+)\s*(?:/|of)\s*\1\s+(?:{_TESTS}|pass(?:ed|ing)?|green)", re.IGNORECASE),
    re.compile(rf"{_TESTS}[^.;]{{0,40}}?(?<![\d/.])(\d+)\s*(?:/|of)\s*\1(?![\d/.])", re.IGNORECASE),
    re.compile(
        r"^\W*(?:unit|integration|e2e|end-to-end)(?: and \w+)?\s*:?\s*(?-i:PASS|OK|pass(?:es|ed)|✅)", re.IGNORECASE
    ),
)
_ALL_PASS = re.compile(
    rf"^\W*(?:and )?(?:all|everything|they)\b(?:\s+(?:\d+|of them|checks?|now|still|all|were|are|is|"
    rf"was)){{0,3}}\s+{GOOD}",
    re.IGNORECASE,
)
_MAKES_PASS = re.compile(r"\b(?:make|makes|making|get|gets|getting|let|help)\s+(?:\S+\s+){0,4}$", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"\b(?:(?:all|everything|every\w*) but|except|apart from|other than|besides|flaky|pre-existing|unrelated|"
    r"(?-i:CI)|ausgenommen|außer|sauf|excepto|"
    r"salvo)\b|除了",
    re.IGNORECASE,
)
FAILS = re.compile(
    rf"\b(?:[1-9]\d*|one|two|three|some|several|a few|many)\s+(?:\S+\s+){{0,2}}?(?:{_TESTS}\s+)?(?:are\s+|"
    rf"still\s+)?fail(?:s|ed|ing|ures?)?\b|"
    rf"{_TESTS}[^.;,]{{0,50}}\b(?:fail|fails|failed|failing|broken|red|timed? out)\b|{_TESTS}[^.;]*❌|"
    rf"❌[^.;]*{_TESTS}|passed[^.;]{{0,20}}\b[1-9]\d*[^.;]{{0,20}}\berrors?\b|"
    rf"{_TESTS}[^.;,]{{0,50}}\b(?:fehlgeschlagen|fehl|échoue\w*|échoué\w*|fallan?|falló|fallaron)\b|"
    rf"测试[^。；]{{0,12}}失败",
    re.IGNORECASE,
)
_WAS_MENDED = re.compile(
    r"\b(?:fixed|resolved|were|was|had|previously|no longer|repaired|addressed|added|updated|changed)\b|"
    r"修复",
    re.IGNORECASE,
)


def tests_pass(statement: Statement) -> bool:
    """Whether it tells that tests pass."""
    text = SURE.sub(" ", told(statement.text))
    found = next((match for pattern in _TESTS_PASS if (match := pattern.search(text))), None)
    if found is None and re.search(r"\btests?\b", statement.around, re.IGNORECASE):
        found = _ALL_PASS.search(text)
    if found is not None and found.group(0).startswith("⟦G") and found.group(0)[-1] in "✅✓✔":
        return False  # a file of tests with a tick: whatever the tick is for
    if found is None or _LEFT_OUT.search(text) or FAILS.search(text) or _MAKES_PASS.search(text[: found.start()]):
        return False
    near = AND.split(text[: found.start()])[-1]
    unreal = UNREAL.search(text[: found.start()]) or MODAL.search(found.group(0))
    return not (unreal or HISTORY.search(text) or NOT.search(near + found.group(0)) or OTHERS.search(near))


def tests_fail(statement: Statement) -> bool:
    """Whether it tells that some tests fail."""
    text = told(statement.text)
    found = FAILS.search(text)
    return found is not None and not UNREAL.search(text[: found.end()]) and not _WAS_MENDED.search(text)
