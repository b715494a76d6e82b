"""The recap: what you are doing, where it stands, what comes next; from facts alone, every clause with its source."""

from msgspec import Struct

from clew.ledger.facts import Ledger, Request, State
from clew.ledger.words import word_cost
from clew.orient.clauses import Clause, told, work_clauses
from clew.orient.headline import clip, headline, is_imperative
from clew.orient.next_action import next_action, open_end
from clew.orient.phrases import Phrases, phrases
from clew.system.redact import redact

MAX_WORDS = 40


class FactualRecap(Struct, frozen=True, kw_only=True):
    """A recap made of facts. `text` has at most 40 words; the rest is for programs."""

    text: str
    goal: str
    next_step: str
    last_request: str
    language: str
    state: State
    clauses: tuple[Clause, ...]
    last_entry_id: str


def recap(ledger: Ledger, *, title: str = "") -> FactualRecap:
    """Words for a ledger. An empty session gives an empty text."""
    say = phrases(ledger.language)
    goal = goal_clauses(ledger, say, title=title)
    goal_text = _joined(goal, say)
    standing = _standing(ledger, say, goal_text)
    action = next_action(ledger, say) if ledger.goal or ledger.changed_files else None
    step = _next_text(standing, action, ledger, say)
    text = _assemble(goal_text, standing, action, ledger, say)
    clauses = (*goal, *standing, *((action,) if action else ()))
    return FactualRecap(
        text=redact(text),
        goal=redact(goal_text),
        next_step=redact(step),
        last_request=redact(clip(_request_words(ledger.last_request), 30)),
        language=ledger.language,
        state=ledger.state,
        clauses=tuple(Clause(text=redact(clause.text), source=clause.source) for clause in clauses),
        last_entry_id=ledger.last_entry_id,
    )


def goal_clauses(ledger: Ledger, say: Phrases, *, title: str = "", words: int = 18) -> list[Clause]:
    """The task, and the latest request where that went on from it."""
    goal = ledger.goal
    if goal is None:
        return []
    if goal.kind == "command":
        return [Clause(text=say.ran.format(goal.command), source=goal.source)]
    main = headline(goal.text, words=words)
    named = ledger.title or title
    if named and word_cost(named) >= 4 and not named.startswith("New session"):
        main = clip(named, words)
    found = [Clause(text=main, source=goal.source)] if main else []
    later = [item for item in ledger.goals if item is not goal and item.source != goal.source]
    if later and found and word_cost(main) <= words:
        last = headline(later[-1].text, words=9)
        if last and is_imperative(last):
            found.append(Clause(text=last[0].lower() + last[1:], source=later[-1].source))
    return found


def _request_words(request: Request | None) -> str:
    if request is None:
        return ""
    return headline(request.text, words=30) or request.text or request.command


def _standing(ledger: Ledger, say: Phrases, mentioned: str) -> list[Clause]:
    found: list[Clause] = []
    if ledger.state == "failed":
        found.append(
            Clause(text=say.failed.format(clip(ledger.state_detail or "model error", 8)), source=ledger.state_source)
        )
    elif ledger.state == "limited":
        found.append(Clause(text=say.limited, source=ledger.state_source))
    elif ledger.state == "interrupted":
        found.append(Clause(text=say.stopped, source=ledger.state_source))
    elif ledger.state == "working":
        found.append(Clause(text=say.working, source=ledger.state_source))
    else:
        result = told(ledger.result, ledger, 14)
        if result:
            found.append(result)
            mentioned += result.text
    found.extend(work_clauses(ledger, say, mentioned=mentioned))
    return found


def _joined(clauses: list[Clause], say: Phrases) -> str:
    texts = [clause.text for clause in clauses]
    return say.then.format(*texts) if len(texts) == 2 else (texts[0] if texts else "")


def _next_text(standing: list[Clause], action: Clause | None, ledger: Ledger, say: Phrases) -> str:
    parts = [clause.text for clause in standing[:2]]
    if action:
        parts.append(action.text)
    text = say.join.join(parts)
    return text[:1].upper() + text[1:]


def _assemble(goal: str, standing: list[Clause], action: Clause | None, ledger: Ledger, say: Phrases) -> str:
    """Goal, as much of the standing as fits, then the next step: the step always keeps its place."""
    closing = open_end(ledger, say)
    last = action.text if action else ""
    left = MAX_WORDS - word_cost(goal) - word_cost(last)
    middle: list[str] = []
    for clause in standing:
        cost = word_cost(clause.text)
        if cost <= left:
            middle.append(clause.text)
            left -= cost
    if closing and action and closing.text != action.text and word_cost(closing.text) <= left:
        last = f"{last}{say.join}{closing.text}"
    sentences = [part for part in (goal, say.join.join(middle), say.next.format(last) if last else "") if part]
    text = say.stop.join(part[:1].upper() + part[1:].rstrip(".。 ") for part in sentences)
    return text + say.stop.strip() if text else ""
