"""TW-7, TB-6 and CP-8 in a session as it is really opened, over a restart; who works is carried by a compaction."""

import asyncio
from typing import Any

from clew.ledger.fold import LedgerFold
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.orient.form import Form, form_of, news
from clew.protocol.entries import ContentReplacementEntry
from clew.protocol.events import AgentEnded, AgentStarted, CompactionEnded, TurnEnded
from clew.protocol.lookups.tasks import ShowTask, StopTask
from clew.protocol.messages import text_of
from clew.protocol.ops import Compact, MessageAgent, SubmitPrompt
from clew.transcript.log.store import subagent_path
from clew.transcript.past.reader import load
from unit.agents.opened_place import Place, opened

TASK = "count for me"


def is_childs(request: ModelRequest) -> bool:
    return any(TASK in text_of(message.content) for message in request.messages if message.role == "user")


def two(outer: list[Any], inner: list[Any]) -> ScriptedModel:
    """One model that answers the main agent from the first list and its child from the second."""

    def reply(request: ModelRequest) -> Any:
        replies = inner if is_childs(request) else outer
        return replies.pop(0) if replies else Say("nothing more")

    return ScriptedModel([reply] * 40)


def agent(**more: Any) -> Call:
    return Call("Agent", {"description": "count", "prompt": TASK, **more})


async def test_tb_6_a_child_goes_on_in_another_process_with_the_records_of_its_own_log(place: Place) -> None:
    ours, theirs = (
        ReplyOf([Call("Bash", {"command": f"yes {who}{n} | head -c 29000"}, id=f"same_{n}") for n in range(12)])
        for who in ("main", "child")
    )
    model = two([ours, agent(), Say("out")], [theirs, Say("in")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        child = front.of(AgentStarted)[0].child
        path = place.transcript
    before = [request for request in model.requests if is_childs(request)][-1]
    again = two([Say("heard")], [Say("in again")])
    async with opened(place.request(again, resume=path.stem)) as front:
        await front.submit(MessageAgent(to=child, text="and now?"))
        await front.until(AgentEnded)
    after = next(request for request in again.requests if is_childs(request))
    assert after.messages[: len(before.messages)] == before.messages, "the same bytes as in the first process"
    records = load(subagent_path(path, child), sidechain=True).entries
    kept = [entry.replacement for entry in records if isinstance(entry, ContentReplacementEntry)]
    shown = str(after.messages) + str(kept)
    assert kept
    assert repr("child1\nchild1")[1:-1] in shown
    assert repr("main1\nmain1")[1:-1] not in shown


async def test_tw_7_a_forks_log_alone_rebuilds_its_context_when_its_parents_is_gone(place: Place) -> None:
    model = two([Say("hello"), agent(fork=True), Say("out"), Say("heard")], [Say("the fork's report")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="what was said long ago"))
        await front.until(TurnEnded)
        await front.submit(SubmitPrompt(content="go"))
        ended = await front.until(AgentEnded)
        path = place.transcript
    sent = next(request for request in model.requests if is_childs(request))
    log = subagent_path(path, ended.child)
    path.unlink()
    rebuilt = load(log, sidechain=True).messages
    assert "what was said long ago" in text_of(rebuilt[0].content)
    assert text_of(rebuilt[-1].content) == "the fork's report"
    said = [text_of(message.content) for message in sent.messages]
    known = "\n".join(text_of(message.content) for message in rebuilt)
    assert all(text in known for text in said if text)


async def test_cp_8_a_childs_compaction_leaves_the_main_conversation_as_it_was(place: Place) -> None:
    steps = [Call("Bash", {"command": f"seq {number} {number + 900}"}) for number in range(0, 12_000, 1_000)]
    model = two([Say("hello"), agent(), Say("out"), Say("on")], [*steps, Say("counted")])
    model.window, model.max_output_tokens = 24_000, 1_000
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="first words"))
        await front.until(TurnEnded)
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded, 2)
        child = front.of(AgentStarted)[0].child
        assert front.of(CompactionEnded, agent=child), "the child made room"
        assert not front.of(CompactionEnded)
        await front.submit(SubmitPrompt(content="and now?"))
        await front.until(TurnEnded, 3)
        path = place.transcript
    main = [request for request in model.requests if not is_childs(request) and request.tools]
    assert main[-1].messages[: len(main[0].messages)] == main[0].messages
    assert not [entry for entry in load(path).entries if getattr(entry, "subtype", "") == "compact_boundary"]


async def test_a_compaction_carries_who_works_and_the_notice_still_comes(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    outer = [agent(run_in_background=True), *(Say("words " * 300) for _ in range(6))]
    model = two(outer, [ReplyOf([Wait(hold, reached), Say("counted")])])
    async with opened(place.request(model)) as front:
        for number in range(4):
            await front.submit(SubmitPrompt(content=f"go on {number}"))
            await front.until(TurnEnded, number + 1)
        await reached.wait()
        child = front.of(AgentStarted)[0].child
        await front.submit(Compact())
        done = await front.until(CompactionEnded)
        carried = text_of(done.summary)
        assert child in carried
        assert "general-purpose: count" in carried
        hold.set()
        await front.until(AgentEnded)
        await front.until(TurnEnded, 5)
    assert f"<task-id>{child}</task-id>" in str(model.requests[-1].messages)


async def test_recap_and_away_line_of_a_real_log_say_who_works_and_who_finished(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = two([agent(run_in_background=True), Say("It works.")], [ReplyOf([Wait(hold, reached), Say("counted")])])

    def form() -> Form:
        folding = LedgerFold()
        for entry in load(place.transcript).entries:
            folding.feed(entry)
        return form_of(folding.ledger(held=True))

    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="count the files of the project"))
        await front.until(TurnEnded)
        await reached.wait()
        left = form()
        assert left.told("agents") == "“count” working"
        hold.set()
        await front.until(AgentEnded)
        await front.until(TurnEnded, 2)
        back = form()
    assert back.told("agents") == "“count” finished"
    assert back.told("changed") == ""
    assert "“count” finished" in news(left, back)


async def test_a_person_shows_and_stops_an_agent_by_its_name(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = two(
        [agent(run_in_background=True, name="scout"), Say("It works."), Say("heard")],
        [ReplyOf([Wait(hold, reached), Say("counted")])],
    )
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        child = front.of(AgentStarted)[0].child
        assert (await front.look_up(ShowTask(task_id="scout"))).task.task_id == child
        await front.look_up(StopTask(task_id="scout"))
        assert (await front.until(AgentEnded)).by == "user"
