"""How child agents are told in their parent's story: what one does now under its call, how it began and how it ended.

Their own calls and words are no part of it: whoever wants to read those views the agent.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from clew.orient.deeds import lined, named_call
from clew.presentation.story.activity import seconds
from clew.presentation.story.call_deeds import call_deeds
from clew.presentation.story.passages import AgentPassage, BatchPassage, CallShown, Passage, PromptPassage
from clew.presentation.story.story import ChildAtWork, Story, added, fold, with_call
from clew.protocol.agent_path import below, called, rows_above
from clew.protocol.event_kinds.agents import AgentFacts
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    Ask,
    AttemptEnded,
    CallChanged,
    Envelope,
    PartCompleted,
    ReplyBegan,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    WorkChanged,
)
from clew.protocol.ids import AgentId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart
from clew.protocol.standing import Standing
from clew.text.figures import count, duration, money

MAX_NAMED = 3
DIRECTIVE = "\n\nDirective: "
"""Before the words that a fork was given; what stands before it is for the model."""
FORK = "You are a fork: "


@fold.register
def _(event: AgentStarted, story: Story, at: str) -> Story:
    """The call that started it tells of it; a line of its own only where there is no such call."""
    if event.call_id is not None and not event.background:
        at_work = ChildAtWork(call_id=event.call_id, since=event.since or at)
        story = replace(story, children={**story.children, event.child: at_work})
    if not event.resumed and event.call_id is not None and story.call(event.call_id) is not None:
        return story
    how = "goes on from where it was" if event.resumed else "works"
    beside = " in the background" if event.background and not event.team else ""
    waits = "; it begins when another one has ended" if event.queued else ""
    return added(story, lambda key: AgentPassage(key=key, at=at, text=f"{who_of(event)} {how}{beside}{waits}"))


@fold.register
def _(event: AgentChanged, story: Story, at: str) -> Story:
    """That nobody waits for it any more is told by the end of its call."""
    return _without(story, event.child) if event.background else story


@fold.register
def _(event: AgentEnded, story: Story, at: str) -> Story:
    figures = [f"{event.tally.tokens:,} tokens"] if event.tally.tokens else []
    figures += [money(event.tally.cost_usd)] if event.tally.cost_usd else []
    figures += [duration(event.tally.work_ms)] if event.tally.work_ms else []
    passage = AgentPassage(
        key="",
        at=at,
        text=f"{who_of(event)} {ending(event)}",
        standing=event.standing,
        against=event.facts.against,
        facts=tuple(fact_words(event.facts)),
        figures=" · ".join(figures),
    )
    return added(_without(story, event.child), lambda key: replace(passage, key=key))


@fold.register
def _(event: WorkChanged, story: Story, at: str) -> Story:
    """What members did to the list of work; the main agent's own calls tell of theirs."""
    if not event.done or event.by == "lead":
        return story
    text = f"{event.by} {event.done}" if event.by else f"work list: {event.done}"
    return added(story, lambda key: AgentPassage(key=key, at=at, text=text))


def who_of(event: AgentStarted | AgentEnded) -> str:
    """Who a line is about: a member of the team by its name alone, another agent with its task."""
    if event.team and event.name:
        return event.name
    return f"agent {called(event.kind, event.name, event.task)}"


def ending(ended: AgentEnded) -> str:
    """How it ended, and who brought that about."""
    who = {"user": " by you", "agent": " by an agent", "session": " when the session was closed"}.get(ended.by, "")
    why = f": {' '.join(ended.error.split())}" if ended.error else ""
    match ended.standing:
        case Standing.COMPLETED:
            return "is idle" if ended.team else "has finished"
        case Standing.STOPPED:
            return f"was stopped{who}"
        case Standing.INTERRUPTED:
            return "was interrupted: the process that ran it died; a message to it goes on from its log"
        case Standing.SUSPENDED:
            return f"stopped at a limit{why or (f' ({ended.reason})' if ended.reason else '')}"
        case _:
            return f"failed{why or (f' ({ended.reason})' if ended.reason else ': it never began')}"


def fact_words(facts: AgentFacts) -> Iterator[str]:
    """What its log says that it did, in a few words."""
    for word, items in (("changed", facts.files), ("made", facts.commits), ("failed", facts.failed)):
        if items:
            yield f"{word} {_some(items)}"
    if not facts.files:
        yield "no file changed"
    yield f"tests: {facts.tests}" if facts.tests else "no tests ran"
    if facts.denied:
        yield f"denied {_some(facts.denied)}"
    if facts.left_running:
        yield f"ended with it: {_some(facts.left_running)}"


def _some(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - MAX_NAMED} more" if len(items) > MAX_NAMED else ""
    return ", ".join(items[:MAX_NAMED]) + more


# What one does now.


