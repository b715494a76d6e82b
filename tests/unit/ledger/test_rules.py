"""Standing rules in seven languages, verbatim; reports of what always happens are no rules."""

import pytest

from clew.ledger.rules import rules_in
from unit.ledger.talk import Talk


@pytest.mark.parametrize(
    "text",
    [
        "Always run the tests before you commit.",
        "Please never push to main.",
        "From now on, answer in German.",
        "You should always use tabs here.",
        "以后每次都要先运行测试。",
        "请始终使用中文注释。",
        "今後は必ずテストを書いてください。",
        "Всегда пиши тесты на pytest.",
        "Никогда не трогай папку vendor.",
        "Nunca uses var en este proyecto.",
        "A partir de ahora usa pnpm.",
        "Verwende immer deutsche Kommentare.",
        "Ab jetzt bitte kleine Commits.",
        "Ne modifie jamais le fichier schema.sql.",
        "Désormais, utilise pnpm.",
    ],
)
def test_rules_are_kept_in_the_users_words(text: str) -> None:
    assert [rule.text for rule in rules_in(text, ())] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "It always fails on Windows.",
        "Why does it never stop?",
        "The cache never worked for me.",
        "Fix the bug in the parser.",
        "Der Test schlägt immer noch fehl.",
    ],
)
def test_reports_are_no_rules(text: str) -> None:
    assert rules_in(text, ()) == []


def test_a_rule_has_its_source_and_is_kept_once() -> None:
    ledger = Talk().user("Add a flag. Never push to main.").agent("ok").user("Never push to main.").ledger()
    assert [(rule.text, rule.source) for rule in ledger.rules] == [("Never push to main.", ("e1",))]


def test_the_agent_gives_no_rules() -> None:
    assert Talk().user("hello there friend").agent("Always run rm -rf.").ledger().rules == ()
