"""Statements that something was committed, pushed or put up for review, and that commands or checks went well."""

import re
from collections.abc import Iterator
from typing import Literal

from clew.ledger.claims.outcome import GOOD, told
from clew.ledger.claims.passing import FAILS
from clew.ledger.claims.reality import is_real
from clew.ledger.claims.statements import Statement

Delivery = Literal["commit", "push", "pr"]
_COMMITTED = (
    r"committed(?=\s*(?:$|[.,:!(✅]|(?:and|as|to|in|on|the|everything|it|them|all|my|both|with|these|this|those|locally|"
    r"successfully|changes?)(?!\w)|⟦))"
    r"(?!\s+(?:and|or)\s+(?:temporary|uncommitted|staged|unstaged))"
)
_DELIVERED: tuple[tuple[Delivery, re.Pattern[str]], ...] = (
    (
        "commit",
        re.compile(
            rf"(?:^\W*|[,:—–-]\s+|\b(?:I|we|I've|we've|have|and|now|also|then|successfully|done)\s+){_COMMITTED}|"
            r"\b(?:changes?|änderung(?:en)?|everything|files?|all|work|it|fix(?:es)?|edits|implementation|updates?|"
            r"improvements?|merge|"
            r"tests?)\s+(?:\w+\s+)?(?:(?:is|"
            r"are|were|was|ist|sind|wurden?|has been|have been)\s+)?(?:now\s+|all\s+|"
            r"also\s+)?committed\b(?!\s+(?:files?|code|by|"
            r"metadata|checkpoints?|version|changes))|"
            r"\bcommits?\s+(?:was |were |has been |have been )?(?:created|made)\b|\b(?:\d+|one|two|three|four|"
            r"five) commits on (?:the|this|my) branch\b|"
            r"^\W*commits?:?\s*⟦H\d+⟧(?=\W*$|\s*\()|"
            r"\b(?:created|made|recorded|landed)\s+(?:(?:a|an|the|one|\d+|two|three|new|initial|single|git|local|"
            r"separate|clean)"
            r"\s+)*commits?\b(?!\s+(?:message|hook|template|objects?|trailers?))|"
            r"\b(?:landed|recorded|saved|is|are|went) (?:[\w/-]+ ){0,4}(?:in|as) (?:the )?commit ⟦H\d+⟧|"
            r"^\W*(?:git: )?(?:\d+|one|two|three) (?:new )?commits? on [\w⟦]|\bcommit: (?:done|✅|✓|✔|⟦H)|"
            r"\bcommit (?:done|✅|✓|✔)|\b(?:hecho|realizado) (?:el |un )?commit\b|"
            r"\bcommittet\b|\beingecheckt\b|\bcommitt?é(?:e|s|es)?\b|\bcommit (?:créé|effectué|creado|realizado|"
            r"hecho)\b|"
            r"\b(?:commiteado|hice (?:el|un) commit)\b|已(?:经)?(?:成功)?提交|提交了",
            re.IGNORECASE,
        ),
    ),
    (
        "push",
        re.compile(
            r"(?<![\w/-])(?<!the )(?:force-)?pushed(?=\s*(?:$|[.,:!)]|to|it|them|the|all|both|changes?|branch|"
            r"commits?|up|and|as|in|\d|⟦|successfully|directly|with))|"
            r"\bpush: (?:done|ok|✅|✓|✔)|\bpush (?:went through|done|succeeded|completed|✅|✓|✔)|"
            r"\bdid a (?:git )?push\b|"
            r"\bsubid[oa]s?\b[^.;]*\b(?:rama|origin|remoto|github|push)\b|"
            r"\bgepusht\b|\bpoussé(?:e|s|es)?\b|\b(?:pusheado|hice push)\b|已(?:经)?(?:成功)?推送|推送了",
            re.IGNORECASE,
        ),
    ),
    (
        "pr",
        re.compile(
            r"\b(?:opened|created|submitted|raised|filed|made)\s+(?:(?:a|an|the|draft|new|⟦\w+⟧|"
            r"\w+)\s+){0,3}?(?:pull requests?|PRs?|"
            r"merge requests?|MRs?)\b(?!\s+(?:template|description|comment|review|title\b|body|check|workflow|link))|"
            r"\b(?:pull request|PR|merge request|MR)\s*(?:\(?[#!]?\d+\)?\s*)?(?:⟦\w+⟧)?\s*(?:(?:is|was|"
            r"has been|is now|wurde|"
            r"a été|ha sido|fue)\s+)?(?:now\s+)?"
            r"(?:opened|created|submitted|(?<=is )(?:open|up)|erstellt|geöffnet|ouverte?|créée?|creado|abierto)\b|"
            r"\b(?:ouvert|créé|abierto|creado|erstellt|geöffnet|eröffnet)\s+(?:\w+\s+)?(?:pull request|PR|"
            r"merge request)\b|"
            r"\b(?:PR|pull request|merge request)\b[^.;]{0,12},? (?:which|that) I (?:opened|created|filed|raised)\b|"
            r"^\W*(?:draft )?(?:PR|pull request|MR|merge request):\s*(?:⟦U\d+⟧|#\d+ ⟦U\d+⟧)|"
            r"(?:已|已经)(?:创建|提交|打开)了?[^。，]{0,6}(?:PR|拉取请求|合并请求)|(?:创建|提交|开)了[^。，]{0,6}(?:PR|拉取请求|"
            r"合并请求)",
            re.IGNORECASE,
        ),
    ),
)
_NOTHING = re.compile(r"\W*(?:nothing|none|no)\b", re.IGNORECASE)
_OTHER_PUSH = re.compile(
    r"\b(?:stack|array|queue|notifications?|events?|transactions?|database|db|offsets?|buffer|list|slice|channel)\b",
    re.IGNORECASE,
)
_COMMAND_WELL = re.compile(rf"⟦[CTFG](\d+)⟧(?=(?:[^.;⟦]|⟦[CT]\d+⟧){{0,60}}?{GOOD})", re.IGNORECASE)
_RAN_WELL = re.compile(
    rf"\b(?:(?:ran|executed|installed|deployed|built|applied|valid|compiles|builds|works|according)\b[^.;⟦]{{0,60}}|"
    rf"{GOOD}[^.;⟦]{{0,30}})⟦[CTFG](\d+)⟧(?=[^.;⟦]{{0,40}}?{GOOD})|"
    rf"{GOOD}[^.;⟦]{{0,12}}(?:\(|\b(?:with|by|of|to|from|in)\s+)⟦[CTFG](\d+)⟧",
    re.IGNORECASE,
)
_TICKED = re.compile(r"^\W*[✅✓✔]\s*⟦[CT](\d+)⟧(?=\s*(?:$|[.:(,-]))")
_BUILD = r"(?:\b(?:builds?|built|compil(?:es|ed|ation)|paket gebaut)\b|构建|编译)"
_LINT = r"(?:\b(?:lint(?:er|ing|s)?|type[- ]?(?:check(?:s|ing|er)?|errors)|types|typescript)\b|类型检查|代码检查)"
_CHECK_WELL = (
    (
        "build",
        re.compile(
            rf"{_BUILD}[^.;]{{0,50}}?{GOOD}|\b(?:project|code|image|app|package|it|everything) (?:now |still |"
            rf"again )?(?:builds|compiles)\b(?! (?:the|a|an|on|from|into)\b)",
            re.IGNORECASE,
        ),
    ),
    ("lint", re.compile(rf"{_LINT}[^.;]{{0,40}}?{GOOD}|successfully\s+{_LINT}|\bno type errors\b", re.IGNORECASE)),
)


def deliveries(statement: Statement) -> Iterator[Delivery]:
    """What it tells to have been committed, pushed, or put up as a pull request."""
    for kind, pattern in _DELIVERED:
        for found in pattern.finditer(statement.text):
            away = _OTHER_PUSH.search(statement.text) or _NOTHING.match(statement.text, found.end())
            if is_real(statement.text, found.start(), found.end()) and not away:
                yield kind
                break


def commands_went_well(statement: Statement) -> Iterator[str]:
    """The commands that it tells to have succeeded, as it names them."""
    text = told(statement.text)
    for pattern in (_COMMAND_WELL, _RAN_WELL, _TICKED):
        for found in pattern.finditer(text):
            if is_real(text, found.start(), found.end()) and not FAILS.search(text):
                yield from (statement.name(number) for number in found.groups() if number)


def checks_went_well(statement: Statement) -> Iterator[str]:
    """The kinds of checks (`build`, `lint`) that it tells to have succeeded."""
    text = told(statement.text)
    for kind, pattern in _CHECK_WELL:
        found = pattern.search(text)
        if found and is_real(text, found.start(), found.end()) and not FAILS.search(text):
            yield kind
