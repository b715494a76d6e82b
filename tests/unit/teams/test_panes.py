"""Members in panes without a pane: the session of a member, what letters may ask of it, and a lead without tmux."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clew.llm.scripted import Say
from clew.protocol.events import Notice, PromptAccepted, TurnEnded
from clew.protocol.ops import SubmitPrompt
from clew.teams.mailbox import LetterKind
from clew.teams.roster import Member, Roster, Team
from fakes.effort import HANG_S
from unit.agents.opened_place import Place, opened
from unit.teams.team_lab import CREATE, deferred, member, results, send, team


async def true(there: Callable[[], bool]) -> None:
    """Until another task has brought it about; a limit of time only ends what hangs."""
    async with asyncio.timeout(HANG_S):
        while not there():  # noqa: ASYNC110 - it looks at files, which no event tells of
            await asyncio.sleep(0.01)


def seated(home: Path) -> Roster:
    roster = Roster(home, "blue")
    roster.create(Team(name="blue", lead_session="11111111-1111-4111-8111-111111111111"))
    roster.add(Member(name="scout", backend="pane"))
    roster.add(Member(name="other"))
    return roster


async def test_a_session_that_is_a_member_takes_its_task_once_and_writes_as_itself(place: Place) -> None:
    request, models = team(
        place, [send("other", "hello"), deferred("TeamCreate", team_name="red"), send("lead", "done"), Say("rested")]
    )
    roster = seated(Path(request.env["CLEW_HOME"]))
    roster.box("scout").post("assignment", sender="lead", to="scout", body={"prompt": "look <b>around</b>"})
    async with opened(replace(request, teammate="blue/scout")) as front:
        await front.until(TurnEnded)
        await true(lambda: roster.read().members[0].state == "idle")
        asked = front.of(PromptAccepted)
    assert "You are scout, a member of the team blue" in str(models["lead"].requests[0].system)
    assert len(asked) == 1
    assert len(asked[0].notices) == 1
    assert "look <b>around</b>" in str(models["lead"].requests[0].messages)
    assert [(one.sender, one.text) for one in roster.box("other").unread()] == [("scout", "hello")]
    assert [(one.kind, one.text) for one in roster.box("lead").unread() if one.is_chat] == [("chat", "done")]
    assert any("only its lead makes, ends and steers teams" in words for words in results(front))
    assert roster.read().members[0].session


async def test_letters_of_the_protocol_give_a_member_no_right(place: Place) -> None:
    request, _ = team(place, [Say("ok")])
    roster = seated(Path(request.env["CLEW_HOME"]))
    letters: list[tuple[LetterKind, str, dict[str, Any]]] = [
        ("permission_answer", "lead", {"approve": True}),
        ("plan_answer", "lead", {"approve": True}),
        ("mode", "lead", {"mode": "bypassPermissions"}),
        ("mode", "other", {"mode": "plan"}),
        ("shutdown_request", "other", {"text": "stop"}),
        ("assignment", "other", {"prompt": "obey"}),
    ]
    for kind, sender, body in letters:
        roster.box("scout").post(kind, sender=sender, to="scout", body=body)
    async with opened(replace(request, teammate="blue/scout")) as front:
        await true(lambda: not roster.box("scout").unread())
        assert [one.word for one in roster.box("scout").all()] == ["refused"] * len(letters)
        roster.box("scout").post("mode", sender="lead", to="scout", body={"mode": "plan"})
        await true(lambda: roster.box("scout").all()[-1].word == "handled")
    assert roster.read().members[0].mode == "plan"
    assert not front.of(TurnEnded)


async def test_without_tmux_a_member_works_in_the_leads_process_and_that_is_said(place: Place) -> None:
    request, models = team(place, [CREATE, member("scout"), Say("started"), Say("heard")], scout=[Say("done")])
    env = {**request.env, "PATH": "/proc/nonexistent"}
    wanted = replace(request, env=env, flags={**request.flags, "teams.backend": "tmux"})
    async with opened(wanted) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded, 2)
    assert any("has no pane" in event.text and "not installed" in event.text for event in front.of(Notice))
    assert models["scout"].requests
    assert Roster(Path(request.env["CLEW_HOME"]), "blue").read().members[0].backend == "in-process"


async def test_an_empty_address_is_nobodys(place: Place) -> None:
    request, _ = team(place, [send("", "for whom?"), send(" - ", "and this?"), Say("ok")])
    roster = seated(Path(request.env["CLEW_HOME"]))
    async with opened(replace(request, teammate="blue/scout")) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    assert all(words.startswith("Nothing was sent: there is no agent") for words in results(front))
    assert not roster.box("other").all()
