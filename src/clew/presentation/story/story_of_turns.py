"""How a turn is told: prompts, words, reasoning, calls and their ends."""

from collections.abc import Iterator
from typing import cast

from msgspec.structs import replace

from clew.orient.deeds import Deed, fitted, grouped, unanswered
from clew.presentation.plan_text import answer_words
from clew.presentation.story.call_deeds import call_deeds
from clew.presentation.story.passages import (
    BatchPassage,
    CallShown,
    NotePassage,
    Passage,
    PlanPassage,
    PromptPassage,
    ReasoningPassage,
    ShellPassage,
    TurnPassage,
    WordsPassage,
)
from clew.presentation.story.story import LATE, Story, added, fold, known, put, settled, with_call
from clew.presentation.story.wake_line import woken
from clew.protocol.display import TableBlock
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    AttemptEnded,
    BatchLabelled,
    CallChanged,
    ElicitationRequested,
    PartCompleted,
    PlanAnswered,
    PlanProposed,
    PromptAccepted,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    ReplyWithdrawn,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Json,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    result_text,
    text_of,
)
from clew.text.figures import count, duration, money

MAX_TAIL_CHARS = 8_000
MAX_DONE = 200
ENDINGS = {
    "max_turns": "Stopped: the step limit is reached",
    "max_budget": "Stopped: the budget is spent",
    "prompt_too_long": "Stopped: the conversation no longer fits the model",
    "output_limit": "Stopped: the answer is longer than the model may write",
    "model_error": "Stopped by an error",
    "stopped_by_denial": "Stopped by your no",
    "stopped_by_hook": "Stopped by a hook",
    "no_structured_output": "No answer had the shape that was asked for",
    "max_tokens": "Stopped: the token limit is reached",
    "max_minutes": "Stopped: the time limit is reached",
    "window_exceeded": "Stopped: the model's window is full",
    "refusal": "The model refused",
    "content_filter": "Stopped by the provider's filter",
    "empty_answer": "No answer",
    "text_call": "No answer",
    "repeating": "Stopped",
    "not_sent": "",  # the words that follow say it
}


@fold.register
def _(event: TurnStarted, story: Story, at: str) -> Story:
    return _turned(story)


def _turned(story: Story) -> Story:
    """A new turn: what was before no longer grows, but for a command of the person that still runs."""
    now = tuple(settled(passage) for passage in _whole(story.now) if not _runs(passage))
    return replace(story, past=(*story.past, *now), now=tuple(filter(_runs, story.now)), denied={})


def _runs(passage: Passage) -> bool:
    return isinstance(passage, ShellPassage) and passage.running


