"""A team in one process: members, mail, stopping, restarts; through a session's front door."""

import asyncio
import shutil
from typing import Any

from msgspec.structs import replace

from clew.llm.scripted import Call, ReplyOf, Say, Wait
from clew.protocol.events import AgentEnded, Notice, PlanProposed, TeamChanged, ToolEnded, TurnEnded
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookups.teams import ShowTeam
from clew.protocol.ops import AnswerPlan, MessageAgent, StopMember, SubmitPrompt
from clew.protocol.standing import Standing
from clew.teams.roster import Roster
from unit.agents.opened_place import Place, opened
from unit.teams.team_lab import CREATE, deferred, heard, member, results, send, team


async def test_a_member_works_writes_to_the_lead_and_is_idle(place: Place) -> None:
    request, models = team(
        place,
        [CREATE, member("scout"), Say("started"), Say("heard"), Say("heard more")],
        scout=[send("lead", "found <b>it</b>"), Say("done")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded)
        await front.until(TurnEnded, 3)
        shown = await front.look_up(ShowTeam())
    assert "The team blue is there" in results(front)[0]
    assert "You are scout, a member of the team blue" in str(models["scout"].requests[0].system)
    words = heard(models["lead"])
    assert words.count('<teammate-message from="scout"') == 1
    assert "found &lt;b&gt;it&lt;/b&gt;" in words
    assert "Teammate scout is idle" in words
    assert shown.team is not None
    assert [(row.name, row.standing) for row in shown.team.members] == [("scout", Standing.IDLE)]
    assert [(mail.sender, mail.to, mail.became) for mail in shown.mail] == [("scout", "lead", "delivered")]
    assert shown.mail[0].step >= 1


async def test_tm_1_a_second_team_is_refused_and_names_the_first(place: Place) -> None:
    request, _ = team(place, [CREATE, deferred("TeamCreate", team_name="red"), Say("ok")])
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    assert "leads the team blue already" in results(front)[1]


async def test_mail_wakes_an_idle_member(place: Place) -> None:
    request, models = team(
        place,
        [CREATE, member("scout"), Say("started"), Say("idle"), send("scout", "one more thing"), *[Say("ok")] * 3],
        scout=[Say("first done"), Say("second done")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded)
        await front.until(TurnEnded, 2)
        await front.submit(SubmitPrompt(content="more"))
        await front.until(AgentEnded, 2)
    assert "one more thing" in heard(models["scout"])
    assert "it was idle, and begins to work with it" in results(front)[-1], results(front)


async def test_mail_reaches_a_working_member_at_its_next_step(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    request, models = team(
        place,
        [CREATE, member("scout"), ReplyOf([Wait(reached), send("scout", "look left")]), *[Say("ok")] * 3],
        scout=[ReplyOf([Wait(hold, reached), Call("Bash", {"command": "echo step"})]), Say("done")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        hold.set()
        await front.until(AgentEnded)
        shown = await front.look_up(ShowTeam())
    assert "look left" in heard(models["scout"])
    assert len(models["scout"].requests) == 2
    assert [(mail.became, mail.step) for mail in shown.mail] == [("delivered", 1)]


async def test_tm_6_a_broadcast_reaches_all_but_the_sender(place: Place) -> None:
    names = ("ann", "ben", "cat")
    request, models = team(
        place,
        [CREATE, *(member(name) for name in names), send("*", "hello all"), Say("sent"), *[Say("ok")] * 6],
        **{name: [Say("done"), Say("read")] for name in names},
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await until(lambda: all("hello all" in heard(models[name]) for name in names))
        shown = await front.look_up(ShowTeam())
    assert sorted(mail.to for mail in shown.mail if mail.text == "hello all") == list(names)


async def test_tm_7_a_structured_broadcast_is_refused(place: Place) -> None:
    request, _ = team(
        place,
        [
            CREATE,
            member("scout"),
            Call("SendMessage", {"to": "*", "message": {"type": "shutdown_request"}}),
            *[Say("ok")] * 4,
        ],
        scout=[Say("done"), Say("read")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        shown = await front.look_up(ShowTeam())
    assert front.of(ToolEnded)[2].result.is_error
    assert not shown.mail


async def test_tm_9_a_member_that_refuses_to_stop_keeps_the_team_and_is_named(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    refuse = Call("ShutdownReply", {"approve": False, "reason": "half done"})
    request, _ = team(
        place,
        [CREATE, member("scout"), deferred("TeamDelete", wait_ms=30_000), Say("stays"), *[Say("ok")] * 5],
        scout=[ReplyOf([Wait(hold, reached), Call("Bash", {"command": "echo step"})]), refuse, Say("done")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        hold.set()
        await until(lambda: len(results(front)) > 2)
        answer = next(text for text in results(front) if "The team stays" in text)
    assert "scout: half done" in answer
    assert Roster(place.home, "blue").read().members[0].state != "stopped"


async def test_a_member_that_agrees_stops_and_the_team_goes(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    request, _ = team(
        place,
        [CREATE, member("scout"), deferred("TeamDelete", wait_ms=30_000), Say("gone"), *[Say("ok")] * 5],
        scout=[
            ReplyOf([Wait(hold, reached), Call("Bash", {"command": "echo step"})]),
            Call("ShutdownReply", {"approve": True}),
            Say("never said"),
        ],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        hold.set()
        await until(lambda: any("The team blue is gone" in text for text in results(front)))
        assert front.of(TeamChanged)[-1].team is None
    assert not (place.home / "teams" / "blue").exists()


async def test_a_killed_member_is_stopped_and_its_unread_mail_is_told_as_dead(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    request, models = team(
        place,
        [CREATE, member("scout"), send("scout", "never read"), Say("started"), *[Say("ok")] * 5],
        scout=[ReplyOf([Wait(hold, reached), Say("never")])],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        await front.until(TurnEnded)
        await front.submit(StopMember(name="scout"))
        await until(lambda: any(row.standing is Standing.STOPPED for row in members(front)))
        shown = await front.look_up(ShowTeam())
        await until(lambda: "was not read" in heard(models["lead"]))
    assert [mail.became for mail in shown.mail if mail.kind == "chat"] == ["dead"]
    assert any("never read what lead wrote" in notice.text for notice in front.of(Notice))


async def test_a_stopped_member_that_a_person_talks_to_is_a_member_again(place: Place) -> None:
    request, models = team(
        place,
        [CREATE, member("scout"), *[Say("ok")] * 6],
        scout=[Say("done"), Say("back"), Say("read")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded)
        await front.submit(StopMember(name="scout"))
        await until(lambda: any(row.standing is Standing.STOPPED for row in members(front)))
        await front.submit(MessageAgent(to="scout", text="one more"))
        await front.until(AgentEnded, 2)
        await until(lambda: any(row.standing is Standing.IDLE for row in members(front)))
    assert "one more" in heard(models["scout"])
    assert Roster(place.home, "blue").read().members[0].state != "stopped"


async def test_tm_11_after_a_restart_dead_members_are_interrupted_and_mail_opens_them_again(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    request, _ = team(
        place,
        [CREATE, member("scout"), Say("started"), *[Say("ok")] * 3],
        scout=[ReplyOf([Wait(hold, reached), Say("never")])],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        await front.until(TurnEnded)
    again, models = team(
        place, [send("scout", "go on"), Say("sent"), *[Say("ok")] * 3], scout=[Say("I went on"), Say("x")]
    )
    async with opened(resumed(place, again)) as front:
        shown = await front.look_up(ShowTeam())
        assert shown.team is not None
        assert [row.standing for row in shown.team.members] == [Standing.INTERRUPTED]
        await front.submit(SubmitPrompt(content="again"))
        await until(lambda: bool(models["scout"].requests))
        await front.until(AgentEnded)
    assert "go on" in heard(models["scout"])


async def test_with_teams_off_the_tools_answer_with_a_hint(place: Place) -> None:
    request, _ = team(place, [CREATE, Say("ok")])
    request.flags["teams.enabled"] = False
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    assert "eams are off here (teams.enabled)" in results(front)[0]


def resumed(place: Place, request: Any) -> Any:
    return replace(request, resume=place.transcript.stem)


def members(front: Any) -> Any:
    changed = front.of(TeamChanged)
    return changed[-1].team.members if changed and changed[-1].team is not None else ()


async def until(true: Any) -> None:
    """Wait for something that other tasks bring about; the suite's own limit ends a test that hangs."""
    while not true():  # noqa: ASYNC110 - what is waited for is an answer of a scripted model, which sets no event
        await asyncio.sleep(0.01)


async def test_a_plan_of_a_member_is_put_to_the_person_with_its_agent(place: Place) -> None:
    plan = Call("ExitPlanMode", {"plan": "# Plan\nlook, then write"})
    wrote = Call("Write", {"file_path": str(place.project / "a.txt"), "content": "x"})
    request, models = team(
        place,
        [CREATE, member("scout", mode="plan"), *[Say("ok")] * 5],
        scout=[wrote, plan, wrote, Say("done")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await until(lambda: any(isinstance(one.event, PlanProposed) for one in front.seen))
        asked = next(one for one in front.seen if isinstance(one.event, PlanProposed))
        assert asked.agent != MAIN_AGENT
        assert not (place.project / "a.txt").exists()
        assert isinstance(asked.event, PlanProposed)
        answer = AnswerPlan(request_id=asked.event.request_id, decision="accept_edits", agent=asked.agent)
        await front.submit(answer)
        await front.until(AgentEnded)
    assert (place.project / "a.txt").exists()
    assert "The user accepted the plan" in str(models["scout"].requests[-1].messages)
    assert Roster(place.home, "blue").read().members[0].mode == "acceptEdits"


async def test_the_lead_accepts_a_plan_only_where_the_person_allows_it(place: Place) -> None:
    reply = deferred("PlanReply", name="scout", approve=True, feedback="mind the tests")
    for allowed in (True, False):
        request, models = team(
            place,
            [CREATE, member("scout", mode="plan"), Say("started"), reply, *[Say("ok")] * 5],
            scout=[Call("ExitPlanMode", {"plan": "# P"}), Say("done")],
        )
        request.flags["teams.leadApprovesPlans"] = allowed
        async with opened(request) as front:
            await front.submit(SubmitPrompt(content="go"))
            if allowed:
                await front.until(AgentEnded)
                assert "The lead accepted the plan" in str(models["scout"].requests[-1].messages)
            else:
                await until(lambda seen=front.seen: any(isinstance(one.event, PlanProposed) for one in seen))
                await front.submit(SubmitPrompt(content="accept it"))
                await until(lambda now=front: any("accepted by the user here" in text for text in results(now)))
                assert len(models["scout"].requests) == 1
            await front.submit(StopMember(name="scout"))
        clear(place)


def clear(place: Place) -> None:
    """As if nothing had been."""
    for name in ("teams", "projects", "tasks"):
        shutil.rmtree(place.home / name, ignore_errors=True)


async def test_a_team_whose_file_cannot_be_read_is_told_when_its_session_is_opened_again(place: Place) -> None:
    request, _ = team(place, [CREATE, Say("made")])
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    (place.home / "teams" / "blue" / "team.json").write_text('{"version": 99, "name": "blue"}')
    again, _ = team(place, [Say("ok")])
    async with opened(resumed(place, again)) as front:
        await front.submit(SubmitPrompt(content="again"))
        await front.until(TurnEnded)
    assert any("newer clew (version 99)" in notice.text for notice in front.of(Notice))
