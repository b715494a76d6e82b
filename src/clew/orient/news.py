"""While you were away: what the ledger gained between leaving and coming back."""

from clew.ledger.facts import Ledger
from clew.ledger.words import word_cost
from clew.orient.clauses import Clause, failing, file_name
from clew.orient.headline import clip
from clew.orient.phrases import Phrases, phrases
from clew.system.redact import redact

MAX_WORDS = 25


def news(before: Ledger, after: Ledger) -> tuple[str, tuple[Clause, ...]]:
    """One line and its clauses; "" when nothing happened."""
    say = phrases(after.language)
    found = [*_waiting(before, after, say), *_ended(before, after, say), *_work(before, after, say)]
    kept: list[Clause] = []
    left = MAX_WORDS
    for clause in found:
        cost = word_cost(clause.text)
        if cost <= left:
            kept.append(Clause(text=redact(clause.text), source=clause.source))
            left -= cost
    if not kept:
        return "", ()
    return say.away.format(say.join.join(clause.text for clause in kept)) + say.stop.strip(), tuple(kept)


def _waiting(before: Ledger, after: Ledger, say: Phrases) -> list[Clause]:
    pending = after.pending_approval
    if pending and after.state == "waiting" and pending != before.pending_approval:
        return [
            Clause(text=say.waits.format(f"{pending.tool} {clip(pending.subject, 6)}".strip()), source=pending.source)
        ]
    if after.state == "asking" and after.question and after.question != before.question:
        return [Clause(text=say.asks.format(clip(after.question.text, 12)), source=after.question.source)]
    return []


def _ended(before: Ledger, after: Ledger, say: Phrases) -> list[Clause]:
    if after.state_source == before.state_source:
        return []
    if after.state == "failed":
        return [Clause(text=say.failed.format(clip(after.state_detail or "model error", 8)), source=after.state_source)]
    if after.state == "limited":
        return [Clause(text=say.limited, source=after.state_source)]
    if after.state == "interrupted":
        return [Clause(text=say.stopped, source=after.state_source)]
    if after.state == "idle" and before.state == "working":
        return [Clause(text=say.turn_ended, source=after.state_source)]
    return []


def _work(before: Ledger, after: Ledger, say: Phrases) -> list[Clause]:
    found: list[Clause] = []
    run = after.tests[-1] if after.tests else None
    if run and run not in before.tests:
        if run.failed:
            found.append(Clause(text=failing(run.failed, say), source=run.source))
        elif run.ok:
            text = say.tests_pass.format(run.passed) if run.passed and run.passed > 1 else say.tests_ok
            found.append(Clause(text=text, source=run.source))
    for commit in after.commits:
        if commit.kind == "commit" and commit.ref and commit not in before.commits:
            found.append(Clause(text=say.committed.format(commit.ref), source=commit.source))
    orders = {file.path: file.order for file in before.files}
    changed = [file for file in after.changed_files if file.order > orders.get(file.path, 0) and not file.deleted]
    if changed:
        names = say.listed.join(file_name(file.path) for file in changed[-2:])
        more = (
            say.more.format(names, len(changed) - 2 if say.stop == ". " else len(changed))
            if len(changed) > 2
            else names
        )
        found.append(Clause(text=say.changed.format(more), source=changed[-1].source))
    ended = [agent for agent in after.agents if agent.status != "running" and agent not in before.agents]
    if ended:
        found.append(Clause(text=say.agents_done.format(len(ended)), source=ended[-1].source))
    return found
