"""The recap: what you are doing, where it stands, what comes next; from facts alone, every clause with its source."""

import re

from msgspec import Struct

from clew.ledger.facts import Ledger, Request, State
from clew.ledger.goals import keywords
from clew.ledger.next_step import deed
from clew.ledger.state import UNANSWERED
from clew.ledger.words import word_cost
from clew.orient.clauses import Clause, commit_clauses, error_words, told, work_clauses
from clew.orient.headline import capital, clip, headline, is_imperative, is_vague, lower_first, short_paths
from clew.orient.next_action import next_action, open_end
from clew.orient.phrases import Phrases, phrases
from clew.orient.request_patterns import INJECTION
from clew.system.redact import redact

MAX_WORDS = 40


_DEFAULT_BRANCHES = frozenset({"", "main", "master", "develop", "dev", "trunk", "HEAD"})


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


def recap(ledger: Ledger, *, title: str = "", project: str = "", live: bool = False) -> FactualRecap:
    """Words for a ledger; `live`: its session is being worked on now. An empty session gives an empty text."""
    say = phrases(ledger.language)
    goal = goal_clauses(ledger, say, title=title)
    goal_text = capital(_joined(goal, say))
    place = project_name(ledger, project)
    if goal_text and place and place.casefold() not in goal_text.casefold():
        goal_text = f"{place}: {goal_text}"
    standing = [clause for clause in _standing(ledger, say, goal_text, live=live) if clause.source]
    action = next_action(ledger, say, words=11) if ledger.goal or ledger.changed_files else None
    if live and ledger.state == "working":
        action = Clause(text=say.do_wait, source=ledger.state_source)
    if action and not action.source:
        action = None
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


_DULL_WORDS = """
    src app apps repo project projects workspace work code dev home root tmp temp
    test tests demo sample testbed users user
    documents desktop downloads build main master git github
"""
_DULL = frozenset(_DULL_WORDS.split())


def project_name(ledger: Ledger, project: str = "") -> str:
    """The folder the work is in, where its name says something."""
    root = project or ledger.cwd or _common_folder(ledger)
    name = root.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    if (
        re.search(r"[0-9a-f]{7}", name)
        or len(name) < 3
        or len(name) > 40
        or name.casefold() in _DULL
        or not name[0].isalpha()
    ):
        return ""
    return name


def _common_folder(ledger: Ledger) -> str:
    """The deepest folder that holds all files named by absolute paths."""
    folders = [file.path.split("/")[:-1] for file in ledger.files if file.path.startswith("/")]
    if len(folders) < 2:
        return ""
    shared: list[str] = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared) if len(shared) > 3 else ""


_SHIPPING = re.compile(
    r"^\W*(?:ok(?:ay)?,?\s+|now\s+|please\s+)?(?:git\s+)?(?:commit|push|コミット|プッシュ|提交|推送)\S*(?:\s+\S+){0,3}\W*$",
    re.IGNORECASE,
)
"""A request that the commits themselves tell."""
_ASKING = re.compile(r"^\W*(?:why|how|what|where|which|who|is|are|does|do|did|when)\b", re.IGNORECASE)
"""A question that led to work: the work says more than the question."""


def goal_clauses(ledger: Ledger, say: Phrases, *, title: str = "", words: int = 20) -> list[Clause]:
    """The task, and the requests that went on from it as far as there is room, in their order."""
    goal = ledger.goal
    if goal is None:
        return []
    at = next((index for index, item in enumerate(ledger.goals) if item.source == goal.source), 0)
    later = [item for item in ledger.goals[at + 1 :] if item.kind != "command"]
    steps = _later_steps([item for item in later if not (ledger.commits and _SHIPPING.match(item.text))] or later)
    room = 18 if not steps else 9 if _ASKING.match(goal.text) and len(steps) > 1 else 14
    main = _main_goal(goal, ledger, say, title, room)
    if not main.text:
        return []
    left = words - word_cost(main.text)
    kept: list[Clause] = []
    for step in reversed(steps):
        cost = word_cost(step.text)
        if cost > left or len(kept) == 3:
            break
        kept.append(step)
        left -= cost
    return [main, *reversed(kept)]


