"""Words for facts in a running session: labels, titles, recaps, and the bill for model words."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clew.engine.agent import Agent
from clew.engine.approvals import PendingAnswers
from clew.engine.step import StepRunner
from clew.host.late_orientation import LateOrientation
from clew.host.orientation import Orientation, OrientationSettings
from clew.host.recorder import Recorder
from clew.host.session import Session
from clew.host.stamp import Stamp
from clew.llm.errors import Overloaded
from clew.llm.scripted import Call, Fail, Say, ScriptedModel, Turn
from clew.orient.daily_cap import DailyCap
from clew.orient.narrator import Narrator
from clew.orient.side_query import SideQueries
from clew.protocol.entries import BatchLabelEntry, Entry, SystemEntry
from clew.protocol.events import (
    BatchLabelled,
    RecapReady,
    SessionStarted,
    SideQueryBooked,
    TitleChanged,
    TurnEnded,
)
from clew.protocol.ids import SessionId
from clew.protocol.ops import RequestRecap, SetTitle, SubmitPrompt
from clew.protocol.tally import Tally
from clew.transcript.reader import load
from clew.transcript.writer import TranscriptWriter
from engine.harness import Reader, Shell, TestHost
from unit.host.test_session import STARTED, Front

SESSION = SessionId("11111111-2222-4333-8444-555555555555")


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
    ) -> None:
        self.path = path
        self.loaded = 0
        self.writer = TranscriptWriter(path, SESSION)
        self.tally = Tally()
        pending = PendingAnswers()
        tools = [Reader(), Shell()]
        self.fast = fast

        def wake() -> Orientation:
            self.loaded += 1
            queries = SideQueries(
                fast,
                cap=DailyCap(path.parent, 1.0),
                current=lambda: narrator.key(),
                book=lambda entry: self.session.publish(
                    SideQueryBooked(
                        purpose=entry.purpose, model=entry.model, usage=entry.usage, cost_usd=entry.cost_usd
                    )
                ),
                log=lambda text: None,
            )
            narrator = Narrator(project="p", queries=queries, log=lambda text: None)
            return Orientation(
                narrator, settings or OrientationSettings(), queries=queries, publish=self.session.publish
            )

        orientation = LateOrientation(wake, past=past)
        leaf = load(path).leaf if path.exists() else None
        self.recorder = Recorder(
            self.writer, Stamp(session_id=SESSION, cwd="/project"), leaf=leaf, on_entry=orientation.feed
        )
        self.session = Session(
            started=STARTED,
            agent=Agent(model=model, system=("test",)),
            steps=StepRunner(tools={tool.name: tool for tool in tools}, host=TestHost(), pending=pending),
            pending=pending,
            middlewares=[],
            subscribers=[self.recorder, self.tally],
            tally=self.tally,
            connect=lambda name: model,
            set_mode=lambda mode: None,
            orientation=orientation,
            greet=greet,
        )


@asynccontextmanager
async def running(studio: Studio) -> AsyncIterator[Front]:
    front = Front(studio.session)
    await front.until(SessionStarted)
    try:
        yield front
    finally:
        await studio.session.close()
        await front.task
        studio.writer.close()


def entries(path: Path) -> list[Any]:
    return list(load(path).entries)


async def test_a_batch_is_labelled_titled_and_recapped_from_facts_and_all_of_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    calls = Turn([Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"})])
    script = [calls, Say("I fixed it. Next I will run the tests.")]
    studio = Studio(path, ScriptedModel(script))
    async with running(studio) as front:
        assert studio.loaded == 0
        await front.session.submit(SubmitPrompt(content="Fix the parser in lexer.py for ABC-12"))
        await front.until(TurnEnded)
        label = await front.until(BatchLabelled)
        title = await front.until(TitleChanged)
        await front.session.submit(RequestRecap())
        recap = await front.until(RecapReady)
    assert label.call_ids == ("call_1", "call_2")
    assert label.source == "facts"
    assert "lexer.py" in title.title
    assert "lexer.py" in recap.text
    kept = entries(path)
    assert [entry.label for entry in kept if isinstance(entry, BatchLabelEntry)] == [label.label]
    assert [entry.content for entry in kept if isinstance(entry, SystemEntry)] == [recap.text]


async def test_the_users_title_wins(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    studio = Studio(path, ScriptedModel([Say("ok"), Say("ok")]))
    async with running(studio) as front:
        await front.session.submit(SetTitle(title="Mine"))
        await front.session.submit(SubmitPrompt(content="Rewrite the importer for CSV files"))
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
        await front.session.submit(SubmitPrompt(content="Rewrite the importer for CSV files"))
        await front.until(SideQueryBooked)
    assert len(fast.requests) == 1
    assert fast.requests[0].purpose.startswith("side-query:")
    assert fast.requests[0].tools == ()
    (side,) = studio.tally.side_queries.values()
    assert side.cost_usd > 0


async def test_a_failing_fast_model_is_silent_and_the_facts_stand(tmp_path: Path) -> None:
    fast = ScriptedModel([Fail(Overloaded("busy"))] * 3, name="fast/one")
    studio = Studio(
        tmp_path / f"{SESSION}.jsonl",
        ScriptedModel([Say("I changed lexer.py. Next I will run the tests.")]),
        fast=fast,
        settings=OrientationSettings(recap_model=True),
    )
    async with running(studio) as front:
        await front.session.submit(SubmitPrompt(content="Fix the parser in lexer.py"))
        await front.until(TurnEnded)
        await front.session.submit(RequestRecap())
        recap = await front.until(RecapReady)
    assert recap.source == "facts"
    assert len(fast.requests) == 1


async def test_on_resume_the_recap_comes_first_and_is_not_written_twice(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with running(Studio(path, ScriptedModel([Say("I changed lexer.py. Next I will run the tests.")]))) as front:
        await front.session.submit(SubmitPrompt(content="Fix the parser in lexer.py"))
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
        await front.session.submit(SubmitPrompt(content="look at a"))
        await front.until(TurnEnded)
    assert not front.of(BatchLabelled)
