"""The factual recap: a form of task, state, what changed and what is open, every item with its source."""

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from clew.ledger.approvals import admits_refusal
from clew.ledger.facts import AgentFact, FileFact, Ledger, Request, Sources
from clew.ledger.failures import left_undone
from clew.ledger.todos import heading_of
from clew.ledger.words import clip, flat, same_words, sentences, word_cost
from clew.orient.claims import claims_in, is_denied
from clew.orient.deeds import file_name, test_counts
from clew.orient.fact_check import contradicted, tells_unwritten
from clew.orient.wording import Wording, wording
from clew.protocol.standing import Standing
from clew.text.redact import redact
from clew.transcript.chain.standing import UNANSWERED

FIELDS = ("task", "request", "state", "changed", "open", "agents", "agent")
_UNLABELLED = ("task", "state")
_LONG = 1500
"""Characters from which a request is mostly pasted material: its first and its last sentence tell what is wanted."""
_FILES = 3
_COMMITS = 2
_AGENTS = 2
_RUNS = 2
_ENDED = {True: "ok", False: "failed", None: ""}
_PLAIN_COMMAND = 10
"""A longer command that printed no figures may be anything that has a test in its text."""
_AT_REST = (Standing.IDLE, Standing.ASKING)
_DEFAULT_BRANCHES = frozenset({"", "main", "master", "develop", "dev", "trunk", "HEAD"})
_LOCK_FILE = re.compile(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|Cargo\.lock|uv\.lock|poetry\.lock|go\.sum)$"
)


class Item(Struct, frozen=True, kw_only=True):
    """One fact of the form and the entries that show it."""

    field: str
    """task, request, state, changed, open, agents or agent."""
    text: str
    source: Sources = ()


class Form(Struct, frozen=True, kw_only=True):
    """Where a session stands. Equal ledgers give equal forms; an empty session gives one without items."""

    items: tuple[Item, ...] = ()
    state: Standing = Standing.IDLE
    language: str = "en"
    project: str = ""
    session_id: str = ""
    last_entry_id: str = ""

    def told(self, field: str) -> str:
        """The items of one field in one line; "" for none."""
        return "; ".join(item.text for item in self.items if item.field == field)

    def lines(self) -> list[str]:
        """One line per field that has something to tell."""
        say = wording(self.language)
        told = ((field, self.told(field)) for field in FIELDS)
        return [f"{getattr(say, field)}: {text}" for field, text in told if text]

    @property
    def text(self) -> str:
        """The whole form in one line: task and state need no label."""
        say = wording(self.language)
        told = ((field, self.told(field)) for field in FIELDS)
        parts = [text if field in _UNLABELLED else f"{getattr(say, field)}: {text}" for field, text in told if text]
        return (f"{self.project}: " if self.project and parts else "") + " · ".join(parts)

    @property
    def standing(self) -> str:
        """The form without task and request, for a list that shows these itself."""
        return " · ".join(filter(None, map(self.told, ("state", "changed", "open", "agents"))))


def form_of(ledger: Ledger, *, title: str = "", project: str = "") -> Form:
    """The form of a ledger; `title` is what another program called the session, `project` where it was at work."""
    say = wording(ledger.language)
    items: list[Item] = []
    if ledger.goal is not None or ledger.changed_files or ledger.commands:
        items = [
            *_asked(ledger, title),
            *_state(ledger, say),
            *_changed(ledger, say),
            *_open(ledger, say),
            *_agents(ledger, say),
            *_agent(ledger),
        ]
    return Form(
        items=tuple(
            Item(field=item.field, text=redact(item.text), source=item.source) for item in items if item.source
        ),
        state=ledger.state,
        language=ledger.language,
        project=file_name(project or ledger.cwd),
        session_id=ledger.session_id,
        last_entry_id=ledger.last_entry_id,
    )


def news(before: Form, after: Form) -> str:
    """What the form gained between leaving and coming back; "" when nothing happened."""
    known = {(item.field, item.text) for item in before.items}
    gained = [item.text for item in after.items if item.field in _NEWS and (item.field, item.text) not in known]
    return f"{wording(after.language).away}: {', '.join(gained)}" if gained else ""


CUT_RESTORE = "files restored in part, /undo completes it"
_NEWS = ("state", "changed", "open", "agents")