def child_told(envelope: Envelope, story: Story) -> Story:
    """The story after an event of an agent beside the main one: its calls that are open, and what the call that waits
    for it shows."""
    agent, event, calls = envelope.agent, envelope.event, story.child_calls
    doing = ""
    match event:
        case PartCompleted(part=ToolCallPart() as call):
            story = replace(story, child_calls={**calls, (agent, call.id): meant_call(call)})
        case CallChanged() if (known := calls.get((agent, event.call_id))) is not None:
            changed = replace(known, arguments=event.arguments)
            story = replace(story, child_calls={**calls, (agent, event.call_id): changed})
        case ToolStarted(call=call):
            doing = named_call(call, story.facts.cwd)
        case ToolEnded():
            call_id = event.result.call_id
            doing = lined(call_deeds(event, calls.get((agent, call_id)), story.facts.cwd))
            story = replace(story, child_calls={key: call for key, call in calls.items() if key != (agent, call_id)})
        case Ask():
            doing = "waits for your answer"
        case AttemptEnded() | ReplyBegan():
            pass
        case TurnEnded():
            story = replace(story, child_calls={key: call for key, call in calls.items() if key[0] != agent})
        case AgentEnded(child=child):
            doing = f"{who_of(event)} {ending(event)}"
            story = _without(story, child)
        case _:
            return story
    return _under_its_call(envelope, story, doing)


def _under_its_call(envelope: Envelope, story: Story, doing: str) -> Story:
    """What the outermost agent above, or one below it, does now, for the call that waits for it."""
    rows = rows_above(story.facts.state, envelope.agent)
    if not rows or rows[0].background:
        return story
    top = AgentId(rows[0].task_id)
    known = story.children.get(top)
    if known is None:
        if envelope.agent != top or envelope.parent_call is None:
            return story
        known = ChildAtWork(call_id=envelope.parent_call, since=rows[0].since or envelope.at)  # joined late
    if doing:
        deeper = rows[-1].name or rows[-1].agent_kind if len(rows) > 1 else ""
        known = replace(known, doing=f"{deeper}: {doing}" if deeper else doing)
    story = replace(story, children={**story.children, top: known})
    return _shown_at_work(story, top, known, seconds(envelope.at))


def aged(story: Story, now_s: float) -> Story:
    """The same a while later: the time of those at work goes on, also while they say nothing."""
    for agent, known in story.children.items():
        story = _shown_at_work(story, agent, known, now_s)
    return story


def _shown_at_work(story: Story, agent: AgentId, known: ChildAtWork, now_s: float) -> Story:
    words = "\n".join(filter(None, (known.doing, work_figures(story, agent, now_s - seconds(known.since)))))

    same = True

    def change(shown: CallShown) -> CallShown:
        nonlocal same
        same = shown.state == "ended" or shown.tail == words
        return shown if same else replace(shown, tail=words)

    now = with_call(story, known.call_id, change)
    return story if same else now


def work_figures(story: Story, agent: AgentId, elapsed_s: float) -> str:
    """How many calls, tokens and how much money an agent used so far, those below it included, and for how long."""
    states = [story.facts.state.of(one) for one in below(story.facts.state, agent)]
    used = [state.tally + state.children for state in states]
    cost = sum(one.cost_usd for one in used)
    tokens = sum(one.tokens_so_far for one in used)
    figures = [count(sum(state.calls for state in states), "call"), *([f"{tokens:,} tokens"] if tokens else [])]
    figures += [money(cost)] if cost else []
    return " · ".join([*figures, duration(round(max(elapsed_s, 0.0) * 1000))])


def _without(story: Story, agent: AgentId) -> Story:
    if agent not in story.children:
        return story
    return replace(story, children={one: known for one, known in story.children.items() if one != agent})


# In the view of one.


def as_directive(passage: Passage) -> Passage:
    """The words that a fork was given, as its own line."""
    if not isinstance(passage, PromptPassage) or not passage.text.startswith(FORK) or DIRECTIVE not in passage.text:
        return passage
    return replace(passage, text=passage.text.split(DIRECTIVE, 1)[1])


def under_way(past: tuple[Passage, ...], now: tuple[Passage, ...] = ()) -> tuple[Passage, ...]:
    """The past with the calls of its newest batch that have no result as calls that run."""
    told = {shown.call.id for passage in now if isinstance(passage, BatchPassage) for shown in passage.calls}
    at = next((at for at in range(len(past) - 1, -1, -1) if isinstance(past[at], BatchPassage)), None)
    if at is None:
        return past
    batch = past[at]
    assert isinstance(batch, BatchPassage)
    calls = tuple(
        replace(shown, state="running", cut=False, deeds=()) if shown.cut and shown.call.id not in told else shown
        for shown in batch.calls
    )
    return (*past[:at], replace(batch, calls=calls), *past[at + 1 :])
