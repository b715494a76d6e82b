"""Writing sections: one request for a stretch, one repair, then what is missing is added by code. Changes nothing.

It never compacts: a request of its own that does not fit is made smaller, three times at most.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from msgspec import Struct

from clew.engine.compaction.framing import fenced, one_line
from clew.engine.compaction.rendering import Slim, evidence, transcript, transcript_tokens, without_media
from clew.engine.compaction.section_check import Checked, StretchWords, check
from clew.engine.compaction.stretches import Exchange, chunks
from clew.ledger.facts import Ledger
from clew.ledger.fold import fold
from clew.llm.errors import LLMError, PromptTooLong
from clew.llm.estimate import estimate_text
from clew.llm.model import Model
from clew.llm.reply import Reply, collected
from clew.llm.request import ModelRequest
from clew.prompts.system_prompt import prompt_text
from clew.protocol.event_kinds.context import SectionKept
from clew.protocol.events import SideQueryBooked
from clew.protocol.ids import new_entry_id
from clew.protocol.messages import TextPart, UserMessage
from clew.text.redact import redact

PURPOSE = "compaction"
MAX_FOCUS_CHARS = 2_000
MAX_TRIES = 3
"""How often a stretch is cut smaller because its request did not fit."""
_MAX_OUTPUT_TOKENS = 4_000
"""More than the words asked for: a reply that is cut off is worth nothing."""
_OVERHEAD_TOKENS = 1_500
_MIN_CHUNK_TOKENS = 400
_WORDS = (120, 700)
_TOKENS_PER_WORD = 2.5
_MAX_FILES = 30
_MAX_ERRORS = 6

Written = SideQueryBooked | SectionKept


class SectionFailed(Exception):
    """No section could be written; the words say why."""


class Summariser(Struct, frozen=True, kw_only=True):
    """Who writes sections, and with what in mind."""

    model: Model
    focus: str = ""
    """What the user asked to watch for."""
    cwd: str = ""
    slim: Slim = without_media

    @property
    def chunk_tokens(self) -> int:
        """How much of a transcript one request may hold: estimates can be far too low, so a third stays free."""
        reserve = min(self.model.max_output_tokens, _MAX_OUTPUT_TOKENS, self.model.window // 4)
        return max(_MIN_CHUNK_TOKENS, (self.model.window - reserve - _OVERHEAD_TOKENS) * 2 // 3)


async def write_sections(stretch: Sequence[Exchange], by: Summariser) -> AsyncGenerator[Written]:
    """Sections for a whole stretch, oldest first, with what each request cost. Raises SectionFailed where the model
    does not answer at all.

    A model whose reply cannot be used, or that the stretch does not fit, is not asked again for this stretch: facts
    alone tell the rest of it. Sections that were yielded stand, also when a later one fails.
    """
    left = tuple(stretch)
    max_tokens = by.chunk_tokens
    tries = 0
    by_facts = False
    while left:
        chunk = chunks(left, max_tokens, transcript_tokens)[0]
        if by_facts or tries > MAX_TRIES:
            yield from_facts(chunk)
            left = left[len(chunk) :]
            continue
        try:
            async with aclosing(write_section(chunk, by, max_tokens=max_tokens)) as events:
                async for event in events:
                    by_facts = by_facts or (isinstance(event, SectionKept) and not event.model)
                    yield event
        except PromptTooLong:
            tries += 1
            yield SideQueryBooked(purpose=PURPOSE, model=by.model.name, outcome="PromptTooLong")
            max_tokens = max(_MIN_CHUNK_TOKENS, min(max_tokens, _size(chunk)) // 2)
            continue
        left = left[len(chunk) :]


def _size(chunk: Sequence[Exchange]) -> int:
    return sum(map(transcript_tokens, chunk))


async def write_section(chunk: Sequence[Exchange], by: Summariser, *, max_tokens: int) -> AsyncGenerator[Written]:
    """One section for one run of exchanges, of facts alone where the model's replies cannot be used. Raises
    SectionFailed, and PromptTooLong."""
    entries = [entry for exchange in chunk for entry in exchange.entries]
    facts = fold(entries)
    words = max_words(sum(item.tokens for item in chunk))
    known = StretchWords(evidence(entries), cwd=by.cwd or facts.cwd)
    question = _question(chunk, by, max_tokens)
    best = Checked(problem="nothing was answered")
    cost: float | None = None
    asked = question
    for _ in range(2):
        reply, booked = await _asked(by.model, asked, words)
        yield booked
        cost = booked.cost_usd if cost is None else cost + (booked.cost_usd or 0.0)
        if reply is None:
            raise SectionFailed(f"{by.model.name} did not answer: {booked.outcome}")
        checked = check(
            "\n".join(part.text for part in reply.parts if isinstance(part, TextPart)),
            known,
            stop_reason=reply.stop_reason,
            replaced_tokens=_replaced(chunk),
            max_tokens=_output_tokens(words),
        )
        best = checked if not checked.problem or best.problem else best
        objections = checked.problem or ", ".join(missing(checked, facts))
        if not objections:
            break
        repair = prompt_text("section_repair").format(
            problem=_sayable(checked.problem or f"it leaves out {objections}")
        )
        asked = f"{question}\n\n{repair}"
    if best.problem:
        yield from_facts(chunk, cost_usd=cost)
        return
    ids = [uuid for exchange in chunk for uuid in exchange.ids]
    yield SectionKept(
        section_id=new_entry_id(),
        first=ids[0],
        last=ids[-1],
        title=best.title or _title(facts, chunk),
        text=completed(best, facts).text,
        dropped=best.dropped,
        model=by.model.name,
        cost_usd=cost,
    )


def from_facts(chunk: Sequence[Exchange], *, cost_usd: float | None = None) -> SectionKept:
    """A section that no model wrote: the files that were changed, what failed, and how much was said."""
    facts = fold([entry for exchange in chunk for entry in exchange.entries])
    said = "1 exchange" if len(chunk) == 1 else f"{len(chunk)} exchanges"
    line = f"{said}; no summary of them could be had, the log has them word for word"
    ids = [uuid for exchange in chunk for uuid in exchange.ids]
    return SectionKept(
        section_id=new_entry_id(),
        first=ids[0],
        last=ids[-1],
        title=_title(facts, chunk),
        text=completed(Checked(lines={"Done": [line]}), facts).text,
        model="",
        cost_usd=cost_usd,
    )


def max_words(stretch_tokens: int) -> int:
    """How long a section may be: the more it stands for, the longer, within bounds."""
    low, high = _WORDS
    return min(high, max(low, stretch_tokens // 12))


def _output_tokens(words: int) -> int:
    return round(words * _TOKENS_PER_WORD)


def _replaced(chunk: Sequence[Exchange]) -> int:
    return sum(item.tokens for item in chunk)


def _question(chunk: Sequence[Exchange], by: Summariser, max_tokens: int) -> str:
    words = redact(transcript(chunk, max_tokens=max_tokens, slim=by.slim))
    stretch = f"The stretch, quoted:\n{fenced(words)}"
    focus = by.focus.strip()[:MAX_FOCUS_CHARS]
    if not focus:
        return stretch
    return f"{stretch}\n\nThe user asks that the record pays special attention to:\n{fenced(focus)}"


async def _asked(model: Model, text: str, words: int) -> tuple[Reply | None, SideQueryBooked]:
    """The reply and what it cost; None when there is none. PromptTooLong goes to who can ask for less."""
    request = ModelRequest(
        system=(prompt_text("section").format(max_words=words),),
        messages=(UserMessage(content=(TextPart(text=text),)),),
        max_output_tokens=min(model.max_output_tokens, _MAX_OUTPUT_TOKENS, model.window // 4),
        temperature=0.3,
        purpose=f"side-query:{PURPOSE}",
    )
    try:
        reply = await collected(model.stream(request))
    except PromptTooLong:
        raise
    except LLMError as error:
        outcome = f"{type(error).__name__}: {one_line(str(error), 200)}"
        return None, SideQueryBooked(purpose=PURPOSE, model=model.name, outcome=outcome)
    cost = model.cost_usd(reply.usage) if reply.usage is not None else None
    return reply, SideQueryBooked(purpose=PURPOSE, model=model.name, usage=reply.usage, cost_usd=cost)


def missing(checked: Checked, facts: Ledger) -> list[str]:
    """Changed files and failures of the stretch that a record does not mention."""
    text = checked.text.casefold()
    return [name for name, _, _ in _facts(facts) if name.casefold() not in text]


def completed(checked: Checked, facts: Ledger) -> Checked:
    """The record with a line of our own for each changed file and failure that it leaves out."""
    text = checked.text.casefold()
    lines = {heading: list(rows) for heading, rows in checked.lines.items()}
    for name, heading, line in _facts(facts):
        if name.casefold() not in text:
            lines.setdefault(heading, []).append(line)
    return Checked(title=checked.title, lines=lines, dropped=checked.dropped)


def _facts(facts: Ledger) -> Iterator[tuple[str, str, str]]:
    """What every record of a stretch must mention: the name to look for, the heading, and the line to add."""
    for file in facts.changed_files[-_MAX_FILES:]:
        path = one_line(file.path)
        what = "deleted" if file.deleted else "created" if file.created else "changed"
        yield path.rsplit("/", 1)[-1], "State of files", f"{path}: {what} (+{file.added} -{file.removed})"
    for error in [item for item in facts.errors if not item.resolved][-_MAX_ERRORS:]:
        where = one_line(error.where, 120)
        quoted = redact(one_line(error.text, 160)).replace("`", "'")
        yield where, "Errors and fixes", f"{where} failed: `{quoted}`"


def _title(facts: Ledger, chunk: Sequence[Exchange]) -> str:
    names = [one_line(file.path, 60).rsplit("/", 1)[-1] for file in facts.changed_files[-3:]]
    return f"Changes to {', '.join(reversed(names))}" if names else f"{len(chunk)} exchanges without changes to files"


def _sayable(problem: str) -> str:
    return redact(one_line(problem, 600))


def section_tokens(section: SectionKept) -> int:
    """How large a section is in the summary."""
    return round(estimate_text(section.title) + estimate_text(section.text)) + 8
