"""A model's words against the ledger: no file, number, name or claim of success that the facts do not hold."""

import re
from collections.abc import Callable

from clew.ledger.facts import Ledger
from clew.ledger.words import word_cost

_FILE = re.compile(r"(?<![\w/])[\w@.+~-]*(?:/[\w@.+-]+)+/?|\b[\w+-]+(?:\.[\w+-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?![\w])")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]{2,80})\"|“([^”]{2,80})”")
_NAME = re.compile(
    r"\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b|\b\w+_\w+\b|#\d+|\b[0-9a-f]{7,40}\b|\b[A-Z]{2,}-\d+\b|"
    r"(?<=\w )[A-Z][a-z]{2,}\b|--[\w-]+"
)
_COMMON_WORDS = """
    next done then and the you your waiting asks review commit push run fix tests test monday tuesday wednesday thursday
    friday saturday sunday english python git github api cli tui json html css sql ci pr
"""
_COMMON = frozenset(_COMMON_WORDS.split())

_NOT = r"(?<!not )(?<!n't )(?<!never )(?<!not yet )(?<!to )(?<!be )(?<!un)"
_CLAIMS: tuple[tuple[re.Pattern[str], Callable[[Ledger], bool]], ...] = (
    (
        re.compile(
            r"\btests?\b[^.;,]{0,40}\b(?:pass(?:es|ed|ing)?|green|succeed)|测试[^。]{0,8}通过|測試[^。]{0,8}通過|"
            r"テスト[^。]{0,8}(?:成功|通)",
            re.IGNORECASE,
        ),
        lambda ledger: bool(ledger.tests) and ledger.tests[-1].ok is True,
    ),
    (
        re.compile(
            r"\b(?:build|lint|type.?check\w*|CI)\b[^.;,]{0,30}\b(?:pass(?:es|ed|ing)?|clean|green|succe\w+)",
            re.IGNORECASE,
        ),
        lambda ledger: bool(ledger.checks) and ledger.checks[-1].ok is True,
    ),
    (
        re.compile(_NOT + r"\bcommitted\b|已提交|コミット済|закоммичен", re.IGNORECASE),
        lambda ledger: _has(ledger, "commit"),
    ),
    (
        re.compile(_NOT + r"\bpushed\b|已推送|プッシュ済|отправлен[оы]? в", re.IGNORECASE),
        lambda ledger: _has(ledger, "push"),
    ),
    (
        re.compile(_NOT + r"\bmerged\b|已合并|已合併|マージ済", re.IGNORECASE),
        lambda ledger: _has(ledger, "merge") or _said(ledger, "merged"),
    ),
    (
        re.compile(_NOT + r"\b(?:deployed|released|published|shipped)\b|已部署|已发布|已發布", re.IGNORECASE),
        lambda ledger: _said(ledger, "deploy", "releas", "publish", "ship", "部署", "发布", "發布"),
    ),
    (
        re.compile(
            _NOT
            + r"\b(?:fixed|solved|resolved|completed?|finished|done|implemented|works)\b|已完成|已修复|已修復|完了",
            re.IGNORECASE,
        ),
        lambda ledger: ledger.state in ("idle", "asking") and ledger.result is not None,
    ),
)


def _has(ledger: Ledger, kind: str) -> bool:
    return any(item.kind == kind for item in ledger.commits)


def _said(ledger: Ledger, *stems: str) -> bool:
    """The agent's own report or a command says so."""
    words = " ".join(
        [
            ledger.result.text if ledger.result else "",
            *(command.command for command in ledger.commands if not command.failed),
        ]
    ).casefold()
    return any(stem in words for stem in stems)


def objections(text: str, ledger: Ledger, *, max_words: int = 40) -> list[str]:
    """Everything in the text that the facts do not bear out; empty means it may be shown."""
    found: list[str] = []
    if word_cost(text) > max_words:
        found.append(f"more than {max_words} words")
    if "\n" in text.strip() or re.search(r"\*\*|^#|^[-*] |```", text):
        found.append("markdown or several lines")
    known = known_words(ledger)
    found.extend(f"file not in the facts: {name}" for name in _files(text) if not _is_known(name, known))
    found.extend(f"name not in the facts: {name}" for name in _names(text) if not _is_known(name, known))
    numbers = _numbers_of(ledger) | set(_NUMBER.findall(known))
    found.extend(f"number not in the facts: {number}" for number in _NUMBER.findall(text) if number not in numbers)
    found.extend(
        f"claim the facts do not hold: {claim.group(0)}"
        for pattern, holds in _CLAIMS
        if (claim := pattern.search(text)) and not holds(ledger)
    )
    return found


def known_words(ledger: Ledger) -> str:
    """The words of all facts, lower case, in which a name must occur; ids and times are not among them."""
    pieces = [ledger.title, ledger.branch, ledger.cwd, ledger.state_detail, *(rule.text for rule in ledger.rules)]
    for goal in ledger.goals:
        pieces += [goal.text, goal.restated, goal.command, goal.question]
    pieces += [ledger.last_request.text if ledger.last_request else "", ledger.plan.text if ledger.plan else ""]
    pieces += [file.path for file in ledger.files] + [command.command for command in ledger.commands]
    pieces += [f"{run.runner} {run.passed} {run.failed} {run.skipped}" for run in ledger.tests]
    pieces += [f"{check.kind} {check.detail}" for check in ledger.checks]
    pieces += [f"{item.kind} {item.ref} {item.subject} {item.branch} {item.url}" for item in ledger.commits]
    pieces += [item.content for item in ledger.todos.items] if ledger.todos else []
    pieces += [f"{item.tool} {item.subject}" for item in ledger.approvals]
    pieces += [f"{agent.name} {agent.task}" for agent in ledger.agents]
    pieces += [f"{error.where} {error.text}" for error in ledger.errors]
    pieces += [said.text for said in (ledger.question, ledger.next_step, ledger.result, ledger.intent) if said]
    return "\n".join(pieces).casefold().replace("\\", "/")


def _numbers_of(ledger: Ledger) -> set[str]:
    """Counts that a sentence may state although no entry spells them."""
    counts = {
        len(ledger.changed_files),
        len(ledger.commits),
        ledger.command_count,
        len(ledger.goals),
        len(ledger.agents),
        ledger.user_turns,
    }
    if ledger.todos:
        counts |= {ledger.todos.done, len(ledger.todos.items), len(ledger.todos.items) - ledger.todos.done}
    for run in ledger.tests:
        counts |= {run.passed or 0, run.failed or 0, (run.passed or 0) + (run.failed or 0)}
    return {str(count) for count in counts}


def _files(text: str) -> list[str]:
    return [
        name.rstrip("./")
        for name in _FILE.findall(text)
        if any(map(str.isalpha, name)) and name.casefold() not in ("e.g", "i.e")
    ]


def _names(text: str) -> list[str]:
    quoted = ["".join(found.groups("")) for found in _QUOTED.finditer(text)]
    plain = [name for name in _NAME.findall(text) if name.casefold() not in _COMMON]
    return quoted + plain


def _is_known(name: str, known: str) -> bool:
    wanted = name.casefold().strip("`'\"./ ")
    if not wanted or wanted in known:
        return True
    return (
        all(word in known for word in re.findall(r"[\w.-]{2,}", wanted))
        and bool(re.findall(r"[\w.-]{2,}", wanted))
        and "/" not in wanted
    )
