"""Words for facts in a running session: labels, titles, recaps, and the bill for model words."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clew.llm.errors import Overloaded
from clew.llm.scripted import Call, Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.orient.daily_cap import DailyCap
from clew.orient.narrator import Narrator
from clew.orient.recap_query import WriterChoice, WrittenRecaps
from clew.orient.side_query import SideQueries
from clew.parts.orientation.orientation_task import Orientation, OrientationTask
from clew.parts.orientation.part import OrientationPart
from clew.parts.orientation.session_orientation import LEAVE_S, OrientationSettings, SessionOrientation
from clew.protocol.entries import BatchLabelEntry, Entry, SystemEntry
from clew.protocol.events import (
    BatchLabelled,
    Event,
    Notice,
    RecapReady,
    SessionStarted,
    SideQueryBooked,
    StepEnded,
    TitleChanged,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.lookups.session import LoadHistory
from clew.protocol.ops import Close, RequestRecap, SetTitle, SubmitPrompt
from clew.transcript.past.reader import load
from engine.harness import SESSION
from fakes.effort import HANG_S
from fakes.loop_clock import LoopClock
from unit.host.plugs import setup_of
from unit.host.room import Front, furnished


class StudioPart(OrientationPart):
    """Made for a person who watches; what speaks is the studio's."""

    def __init__(self, studio: "Studio", path: Path, past: Sequence[Entry], *, greet: bool) -> None:
        setup = setup_of(path=path, past=past, log=studio.logged.append)
        super().__init__(setup, "")
        self._studio = studio
        self._greets = greet

    @property
    def task(self) -> OrientationTask | None:
        return self._task

    def _loaded(self) -> Orientation:
        return self._studio.wake()


class Studio:
    """A session with a real log and real orientation; the fast model is scripted."""

    def __init__(
        self,
        path: Path,
        model: ScriptedModel,
        *,
        fast: ScriptedModel | None = None,
        settings: OrientationSettings | None = None,
        past: Sequence[Entry] = (),
        greet: bool = False,
        automatic: str = "",
    ) -> None:
        self.loaded = 0
        self.fast = fast
        self.logged: list[str] = []
        self.wake: Callable[[], SessionOrientation] = lambda: wake()
        self.part = StudioPart(self, path, past, greet=greet)
        self.door = furnished(model, path=path, past=past, parts=[self.part])
        session = self.door.session

        def wake() -> SessionOrientation:
            self.loaded += 1
            queries = SideQueries(
                fast,
                cap=DailyCap(path.parent, 1.0),
                current=lambda: narrator.key(),
                book=lambda entry: session.publish(
                    SideQueryBooked(
                        purpose=entry.purpose, model=entry.model, usage=entry.usage, cost_usd=entry.cost_usd
                    )
                ),
                log=self.logged.append,
            )
            narrator = Narrator(
                project="p", queries=queries, log=self.logged.append, kept=WrittenRecaps(path.parent / "home")
            )
            return SessionOrientation(
                narrator,
                settings or OrientationSettings(),
                queries=queries,
                publish=session.publish,
                automatic=lambda _: WriterChoice(automatic),
            )


@asynccontextmanager
async def running(studio: Studio) -> AsyncIterator[Front]:
    front = Front(studio.door)
    await front.until(SessionStarted)
    try:
        yield front
    finally:
        await front.submit(Close())
        await front.task


def entries(path: Path) -> list[Any]:
    return list(load(path).entries)


