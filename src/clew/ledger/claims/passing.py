"""Statements that tests pass, and that some fail."""

import re

from clew.ledger.claims.reality import AND, GOOD_NOTHING, MODAL, NOT, OTHERS, UNREAL
from clew.ledger.claims.statements import Statement

_TESTS = (
    r"(?:⟦[TG]\d+⟧|\b(?:tests?|test[- ]?suites?|suites?|specs?|pytest|jest|vitest|go test|cargo test|npm test|"
    r"testsuite|"
    r"testfälle|pruebas?)\b)"
)
_PASSED = (
    r"(?:\b(?:pass(?:es)?(?!\s+(?:the|a|an|it|in|to|through|arguments?)\b)|succeed(?:s|ed)?|green|"
    r"passed(?=\s*(?:[.,;:!)✅✓(]|$|in \d|with|on|locally|successfully|and|now|after|again|cleanly|without|under|"
    r"for|⟦))|"
    r"(?:is|are|all|now|still|\d+|remain) passing|passing(?=\s*(?:[.,;:!)✅✓(]|$))|"
    r"(?:runs?|ran|complete[sd]?|execut\w+|finish\w*|are|is|were|was) (?:successful(?:ly)?|clean(?:ly)?|ok)|"
    r"bestanden|grün\w*|bestehen|erfolgreich|laufen (?:alle )?durch|durchgelaufen|"
    r"passent|réussi(?:s|es|ssent)?|au vert|verts|pasan|pasaron|pasado|en verde|exitosas?|con éxito)\b|✅|✓|✔)"
)
_TESTS_PASS = (
    re.compile(rf"{_TESTS}[^.;]{{0,70}}?{_PASSED}", re.IGNORECASE),
    re.compile(
        rf"\b(?:pass(?:es|ed|ing)?|green)\s+(?:(?:all|the|its|every|existing|of|\d+|unit|integration|e2e|new|full|"
        rf"our)\s+)*"
        rf"{_TESTS}(?!\s+(?:data|fixtures?|input|file|case (?:to|into)))",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\d/.])[1-9][\d,]*\s+(?:tests?\s+)?passed\b(?!\s+(?:to|as|by|into|from))", re.IGNORECASE),
    re.compile(r"(?<![\d/.])(\d+)/\1\s+(?:tests?\s+)?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE),
    re.compile(r"测试[^。；]{0,15}?(?:通过|成功|全绿|✅)|通过了?(?:所有|全部|了)?[^。，]{0,6}测试"),
)
_ALL_PASS = re.compile(
    r"^\W*(?:all|everything)(?: \d+)?(?: checks?)?(?: now| still)? (?:pass(?:es|ed|ing)?|green)\b", re.IGNORECASE
)
_MAKES_PASS = re.compile(r"\b(?:make|makes|making|get|gets|getting|let|help)\s+(?:\S+\s+){0,4}$", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"\b(?:except|apart from|other than|besides|flaky|pre-existing|unrelated|(?-i:CI)|ausgenommen|außer|sauf|excepto|"
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
    text = GOOD_NOTHING.sub(" ", statement.text)
    found = next((match for pattern in _TESTS_PASS if (match := pattern.search(text))), None)
    if found is None and re.search(r"\btests?\b", statement.around, re.IGNORECASE):
        found = _ALL_PASS.search(text)
    if found is not None and found.group(0).startswith("⟦G") and found.group(0)[-1] in "✅✓✔":
        return False  # a file of tests with a tick: whatever the tick is for
    if found is None or _LEFT_OUT.search(text) or FAILS.search(text) or _MAKES_PASS.search(text[: found.start()]):
        return False
    near = AND.split(text[: found.start()])[-1]
    unreal = UNREAL.search(text[: found.start()]) or MODAL.search(found.group(0))
    return not (unreal or NOT.search(near + found.group(0)) or OTHERS.search(near))


def tests_fail(statement: Statement) -> bool:
    """Whether it tells that some tests fail."""
    text = GOOD_NOTHING.sub(" ", statement.text)
    found = FAILS.search(text)
    return found is not None and not UNREAL.search(text[: found.end()]) and not _WAS_MENDED.search(text)
