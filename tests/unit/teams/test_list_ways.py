"""The list of work over /rewind, /redo, /clear, /compact and /branch: the file and the log always say the same."""

from typing import Any

from msgspec.structs import replace

from clew.ledger.fold import fold
from clew.llm.scripted import Call, Say
from clew.orient.form import form_of
from clew.protocol.events import AgentEnded, CompactionEnded, Rewound, TurnEnded
from clew.protocol.ids import EntryId
from clew.protocol.ops import ClearContext, Redo, Rewind, SubmitPrompt
from clew.teams.work_list import WorkList, list_folder
from clew.transcript.past.reader import load
from unit.agents.opened_place import Place, opened
from unit.host.room import Front
from unit.teams.team_lab import CREATE, deferred, member, team

Rows = list[tuple[int, str, str]]


def todo(*items: tuple[str, str]) -> Call:
    return Call("TodoWrite", {"todos": [{"content": text, "status": status} for text, status in items]})


def in_log(front: Front) -> Rows:
    return [(one.number, one.content, one.status) for one in front.door.session.journal.main.state.todos]


def in_file(place: Place, front: Front) -> Rows:
    work = WorkList(list_folder(place.home, front.door.session.started.session_id))
    return [(one.id, one.subject, one.status) for one in work.items()]


async def said(front: Front, words: str, turns: int) -> None:
    await front.submit(SubmitPrompt(content=words))
    await front.until(TurnEnded, turns)


async def reopened(place: Place, resume: str) -> tuple[Rows, Rows]:
    request, _ = team(place, [Say("x")])
    async with opened(replace(request, resume=resume)) as front:
        return in_log(front), in_file(place, front)


async def test_a_rewind_takes_back_what_todo_write_wrote_and_nothing_that_is_shared(place: Place) -> None:
    script: list[Any] = [
        *(todo(("plan", "completed"), ("build", "in_progress")), Say("one")),
        *(todo(("build", "completed"), ("ship", "pending")), deferred("TaskCreate", subject="shared"), Say("two")),
    ]
    request, _ = team(place, script)
    after = [(2, "build", "completed"), (3, "ship", "pending"), (4, "shared", "pending")]
    async with opened(request) as front:
        session = front.door.session.started.session_id
        await said(front, "first", 1)
        await said(front, "second", 2)
        assert in_log(front) == in_file(place, front) == after
        await front.submit(Rewind(to=EntryId("2"), scope="conversation"))
        await front.until(Rewound)
        back = [(2, "build", "in_progress"), (4, "shared", "pending"), (5, "plan", "completed")]
        assert in_log(front) == in_file(place, front) == back
        await front.submit(Redo())
        await front.until(Rewound, 2)
        again = [(2, "build", "completed"), (4, "shared", "pending"), (6, "ship", "pending")]
        assert in_log(front) == in_file(place, front) == again
        await front.submit(Rewind(to=EntryId("1"), scope="conversation"))
        await front.until(Rewound, 3)
        assert in_log(front) == in_file(place, front) == [(4, "shared", "pending")]
    assert await reopened(place, session) == ([(4, "shared", "pending")], [(4, "shared", "pending")])


async def test_a_rewind_of_files_alone_leaves_the_list(place: Place) -> None:
    write = Call("Write", {"file_path": str(place.project / "a.txt"), "content": "x"})
    request, _ = team(place, [todo(("a", "pending")), Say("one"), todo(("b", "pending")), write, Say("two")])
    async with opened(request) as front:
        await said(front, "first", 1)
        await said(front, "second", 2)
        await front.submit(Rewind(to=EntryId("2"), scope="files"))
        await front.until(Rewound)
        assert in_log(front) == in_file(place, front) == [(2, "b", "pending")]


async def test_a_cleared_window_keeps_the_list(place: Place) -> None:
    request, models = team(place, [todo(("a", "pending")), Say("one"), deferred("TaskList"), Say("two")])
    async with opened(request) as front:
        session = front.door.session.started.session_id
        await said(front, "first", 1)
        await front.submit(ClearContext())
        await front.until(CompactionEnded)
        assert in_log(front) == in_file(place, front) == [(1, "a", "pending")]
        await said(front, "second", 2)
    assert "#1 pending (lead): a" in str(models["lead"].requests[-1].messages)
    assert await reopened(place, session) == ([(1, "a", "pending")], [(1, "a", "pending")])


async def test_a_branch_has_a_copy_of_the_list_and_no_team(place: Place) -> None:
    lead = [
        *(CREATE, deferred("TaskCreate", subject="look"), deferred("TaskCreate", subject="mine"), member("ann")),
        deferred("TaskUpdate", taskId="1", owner="ann", status="in_progress"),
        *(deferred("TaskUpdate", taskId="2", status="in_progress"), *[Say("ok")] * 4),
    ]
    request, _ = team(place, lead, ann=[Say("x"), Say("y")])
    async with opened(request) as front:
        session = front.door.session.started.session_id
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded)
        await front.until(TurnEnded)
        whole = [(1, "look", "in_progress"), (2, "mine", "in_progress")]
        assert in_file(place, front) == whole
    branch, _ = team(place, [deferred("TaskUpdate", taskId="2", status="completed"), Say("done")])
    async with opened(replace(branch, resume=session, fork=True)) as copy:
        assert copy.door.session.started.session_id != session
        await said(copy, "go on", 1)
        assert copy.door.session.journal.main.state.team is None
        assert in_log(copy) == in_file(place, copy) == [(1, "look", "pending"), (2, "mine", "completed")]
        assert [one.owner for one in copy.door.session.journal.main.state.todos] == ["", ""]
    assert in_file(place, front) == whole, "the list of the session that was copied stays"


async def test_the_recap_names_members_and_owners(place: Place) -> None:
    lead = [
        *(CREATE, deferred("TaskCreate", subject="look"), member("ann")),
        *(deferred("TaskUpdate", taskId="1", owner="ann", status="in_progress"), *[Say("ok")] * 4),
    ]
    request, _ = team(place, lead, ann=[Say("x"), Say("y")])
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded)
        await front.until(TurnEnded)
    form = form_of(fold(load(place.transcript).entries, held=True))
    assert form.told("open") == "0/1 look (ann)"
    assert "ann idle" in form.told("agents")
    assert "ann works" not in form.told("agents"), "its name, not the words of the call"
