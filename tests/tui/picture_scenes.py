"""The ten scenes of a working day for `tui.pictures`: each brings the screen to what a person would see."""

from collections.abc import Awaitable, Callable

from clew.protocol.base import DurableEvent
from clew.protocol.event_kinds.context import ContextMeasured
from clew.protocol.events import (
    BatchLabelled,
    Event,
    PlanProposed,
    PromptQueued,
    RecapReady,
    Recorded,
    SessionRow,
    TaskRow,
    TaskStarted,
    ToolProgress,
)
from clew.protocol.ids import CallId, EntryId, PromptId, RequestId, TaskId
from clew.protocol.lookups.place import PreviewSession, SessionPreviewed, SessionsListed
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.lookups.tasks import TasksListed
from tui.screen_lab import (
    AT,
    ScreenLab,
    call,
    edited,
    over,
    prompt,
    ran,
    runs,
    snapshot,
    started,
    turn,
    words,
)

Scene = Callable[[ScreenLab], Awaitable[None]]
PLAN = """# Keep parcels in SQLite

The list in memory is lost when the process ends. One file in the data directory holds it from now on.

## Steps

1. Write `store.py` with `open_store`, `add` and `heaviest`; the schema is one table, `parcels(id, weight, note)`.
2. Let `depot.py` take a store instead of a list.
3. Move the fixtures of `tests/test_depot.py` to a store in a temporary directory.
4. Add a test that opens the file again after the first store was closed.

## Not part of it

- Moving old data: there is none.
- Locking: one process writes.
"""
ROWS = (
    SessionRow(
        session_id="s1",
        agent="clew",
        title="Fix the tie-break of heaviest",
        project="parcels",
        age_s=7_300,
        state="done",
        recap="weights.py edited, 1 of 2 tests fails. Next: look at the tie-break.",
    ),
    SessionRow(session_id="s2", agent="codex", title="支付重构 💳", project="payments", age_s=200_000, state="done"),
    SessionRow(
        session_id="s3",
        agent="claude",
        title="Why does the nightly import of the depot's tariff tables take four hours and more?",
        project="tariffs",
        age_s=61,
        state="interrupted",
    ),
    *(
        SessionRow(session_id=f"n{at}", agent="clew", title=f"Chore {at}", project="parcels", age_s=86_400.0 * at)
        for at in range(4, 12)
    ),
)
EXCHANGE = (
    "> does heaviest([]) still fail after the change to the loop?",
    "No: it returns None now, and test_empty passes. test_tie still fails, because both weigh the same.",
)


def _worked(number: int = 1, text: str = "test_heaviest fails, please fix it") -> tuple[Event, ...]:
    read, edit = call("Read", file_path="weights.py"), call("Edit", "c2", "r2", file_path="weights.py")
    test = call("Bash", "c3", "r2", 2, command="pytest -q")
    return (
        *(turn(number), prompt(text, number), words("I look at the test first."), read),
        *(runs(read), ran("cat weights.py", "", call_id="c1"), edit, test, edited("c2")),
        ran("pytest -q", "2 passed in 0.03 s", call_id="c3"),
        BatchLabelled(call_ids=(CallId("c2"), CallId("c3")), label="Fixed the start value, tests pass"),
        *(words("Both tests pass: the old loop **started at 0**.", reply="r3"), over(number, cost_usd=0.03, steps=3)),
        ContextMeasured(tokens=76_000, window=200_000),
    )


async def a_start(lab: ScreenLab) -> None:
    await lab.tell(SessionsListed(sessions=(ROWS[0],)))


async def a_plan(lab: ScreenLab) -> None:
    step = call("ExitPlanMode", plan=PLAN)
    proposed = PlanProposed(
        request_id=RequestId("plan"),
        call_id=CallId("c1"),
        plan=PLAN,
        path="/home/ada/.clew/sessions/parcels/plan.md",
        mode_after="default",
    )
    await lab.tell(turn(), prompt("make parcels survive a restart"), words("Here is my plan."), step, proposed)
    await lab.pilot.pause(0.4)


async def a_queue(lab: ScreenLab) -> None:
    step = call("Bash", command="make test")
    waiting = ("and update the changelog", "then say in two sentences why the loop was wrong, for the release notes")
    await lab.tell(
        *(turn(), prompt("fix it, then run everything"), words("I run the tests now."), step, runs(step)),
        ToolProgress(call_id=CallId("c1"), text="collecting …\ntests/test_weights.py ..F\n"),
        *(PromptQueued(prompt_id=PromptId(f"q{at}"), content=text) for at, text in enumerate(waiting)),
    )


async def in_the_background(lab: ScreenLab) -> None:
    begun = TaskStarted(task_id=TaskId("bash_1"), kind="shell", title="npm run dev")
    told = TaskRow(task_id=TaskId("bash_1"), kind="shell", title="npm run dev", tail=("Local: http://localhost:5173/",))
    await lab.tell(turn(), prompt("start the dev server"), begun, words("It listens on port 5173."), over())
    await lab.tell(TasksListed(tasks=(told,)))


async def a_search(lab: ScreenLab) -> None:
    lines = [f"Depot {at} sends its parcels by tram." if at % 9 == 4 else f"Line {at} of it." for at in range(60)]
    await lab.tell(turn(), prompt("how do the depots send?"), words("\n\n".join(lines)), over())
    await lab.press("ctrl+f")
    await lab.type("parcels")
    await lab.press("enter", "n")


async def a_return(lab: ScreenLab) -> None:
    text = "You asked to fix test_heaviest: weights.py is edited and 1 of 2 tests fails. Next: look at the tie-break."
    away = "While you were away: 12 min of work, 3 files edited, tests run twice, one command waits for approval."
    await lab.tell(*_worked(), RecapReady(text=text, away=away, occasion="returned"))


async def a_resume(lab: ScreenLab) -> None:
    await lab.type("/resume")
    await lab.press("escape", "enter")
    await lab.tell(SessionsListed(sessions=ROWS))
    await lab.pilot.pause(0.4)
    if lab.client.asked(PreviewSession):
        await lab.tell(SessionPreviewed(session="s1", lines=EXCHANGE))


async def resumed(lab: ScreenLab) -> None:
    past = tuple(Recorded(at=AT, event=event) for event in _worked() if isinstance(event, DurableEvent))
    await lab.tell(started(resumed=True), snapshot())
    if lab.client.asked(LoadHistory):
        await lab.tell(HistoryLoaded(events=past, before=None))
    text = "Fix test_heaviest: weights.py edited, both tests pass. Next: nothing is open."
    await lab.tell(RecapReady(text=text, entry_id=EntryId("recap"), occasion="resumed"))


DAY: dict[str, Scene] = {
    "start": a_start,
    "plan": a_plan,
    "queue": a_queue,
    "background": in_the_background,
    "search": a_search,
    "return": a_return,
    "resume": a_resume,
    "resumed": resumed,
}
