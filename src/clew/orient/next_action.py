"""What comes next: what waits for the user, what the agent announced, what the facts leave open."""

import re

from clew.ledger.facts import Ledger
from clew.ledger.next_step import deed
from clew.ledger.question import offered_act
from clew.orient.clauses import Clause, told
from clew.orient.headline import clip, headline
from clew.orient.phrases import Phrases

_UNDONE = re.compile(r"\b(?:not|n't)\b.*\b(?:pushed|committed)|\buncommitted\b|\bunpushed\b", re.IGNORECASE)
"""A short remark that says no more than what the facts leave open anyway."""


def next_action(ledger: Ledger, say: Phrases, *, words: int = 16) -> Clause | None:
    """The one next step, most pressing first."""
    return _blocked(ledger, say, words) or _announced(ledger, say, words) or open_end(ledger, say, words)


def _blocked(ledger: Ledger, say: Phrases, words: int) -> Clause | None:
    pending = ledger.pending_approval
    if ledger.state == "waiting" and pending:
        return Clause(
            text=say.do_approve.format(f"{pending.tool} {clip(pending.subject, 8)}".strip()), source=pending.source
        )
    if ledger.state == "asking" and ledger.question:
        act = offered_act(ledger.question.text)
        text = (
            say.do_decide.format(clip(act, words))
            if act and say.stop == ". "
            else say.do_answer.format(clip(ledger.question.text, words))
        )
        return Clause(text=text, source=ledger.question.source)
    if ledger.state == "failed" or ledger.state == "limited":
        return Clause(text=say.do_rerun, source=ledger.state_source)
    if ledger.state in ("interrupted", "working"):
        return _unfinished(ledger, say, words)
    return None


def _unfinished(ledger: Ledger, say: Phrases, words: int) -> Clause | None:
    """What was being done when the session stopped."""
    if ledger.todos and ledger.todos.open_items:
        return Clause(text=clip(ledger.todos.open_items[0].content, words), source=ledger.todos.source)
    if ledger.intent:
        step = told(ledger.intent, ledger, words)
        if step:
            return step
    request = ledger.last_request
    if request is None:
        return None
    if ledger.goal and request.source == ledger.goal.source and not ledger.title and len(request.text.split()) > 3:
        changed = ledger.changed_files
        if changed and ledger.state == "working":
            return Clause(text=say.do_review, source=changed[-1].source)
        return Clause(text=say.do_rerun, source=ledger.state_source)
    wanted = headline(request.text, words=words) or request.command
    if request.question and not wanted:
        wanted = clip(request.question, words)
    under_way = ledger.doing is not None or deed(ledger.result)
    template = say.do_finish if under_way else say.do_resume
    return Clause(text=template.format(wanted), source=request.source) if wanted else None


def _announced(ledger: Ledger, say: Phrases, words: int) -> Clause | None:
    repeated = ledger.next_step and ledger.result and ledger.next_step.text == ledger.result.text
    step = None if repeated else told(ledger.next_step, ledger, words)
    if step and not (_UNDONE.search(step.text) and len(step.text.split()) <= 7):
        return step
    if ledger.todos and ledger.todos.open_items:
        return Clause(text=clip(ledger.todos.open_items[0].content, words), source=ledger.todos.source)
    return None


def open_end(ledger: Ledger, say: Phrases, words: int = 16) -> Clause | None:
    """What the facts leave open: failing tests, an unpushed commit, uncommitted changes."""
    run = ledger.tests[-1] if ledger.tests else None
    if run and run.ok is False:
        return Clause(text=say.do_fix_tests, source=run.source)
    kinds = [item.kind for item in ledger.commits]
    last = ledger.commits[-1] if ledger.commits else None
    if last and last.order >= ledger.changes:
        if last.kind == "commit" or (last.kind == "tag" and "push" not in kinds[-2:]):
            return Clause(
                text=say.do_push if last.kind == "commit" else say.do_push_tag.format(last.ref), source=last.source
            )
        if last.kind == "pr":
            return Clause(text=say.do_merge.format(last.ref), source=last.source)
        if last.kind == "push":
            return None
    changed = ledger.changed_files
    if changed and run and run.order < ledger.changes:
        return Clause(text=say.do_test, source=(*run.source, *changed[-1].source))
    if changed:
        return Clause(text=say.do_review, source=changed[-1].source)
    return Clause(text=say.do_read, source=ledger.state_source) if ledger.state == "idle" and ledger.goal else None