def _whole(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """What was not whole when its request ended is in no log and no view. Words that somebody may have read stay as a
    trace; a beginning of reasoning, which is folded, goes."""
    if not any(getattr(passage, "growing", False) for passage in passages):
        return passages
    kept = (_trace(passage) if getattr(passage, "growing", False) else passage for passage in passages)
    return tuple(passage for passage in kept if passage is not None)


def _trace(passage: Passage) -> WordsPassage | None:
    """What is left of words that do not count; None for what nobody saw."""
    if not isinstance(passage, WordsPassage) or not passage.text.strip():
        return None
    key = passage.key if passage.withdrawn else f"{passage.key}:withdrawn"
    return replace(passage, key=key, entry_id=EntryId(""), growing=False, withdrawn=True)


@fold.register
def _(event: PromptAccepted, story: Story, at: str) -> Story:
    if event.hidden or event.origin in ("shell", "clew"):
        return woken(event, story, at)
    if not event.queued:
        story = _turned(story)
    parts = () if isinstance(event.content, str) else event.content
    media = tuple(kind for kind in map(_media_type, parts) if kind)
    passage = PromptPassage(
        key=event.entry_id,
        entry_id=event.entry_id,
        at=at,
        text=text_of(event.content),
        media=media,
        queued=event.queued,
    )
    return put(story, passage)


def _media_type(part: Part) -> str:
    return part.source.media_type or "image" if isinstance(part, ImagePart | DocumentPart) else ""


@fold.register
def _(event: TextDelta, story: Story, at: str) -> Story:
    key = f"{event.reply_id}:{event.part}"
    grown = known(story, key)
    if isinstance(grown, WordsPassage):
        return put(story, replace(grown, text=grown.text + event.text))
    return put(story, WordsPassage(key=key, text=event.text, growing=True, at=at))


@fold.register
def _(event: ReasoningDelta, story: Story, at: str) -> Story:
    key = f"{event.reply_id}:{event.part}"
    grown = known(story, key)
    if isinstance(grown, ReasoningPassage):
        return put(story, replace(grown, text=grown.text + event.text))
    return put(story, ReasoningPassage(key=key, text=event.text, growing=True, at=at))


@fold.register
def _(event: PartCompleted, story: Story, at: str) -> Story:
    key, entry = f"{event.reply_id}:{event.part_number}", event.entry_id
    match event.part:
        case TextPart(text=text):
            if not text.strip():
                return replace(story, now=tuple(passage for passage in story.now if passage.key != key))
            return put(story, WordsPassage(key=key, entry_id=entry, text=text, at=at))
        case ReasoningPart(text=text):
            return put(story, ReasoningPassage(key=key, entry_id=entry, text=text, at=at)) if text.strip() else story
        case ToolCallPart() as call:
            shown = CallShown(call=meant_call(call), entry_id=entry)
            for passage in reversed(story.now):
                if isinstance(passage, BatchPassage) and passage.reply_id == event.reply_id:
                    return put(story, replace(passage, calls=(*passage.calls, shown)))
            key = f"batch:{call.id}:{entry}"
            return put(story, BatchPassage(key=key, entry_id=entry, calls=(shown,), reply_id=event.reply_id, at=at))
        case _:
            return story


@fold.register
def _(event: ReplyWithdrawn, story: Story, at: str) -> Story:
    void = set(event.entry_ids)
    kept: list[Passage] = []
    for passage in story.now:
        if isinstance(passage, BatchPassage) and passage.reply_id == event.reply_id and void:
            calls = tuple(shown for shown in passage.calls if shown.entry_id not in void)
            if calls:
                kept.append(replace(passage, calls=calls))
        elif not (passage.key.startswith(f"{event.reply_id}:") and (passage.entry_id in void or not passage.entry_id)):
            kept.append(passage)
        elif not event.words and (trace := _trace(passage)) is not None:
            kept.append(trace)
    if event.words:
        key = f"{event.reply_id}:withdrawn"
        kept.append(WordsPassage(key=key, at=at, text=event.words, withdrawn=True))
    return replace(story, now=tuple(kept))


@fold.register
def _(event: AttemptEnded, story: Story, at: str) -> Story:
    now = _whole(story.now)
    return story if now is story.now else replace(story, now=now)


@fold.register
def _(event: CallChanged, story: Story, at: str) -> Story:
    return with_call(
        story,
        event.call_id,
        lambda shown: replace(shown, call=replace(shown.call, arguments=event.arguments), changed_by=event.by),
    )


@fold.register
def _(event: ToolStarted, story: Story, at: str) -> Story:
    return with_call(story, event.call.id, lambda shown: replace(shown, call=event.call, state="running", since=at))


@fold.register
def _(event: ToolProgress, story: Story, at: str) -> Story:
    return with_call(
        story, event.call_id, lambda shown: replace(shown, tail=(shown.tail + event.text)[-MAX_TAIL_CHARS:])
    )


@fold.register
def _(event: ToolEnded, story: Story, at: str) -> Story:
    call_id = event.result.call_id
    done = tuple(call_deeds(event, story.call(call_id), story.facts.cwd, denied=story.denied.get(call_id)))
    if story.call(call_id) is None:
        call = ToolCallPart(id=call_id, name=event.name, arguments={})
        shown = ended_call(CallShown(call=call, entry_id=event.parent_id), event, done)
        return put(story, BatchPassage(key=f"batch:{call_id}:{event.parent_id}", calls=(shown,), at=at))
    return with_call(story, call_id, lambda shown: ended_call(shown, event, _not_answered(shown) or done))


def _not_answered(shown: CallShown) -> tuple[Deed, ...]:
    return (unanswered(shown.call, shown.unanswered.rows[0][1]),) if shown.unanswered is not None else ()


def ended_call(shown: CallShown, event: ToolEnded, done: tuple[Deed, ...]) -> CallShown:
    """The call with its result."""
    return replace(
        shown,
        state="ended",
        tail="",
        deeds=done,
        display=event.display,
        text=result_text(event.result),
        duration_ms=event.duration_ms,
        failed=event.result.is_error and not (event.refused or event.stopped),
        refused=event.refused,
        cut=event.stopped,
    )


@fold.register
def _(event: ApprovalRequested, story: Story, at: str) -> Story:
    return with_call(story, event.call_id, lambda shown: replace(shown, state="asking"))


@fold.register
def _(event: ApprovalResolved, story: Story, at: str) -> Story:
    if event.decision == "deny":
        return replace(story, denied={**story.denied, event.call_id: event.reason})
    return with_call(story, event.call_id, lambda shown: replace(shown, state="announced"))


@fold.register
def _(event: QuestionAsked, story: Story, at: str) -> Story:
    return with_call(story, event.call_id, lambda shown: replace(shown, state="asking"))


def _objects(value: object) -> list[Json]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", one) for one in items if isinstance(one, dict)]


UNANSWERED = {"user": "declined by you", "interrupt": "not answered: you stopped the turn"}


@fold.register
def _(event: QuestionAnswered, story: Story, at: str) -> Story:
    if not event.declined:
        return story

    def marked(shown: CallShown) -> CallShown:
        asked = _objects(shown.call.arguments.get("questions"))
        why = UNANSWERED.get(event.by, "not answered: nobody was there")
        rows = tuple((question, why) for one in asked if isinstance(question := one.get("question"), str))
        return replace(shown, unanswered=TableBlock(columns=("question", "answer"), rows=rows) if rows else None)

    return with_call(story, event.call_id, marked)


@fold.register
def _(event: PlanProposed, story: Story, at: str) -> Story:
    story = with_call(story, event.call_id, lambda shown: replace(shown, state="asking", planned=True))
    return put(story, PlanPassage(key=f"plan:{event.request_id}", at=at, plan=event.plan))


@fold.register
def _(event: PlanAnswered, story: Story, at: str) -> Story:
    """The plan stays, folded under its heading, with what was said to it."""
    proposed = known(story, f"plan:{event.request_id}")
    words = answer_words(event)
    if not isinstance(proposed, PlanPassage):
        return added(story, lambda key: NotePassage(key=key, at=at, text=words)) if words else story
    accepted = event.decision != "keep_planning"
    return put(
        story,
        replace(proposed, plan=event.plan or proposed.plan, outcome=words or "Plan not answered", accepted=accepted),
    )


@fold.register
def _(event: ElicitationRequested, story: Story, at: str) -> Story:
    if event.call_id is None:
        return story
    return with_call(story, event.call_id, lambda shown: replace(shown, state="asking"))


@fold.register
def _(event: BatchLabelled, story: Story, at: str) -> Story:
    wanted = set(event.call_ids)

    def labelled(passage: Passage) -> Passage:
        if isinstance(passage, BatchPassage) and any(shown.call.id in wanted for shown in passage.calls):
            return replace(passage, label=event.label, by_model=event.source == "model")
        return passage

    now = tuple(labelled(passage) for passage in story.now)
    if now != story.now:
        return replace(story, now=now)
    late = tuple(labelled(passage) for passage in story.past[-LATE:])
    return replace(story, past=(*story.past[:-LATE], *late))


@fold.register
def _(event: TurnEnded, story: Story, at: str) -> Story:
    figures = [duration(event.duration_ms), *([money(event.cost_usd)] if event.cost_usd is not None else [])]
    figures += [count(event.steps, "step")] if event.steps > 1 else []
    ending = "" if event.reason == "completed" else ENDINGS.get(event.reason, event.reason)
    if event.reason == "interrupted":
        ending = "Interrupted: the session ended" if event.by == "session" else "Interrupted by you"
    if event.error:
        ending = f"{ending}: {event.error}" if ending else event.error
    passage = TurnPassage(
        key=f"{story.mark}{story.number}",
        at=at,
        done=fitted(grouped(_deeds(story, all_of_them=event.reason != "interrupted")), MAX_DONE),
        figures=" · ".join(figures),
        ending=ending,
        error=bool(event.error),
    )
    story = _turned(story)
    return replace(story, past=(*story.past, passage), number=story.number + 1)


def _deeds(story: Story, *, all_of_them: bool) -> Iterator[Deed]:
    """What the calls of this turn came to. Where the turn says that it was interrupted, a call that this cut off does
    not say it again."""
    for passage in story.now:
        if isinstance(passage, BatchPassage):
            for shown in passage.calls:
                yield from shown.deeds if all_of_them or not shown.cut else ()