def request_words(text: str, words: int) -> str:
    """A request in the user's own words: its first sentences, for pasted material the first and the last."""
    found = sentences(text)
    if not found:
        return clip(flat(text), words)
    if len(text) > _LONG and len(found) > 3:
        last = sentences(text[-_LONG // 3 :])[-1:] or found[-1:]
        return f"{clip(found[0], words // 2)} {clip(last[0], words // 2)}"
    return clip(" ".join(found), words)


def is_telling(title: str) -> bool:
    """A title that says more than a default or an id."""
    return word_cost(title) >= 3 and not title.startswith("New session")


def _asked(ledger: Ledger, title: str) -> Iterator[Item]:
    goal, last = ledger.goal, ledger.last_request
    if goal is None:
        return
    asked = " ".join(filter(None, (goal.command, request_words(goal.text, 26))))
    if not goal.text:  # a command of the user's own: what was said with it comes after it
        worded = next((item for item in ledger.goals if item.text and item != last), None)
        branch = ledger.branch if ledger.branch not in _DEFAULT_BRANCHES else ""
        asked = " ".join(filter(None, (goal.command, branch, request_words(worded.text, 20) if worded else "")))
    plan = ledger.plan
    heading = flat(heading_of(plan.text)) if plan else ""
    named = next((name for name in (ledger.title, title) if is_telling(name)), "")
    if named and not same_words(named, asked):
        yield Item(field="task", text=clip(flat(named), 14), source=goal.source)
    elif plan and plan.approved and is_telling(heading) and not same_words(heading, asked):
        yield Item(field="task", text=clip(heading, 14), source=plan.source)
    yield Item(field="task", text=asked, source=goal.source)
    if last is not None and last.source != goal.source:
        yield Item(field="request", text=_last_words(last, ledger), source=last.source)


def _last_words(last: Request, ledger: Ledger) -> str:
    words = " ".join(filter(None, (last.command, request_words(last.text, 20))))
    if last.kind != "reply":
        return words
    if last.question:
        return f"{words} ({clip(last.question, 16)})"
    before = next((item for item in reversed(ledger.goals) if item.kind != "reply"), None)
    return (
        f"{request_words(before.text or before.command, 18)} … {words}"
        if before and before.source != last.source
        else words
    )


def _state(ledger: Ledger, say: Wording) -> Iterator[Item]:
    word = say.word(ledger.state, ledger.state_by)
    source = ledger.state_source
    if ledger.state is Standing.IDLE and not (any(_open(ledger, say)) or ledger.running_agents or left_undone(ledger)):
        word = say.finished
    if ledger.state in (Standing.FAILED, Standing.SUSPENDED) and ledger.state_detail:
        word = f"{word}: {clip(flat(ledger.state_detail), 14)}"
    elif ledger.doing is not None:
        word = f"{word}: {clip(ledger.doing.text, 12)}"
        source = (*source, *ledger.doing.source)
    elif ledger.state_detail == UNANSWERED and ledger.state is not Standing.WORKING:
        word = f"{word}, {say.unanswered}"
    yield Item(field="state", text=word, source=source)
    for refused in ledger.refused[-1:]:
        what = clip(flat(f"{refused.tool} {refused.subject}"), 10)
        yield Item(
            field="state", text=f"{say.by_rule if refused.by_rule else say.by_you}: {what}", source=refused.source
        )


def main_files(ledger: Ledger) -> list[FileFact]:
    """Changed files, the most worked-on first, lock files last."""
    changed = [file for file in ledger.changed_files if not file.deleted]
    effort = {file.path: file.edits * 5 + file.added + file.removed for file in changed}
    return sorted(changed, key=lambda file: (bool(_LOCK_FILE.search(file.path)), -effort[file.path], -file.order))


def _changed(ledger: Ledger, say: Wording) -> Iterator[Item]:
    latest = {file_name(file.path): file for file in ledger.changed_files}  # what was moved is not gone
    made = {file_name(file.path) for file in ledger.changed_files if file.created or file.failed_edits}
    gone = [file for name, file in latest.items() if file.deleted and name not in made]
    there = [file for file in main_files(ledger) if not latest[file_name(file.path)].deleted]
    for files, after in ((there, ""), (gone, f" {say.deleted}")):
        named = list({file_name(file.path): file for file in reversed(files)}.values())[::-1]
        if named:
            more = f" +{len(named) - _FILES}" if len(named) > _FILES else ""
            shown = ", ".join(file_name(file.path) for file in named[:_FILES])
            source = tuple(entry for file in named[:_FILES] for entry in file.source)
            yield Item(field="changed", text=f"{shown}{more}{after}", source=source)
    for run in ledger.current_tests[-_RUNS:]:
        counts = test_counts(run.passed, run.failed, run.skipped) or _ENDED[run.ok]
        command = flat(run.command)
        gated = ", failed" if run.ok is False and run.passed and not run.failed else ""
        if counts and (run.passed or run.failed or word_cost(command) <= _PLAIN_COMMAND):
            yield Item(field="changed", text=f"{clip(command, 8)}: {counts}{gated}", source=run.source)
    for check in ledger.failing_checks:
        if word_cost(command := flat(check.command)) <= _PLAIN_COMMAND:
            yield Item(field="changed", text=f"{clip(command, 8)}: failed", source=check.source)
    for commit in ledger.commits[-_COMMITS:]:
        name = "PR" if commit.kind == "pr" else commit.kind
        words = (name, commit.ref, clip(flat(commit.subject), 9), commit.url)
        yield Item(field="changed", text=" ".join(filter(None, words)), source=commit.source)


def _agents(ledger: Ledger, say: Wording) -> Iterator[Item]:
    """Who is at work and who ended on the last request; who waits for the user stands under what is open."""
    ended = [one for one in ledger.agents if one.background and one.ended_turn == ledger.turn]
    yield from _told_agents("agents", [one for one in ledger.running_agents if not _waits(one)], say)
    yield from _told_agents("agents", ended, say)


def _told_agents(field: str, agents: list[AgentFact], say: Wording) -> Iterator[Item]:
    """The last agents of some by name, how many others stand how."""
    words = [_word(one, say) for one in agents]
    for agent, word in list(zip(agents, words, strict=True))[-_AGENTS:]:
        name = flat(agent.name) if agent.team else f"“{clip(flat(agent.task or agent.name), 8)}”"
        text = f"{say.agent} {name}: {word}" if field == "open" else f"{name} {word}"
        yield Item(field=field, text=text, source=agent.source)
    for word, count in Counter(words[:-_AGENTS]).items():
        yield Item(field=field, text=f"+{count} {word}", source=agents[0].source)


def _word(agent: AgentFact, say: Wording) -> str:
    """How it stands; a member of a team that has nothing to do is idle."""
    done = agent.standing is Standing.COMPLETED and not agent.team
    return say.finished if done else say.word(agent.standing)


def _waits(agent: AgentFact) -> bool:
    return agent.standing in (Standing.WAITING, Standing.ASKING)


def _open(ledger: Ledger, say: Wording) -> Iterator[Item]:
    if ledger.restore_cut_off:
        yield Item(field="open", text=CUT_RESTORE, source=ledger.state_source)
    pending = ledger.pending_approval
    if pending is not None and ledger.state is Standing.WAITING:
        yield Item(field="open", text=clip(flat(f"{pending.tool} {pending.subject}"), 14), source=pending.source)
    if ledger.question is not None:
        yield Item(field="open", text=clip(flat(ledger.question.text), 30), source=ledger.question.source)
    plan = ledger.plan
    if plan is not None and plan.approved is None and plan.turn == ledger.turn and pending is None:
        yield Item(field="open", text=clip(f"plan {heading_of(plan.text)}", 14), source=plan.source)
    todos = ledger.current_todos
    if todos is not None and todos.open_items:
        first = todos.open_items[0]
        owner = f" ({flat(first.owner)})" if first.owner else ""
        text = f"{todos.done}/{len(todos.items)} {clip(flat(first.content), 12)}{owner}"
        yield Item(field="open", text=text, source=todos.source)
    yield from _told_agents("open", [one for one in ledger.running_agents if _waits(one)], say)


def _denies(sentence: str) -> bool:
    return is_denied(sentence) or admits_refusal(sentence)


def _agent(ledger: Ledger) -> Iterator[Item]:
    """How the agent's last message begins, quoted; only while it is the last word on the last request."""
    said = ledger.said
    if said is None or ledger.state not in _AT_REST:
        return
    whole = sentences(said.text, limit=12)
    told = [item for item in whole if word_cost(item) > 3] or [item for item in whole if word_cost(item) > 1]
    if any(tells_unwritten(sentence, ledger) and not admits_refusal(sentence) for sentence in told):
        return
    if any(not item.worked_since for item in ledger.refused) and not any(map(_denies, told)):
        return
    told = [sentence for sentence in told if not sentence.endswith((":", "："))] or told
    told = [sentence for sentence in told if not contradicted(claims_in(sentence), sentence, ledger)]
    if ledger.question is not None:  # it stands under what is open
        told = [sentence for sentence in told if not same_words(sentence, ledger.question.text)]
    if told:
        yield Item(field="agent", text=f"“{clip(' '.join(told[:3]), 40)}”", source=said.source)