def _main_goal(goal: Request, ledger: Ledger, say: Phrases, title: str, words: int) -> Clause:
    named = ledger.title or title
    if is_telling(named):
        request = headline(goal.text, words=words)
        text = named if len(keywords(named) & keywords(request)) * 2 > len(keywords(named)) else f"{named}: {request}"
        return Clause(text=clip(text, words), source=goal.source)
    if goal.kind == "command":
        where = f" ({ledger.branch})" if ledger.branch not in _DEFAULT_BRANCHES else ""
        did = say.ran.format(goal.command + where)
        text = f"{did}: {goal.restated}" if goal.restated else did
        return Clause(text=clip(text, words), source=(*goal.source, goal.restated_in) if goal.restated else goal.source)
    main = headline(goal.text, words=words)
    if goal.restated and is_vague(main) and len(keywords(main) & keywords(goal.restated)) * 2 <= len(keywords(main)):
        extra = clip(goal.restated, words - min(word_cost(main), words // 2))
        return Clause(text=f"{main}: {extra}" if main else extra, source=(*goal.source, goal.restated_in))
    return Clause(text=main, source=goal.source)


def is_telling(title: str) -> bool:
    """A title that says more than a default or an id."""
    return word_cost(title) >= 3 and not title.startswith("New session")


def _later_steps(later: list[Request]) -> list[Clause]:
    found: list[Clause] = []
    for item in later:
        text = headline(item.text, words=8 if len(later) > 1 else 11)
        if text and (is_imperative(text) or (len(later) == 1 and len(keywords(text)) >= 3)):
            found.append(Clause(text=text[0].lower() + text[1:] if text[1:2].islower() else text, source=item.source))
    return found


def _request_words(request: Request | None) -> str:
    if request is None:
        return ""
    return headline(request.text, words=30) or request.text or request.command


def _standing(ledger: Ledger, say: Phrases, mentioned: str, *, live: bool) -> list[Clause]:
    found: list[Clause] = []
    if ledger.state == "failed":
        found.append(
            Clause(
                text=say.failed.format(clip(error_words(ledger.state_detail) or "model error", 8)),
                source=ledger.state_source,
            )
        )
    elif ledger.state == "limited":
        why = error_words(ledger.limit.text) if ledger.limit else ""
        text = f"{say.limited}: {clip(why, 8)}" if why else say.limited
        found.append(Clause(text=text, source=ledger.state_source))
    elif ledger.state == "interrupted":
        found.append(_stop(ledger, say.stopped, say.stopped_at))
    elif ledger.state == "working":
        cut = say.unanswered if ledger.state_detail == UNANSWERED else say.working
        found.append(Clause(text=say.busy, source=ledger.state_source) if live else _stop(ledger, cut, say.cut_at))
    if ledger.state not in ("failed", "limited") and ledger.state_detail != UNANSWERED:
        commits = commit_clauses(ledger, say, mentioned=mentioned + (ledger.result.text if ledger.result else ""))
        found.extend(commits)
        settled = ledger.state in ("idle", "asking", "waiting")
        result = told(ledger.result, ledger, 13 if not commits else 10) if settled or deed(ledger.result) else None
        if result:
            found.append(result)
            mentioned += result.text
    said = " ".join(clause.text for clause in found)
    mentioned += said
    found.extend(work_clauses(ledger, say, mentioned=mentioned, said=said))
    return list({clause.text: clause for clause in found or work_clauses(ledger, say, mentioned="")}.values())


def _stop(ledger: Ledger, bare: str, during: str) -> Clause:
    """That the work stopped, and in the middle of which call."""
    call = ledger.doing
    if call is None or not call.text.strip("` "):
        return Clause(text=bare, source=ledger.state_source)
    noted = call.note and ledger.language == "en" and not INJECTION.search(call.note)
    words = f'"{clip(call.note, 9)}"' if noted else clip(call.text, 9)
    return Clause(text=during.format(words), source=(*ledger.state_source, *call.source))


def _joined(clauses: list[Clause], say: Phrases) -> str:
    return say.join.join(clause.text for clause in clauses)


def _next_text(standing: list[Clause], action: Clause | None, ledger: Ledger, say: Phrases) -> str:
    parts: list[str] = []
    left = _STEP_WORDS
    for clause in standing:
        cost = word_cost(clause.text)
        if cost <= left:
            parts.append(clause.text)
            left -= cost
    if action:
        parts.append(action.text)
    parts = [part if index == 0 else lower_first(part) for index, part in enumerate(parts)]
    text = say.join.join(parts)
    return capital(text)


def _assemble(goal: str, standing: list[Clause], action: Clause | None, ledger: Ledger, say: Phrases) -> str:
    """Goal, as much of the standing as fits, then the next step: the step always keeps its place."""
    last = say.next.format(lower_first(action.text)) if action else ""
    left = MAX_WORDS - word_cost(goal) - word_cost(last)
    middle: list[str] = []
    for clause in standing:
        text = (
            clause.text
            if word_cost(clause.text) <= left
            else clip(clause.text, left)
            if left >= _LEAST and not middle
            else ""
        )
        if text:
            middle.append(lower_first(text) if middle else text)
            left -= word_cost(text)
    closing = open_end(ledger, say) if ledger.state in ("idle", "asking") else None
    if closing and action and closing.text not in (action.text, say.do_read) and word_cost(closing.text) <= left:
        last = f"{last.rstrip('.!。 ')}{say.join}{closing.text}"
    sentences = [part for part in (goal, say.join.join(middle), last) if part]
    text = short_paths("".join(_sentence(part, say, plain=part is goal) for part in sentences).strip())
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


_STEP_WORDS = 16
_MAX_CHARS = 600
_LEAST = 6
"""Fewer words of a clause than this say nothing."""


def _sentence(text: str, say: Phrases, *, plain: bool) -> str:
    """One sentence with its stop; a question mark or a cut is stop enough."""
    bare = text.rstrip(".。!！ ")
    ended = bare.endswith(("?", "？", "…")) and say.stop == ". "
    return (bare if plain else capital(bare)) + (" " if ended else say.stop)
