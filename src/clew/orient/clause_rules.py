"""Ways in which a clause of known words is false all the same: out of date, said otherwise, turned round."""

import re
from collections.abc import Callable, Iterator, Sequence

from clew.orient.claims import Claim, code_in, lowered, masked, things, words_in
from clew.orient.evidence import Evidence, Statement
from clew.orient.fact_check import is_file
from clew.orient.vocabulary import EMPTY, is_negation, stem
from clew.protocol.standing import Standing

_STILL = re.compile(r"(?<!was )(?<!were )\b(?:still|remains?|as before|for now|yet to|has to|have to|needs? to)\b")
_OPEN = re.compile(r"\b(?:is|are|still|remains?|the) (?:still |the )?(missing|open|pending|to do|outstanding)\b")
_THERE = re.compile(r"\bstill (?:in|there|exists?|stands?|present|around)\b")
_WAITS = re.compile(
    r"\bwait(?:s|ing)? (?:for|on) (?:your|an?|the) (?:\w+ )?(?:approval|permission|answer|decision|go-ahead|ok|"
    r"confirmation|reply|choice|consent)|\bawait(?:s|ing) your (?:approval|answer|decision|confirmation|reply)"
)
_ASKS = re.compile(r"\b(?:agent|it|assistant) (?:asks|is asking|wants to know)\b")
_RUNS = re.compile(r"\b(?:is|are|still) (?:still )?(?:running|in progress|at work)\b")
_AT_WORK = re.compile(r"\brunning\b|\bin progress\b")
_ANSWERED = re.compile(
    r"\b(?:agent|assistant|it|aider|claude|codex|runner)\b.{0,20}\b(?:described|explained|listed|answered|reported|found|"
    r"said|summari[sz]ed|replied)\b"
)
_TURNED = (
    re.compile(r"\bfrom (?P<old>.{2,60}?) (?:to|onto|into) (?P<new>.{2,60}?)(?:$|[,.;(])"),
    re.compile(
        r"\b(?:renam|convert|chang|turn|migrat|replac|mov|updat)\w* (?P<old>.{2,50}?) (?:to|into|with|by|onto) "
        r"(?P<new>.{2,50}?)(?:$|[,.;(])"
    ),
    re.compile(
        r"(?P<old>\S.{1,50}?) (?:was|were|is|are|been) (?:renamed|converted|changed|replaced|turned|migrated) "
        r"(?:to|into|with|by) (?P<new>.{2,50}?)(?:$|[,.;(])"
    ),
    re.compile(r"(?P<new>\S.{1,50}?) (?:instead of|rather than|replaces|in place of) (?P<old>.{2,50}?)(?:$|[,.;(])"),
    re.compile(r"(?P<old>[^\s`*]+|`[^`]+`)[`*\"]* (?:→|->|=>) [`*\"]*(?P<new>`[^`]+`|\S+)"),
)


def _stale(clause: str, evidence: Evidence) -> str:
    """What is said to be open must not be done; what is said to be so still must be among the last words."""
    told, ledger = lowered(clause), evidence.ledger
    about, names = things(clause), [lowered(name) for name in code_in(clause)]
    if _OPEN.search(told):
        for kind in ("commit", "tag", "push", "merge"):
            if kind in words_in(told) and any(i.kind == kind and i.order >= ledger.changes for i in ledger.commits):
                return f"the {kind} was made"
        rest = [thing for thing in about if thing not in map(stem, _OPEN.findall(told))]
        if (rest or names) and not any(map(is_negation, words_in(told))):
            done = [Claim("fix", "fixed"), *(Claim(name, "done") for name in ("finish", "make", "change"))]
            if any(evidence.heard(claim, rest, names, last=True, enough=0.75) for claim in done):
                return "the agent says that it is done"
        spoken = {*about, "todo", *(stem(word) for name in names for word in words_in(name))}
        for fact in evidence.done:
            if fact.kind == "todo" and fact.claims[0] == Claim("finish", "done") and fact.stems - EMPTY <= spoken:
                return "the task list says that it is done"
    if not _STILL.search(told) or not (about or names):
        return ""
    if _THERE.search(told) and any(
        file.deleted and is_file(file.path, name) for file in ledger.files for name in names
    ):
        return "it was deleted"
    last = [statement for statement in evidence.said if statement.latest]
    last += [fact for fact in evidence.done if fact.kind in ("error", "refused")]
    last += [fact for fact in evidence.done if fact.kind in ("todo", "agent") and not fact.claims[0].holds]
    near = max((statement.share(about, names) for statement in last), default=0.0)
    return "" if near >= 0.5 else "nobody said at the end that it is still so"


def _otherwise(clause: str, evidence: Evidence) -> str:
    """Somebody said the same words and denied them, or said them of another file; and nobody said them so."""
    here = {stem(word) for word in words_in(masked(clause))} - EMPTY
    names = [lowered(name) for name in code_in(clause)]
    if len(here) + len(names) < 3:
        return ""
    denied = any(map(is_negation, words_in(clause)))
    so = otherwise = 0.0
    for statement in evidence.said:
        if statement.by_user:
            continue
        share = statement.share([*here], names if not (other := _other_file(names, statement)) else ())
        if other or denied is not any(map(is_negation, words_in(statement.text))):
            otherwise = max(otherwise, share)
        else:
            so = max(so, share)
    return "the session says this otherwise" if otherwise >= 0.9 and otherwise > so else ""


def _other_file(names: Sequence[str], statement: Statement) -> bool:
    files = [name for name in names if "." in name]
    return (
        bool(files) and not any(f in statement.text for f in files) and any("." in n for n in code_in(statement.text))
    )


def _turned_round(clause: str, evidence: Evidence) -> str:
    """From one thing to another, where the session has it the other way."""
    for old, new in _turns(lowered(clause)):
        turns = [turn for statement in evidence.said if any(word in statement.text for word in old)
                 for turn in _turns(statement.text)]  # fmt: skip
        if any(a & new and b & old for a, b in turns) and not any(a & old and b & new for a, b in turns):
            return "it was the other way round"
    return ""


def _turns(text: str) -> Iterator[tuple[set[str], set[str]]]:
    for pattern in _TURNED:
        for found in pattern.finditer(text):
            old, new = (set(re.findall(r"[\w.]*\w", found.group(side))) - EMPTY for side in ("old", "new"))
            if old - new and new - old:
                yield old - new, new - old


def _no_such_state(clause: str, evidence: Evidence) -> str:
    """Waiting, asking, running and having answered are states of the session."""
    told, ledger = lowered(clause), evidence.ledger
    asking = ledger.question is not None or ledger.state is Standing.ASKING
    waits = _WAITS.search(told)
    allowing = waits is not None and re.search(r"approval|permission|consent", waits.group(0))
    if waits and ledger.state is not Standing.WAITING and not (ledger.refused if allowing else asking):
        return "no approval or answer is waited for"
    if _ASKS.search(told) and not asking:
        return "the agent asks nothing"
    at_work = ledger.running_agents or ledger.doing or ledger.state is Standing.WORKING
    if _RUNS.search(told) and not at_work and not any(_AT_WORK.search(s.text) for s in evidence.last_words):
        return "nothing is running"
    if _ANSWERED.search(told) and all(statement.by_user for statement in evidence.said):
        return "the agent has said nothing"
    return ""


CLAUSE_RULES: tuple[Callable[[str, Evidence], str], ...] = (
    _stale,
    _otherwise,
    _turned_round,
    _no_such_state,
)