async def test_a_batch_is_labelled_titled_and_recapped_from_facts_and_all_of_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    calls = ReplyOf([Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"})])
    script = [calls, Say("I fixed it. Next I will run the tests.")]
    studio = Studio(path, ScriptedModel(script))
    async with running(studio) as front:
        assert studio.loaded == 0
        await front.submit(SubmitPrompt(content="Fix the parser in lexer.py for ABC-12"))
        await front.until(TurnEnded)
        label = await front.until(BatchLabelled)
        title = await front.until(TitleChanged)
        await front.submit(RequestRecap())
        recap = await front.until(RecapReady)
    assert label.call_ids == ("call_1", "call_2")
    assert label.source == "facts"
    assert "lexer.py" in title.title
    assert "lexer.py" in recap.text
    kept = entries(path)
    assert [entry.label for entry in kept if isinstance(entry, BatchLabelEntry)] == [label.label]
    assert [entry.content for entry in kept if isinstance(entry, SystemEntry)] == [recap.text]


async def test_on_resume_the_labels_come_back_with_the_calls_they_are_about(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    calls = ReplyOf([Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"})])
    async with running(Studio(path, ScriptedModel([calls, Say("Read.")]))) as front:
        await front.submit(SubmitPrompt(content="Look at both"))
        await front.until(TurnEnded)
        live = await front.until(BatchLabelled)
    async with running(Studio(path, ScriptedModel(), past=entries(path))) as front:
        page = await front.look_up(LoadHistory(limit=50))
    told = [recorded.event for recorded in page.events]
    (label,) = [event for event in told if isinstance(event, BatchLabelled)]
    assert label == live
    ended = [event.result.call_id for event in told[: told.index(label)] if isinstance(event, ToolEnded)]
    assert ended == list(label.call_ids)


async def test_the_users_title_wins(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    studio = Studio(path, ScriptedModel([Say("ok"), Say("ok")]))
    async with running(studio) as front:
        await front.submit(SetTitle(title="Mine"))
        await front.submit(SubmitPrompt(content="Rewrite the importer for CSV files"))
        await front.until(TurnEnded)
    assert [event.title for event in front.of(TitleChanged)] == ["Mine"]
    assert load(path).title == "Mine"


async def test_a_model_title_is_asked_only_when_allowed_and_is_booked(tmp_path: Path) -> None:
    fast = ScriptedModel([Say("CSV importer rewrite")], name="fast/one", usd_per_token=0.001)
    studio = Studio(
        tmp_path / f"{SESSION}.jsonl",
        ScriptedModel([Say("Done with the CSV importer rewrite.")]),
        fast=fast,
        settings=OrientationSettings(title_model=True),
    )
    async with running(studio) as front:
        await front.submit(SubmitPrompt(content="Rewrite the importer for CSV files"))
        await front.until(SideQueryBooked)
    assert len(fast.requests) == 1
    assert fast.requests[0].purpose.startswith("side-query:")
    assert fast.requests[0].tools == ()
    (side,) = studio.door.session.journal.main.state.tally.side
    assert side.cost_usd > 0


async def test_a_failing_fast_model_is_silent_and_the_facts_stand(tmp_path: Path) -> None:
    fast = ScriptedModel([Fail(Overloaded("busy"))] * 3, name="fast/one")
    studio = Studio(
        tmp_path / f"{SESSION}.jsonl",
        ScriptedModel([Say("I changed lexer.py. Next I will run the tests.")]),
        fast=fast,
        automatic="fast/one",
    )
    async with running(studio) as front:
        await front.submit(SubmitPrompt(content="Fix the parser in lexer.py"))
        await front.until(TurnEnded)
        await front.submit(RequestRecap())
        recap = await front.until(RecapReady)
    assert recap.source == "facts"
    assert len(fast.requests) == 1


async def test_on_resume_the_recap_comes_first_and_is_not_written_twice(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with running(Studio(path, ScriptedModel([Say("I changed lexer.py. Next I will run the tests.")]))) as front:
        await front.submit(SubmitPrompt(content="Fix the parser in lexer.py"))
        await front.until(TurnEnded)
    async with running(Studio(path, ScriptedModel(), past=entries(path), greet=True)) as front:
        recap = await front.until(RecapReady)
    assert "lexer.py" in recap.text
    assert [event.text for event in front.of(RecapReady)] == [recap.text]
    written = [entry for entry in entries(path) if isinstance(entry, SystemEntry)]
    assert len(written) == 1


async def test_labels_can_be_off(tmp_path: Path) -> None:
    studio = Studio(
        tmp_path / f"{SESSION}.jsonl",
        ScriptedModel([Call("Reader", {"name": "a"}), Say("ok")]),
        settings=OrientationSettings(labels="off"),
    )
    async with running(studio) as front:
        await front.submit(SubmitPrompt(content="look at a"))
        await front.until(TurnEnded)
    assert not front.of(BatchLabelled)


async def test_a_bug_in_a_label_never_ends_a_turn_and_is_told_once(tmp_path: Path) -> None:
    class Broken(SessionOrientation):
        """Cannot label anything."""

        def after(self, event: Event) -> Sequence[Event]:
            if isinstance(event, StepEnded):
                raise ZeroDivisionError("a bug in a label")
            return super().after(event)

    script = [Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"}), Say("ok")]
    studio = Studio(tmp_path / f"{SESSION}.jsonl", ScriptedModel(script))
    session = studio.door.session

    def wake() -> Broken:
        queries = SideQueries(
            None,
            cap=DailyCap(tmp_path, 1.0),
            current=lambda: narrator.key(),
            book=lambda entry: None,
            log=studio.logged.append,
        )
        narrator = Narrator(project="p", queries=queries, log=studio.logged.append)
        return Broken(narrator, OrientationSettings(), queries=queries, publish=session.publish)

    studio.wake = wake
    async with running(studio) as front:
        await front.submit(SubmitPrompt(content="look"))
        assert (await front.until(TurnEnded)).reason == "completed"
        assert "a bug in a label" in (await front.until(Notice)).text
    assert len(front.of(Notice)) == 1
    assert any("a bug in a label" in line for line in studio.logged)


DRAFT = "<recap>The parser in lexer.py is what this is about.</recap>"


def drafting(path: Path, fast: ScriptedModel, **more: Any) -> Studio:
    """A session whose recap is written after a minute without a word."""
    settings = OrientationSettings(draft_after_s=60)
    model = ScriptedModel([Say("I looked at the parser in lexer.py.")] * 4)
    return Studio(path, model, fast=fast, settings=settings, automatic="fast/one", **more)


async def prompted(front: Front, times: int, already: int = 0) -> None:
    for number in range(already, already + times):
        await front.submit(SubmitPrompt(content=f"Look at the parser in lexer.py, part {number}"))
        await front.until(TurnEnded, number + 1)


async def told(studio: Studio) -> None:
    """Everything that was published has been heard."""
    task = studio.part.task
    assert task is not None
    async for _ in task.recap(model=False):
        break


async def test_after_a_pause_the_recap_is_written_and_shown_at_once_on_return(tmp_path: Path) -> None:
    fast = ScriptedModel([Say(DRAFT), Say(DRAFT)], name="fast/one", usd_per_token=0.001)
    studio = drafting(tmp_path / f"{SESSION}.jsonl", fast)
    async with running(studio) as front:
        clock = LoopClock()
        await prompted(front, 3)
        await told(studio)
        assert fast.requests == []
        clock.forward(61)
        assert (await front.until(SideQueryBooked)).purpose == "session-recap"
        await front.submit(RequestRecap())
        await front.until(RecapReady, 2)
    assert [event.source for event in front.of(RecapReady)] == ["facts", "model"]
    assert len(fast.requests) == 2, "one to write it, one to read it over"


async def test_a_short_session_and_one_that_goes_on_are_not_drafted(tmp_path: Path) -> None:
    fast = ScriptedModel([], name="fast/one")
    studio = drafting(tmp_path / f"{SESSION}.jsonl", fast)
    async with running(studio) as front:
        clock = LoopClock()
        await prompted(front, 2)
        await told(studio)
        clock.forward(600)
    assert fast.requests == []


async def test_leaving_writes_the_recap_and_the_next_visit_pays_nothing(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    fast = ScriptedModel([Say(DRAFT), Say(DRAFT)], name="fast/one")
    async with running(drafting(path, fast)) as front:
        await prompted(front, 3)
    assert len(fast.requests) == 2
    again = ScriptedModel([], name="fast/one")
    async with running(drafting(path, again, past=entries(path), greet=True)) as front:
        await front.until(RecapReady, 2)
    assert front.of(RecapReady)[-1].text == "The parser in lexer.py is what this is about."
    assert again.requests == []


async def test_leaving_does_not_wait_for_a_model_that_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    asked = asyncio.Event()
    silent = ReplyOf([Wait(asyncio.Event(), reached=asked), Say(DRAFT)])
    front = Front(drafting(path, ScriptedModel([silent], name="fast/one")).door)
    await prompted(front, 3)
    clock = LoopClock()
    closing = asyncio.create_task(front.submit(Close()))
    async with asyncio.timeout(HANG_S):
        await asked.wait()
    clock.forward(LEAVE_S + 0.1)
    await closing
    await front.task
    assert not list((tmp_path / "home").rglob("*.json"))
