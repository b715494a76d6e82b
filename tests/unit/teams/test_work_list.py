"""The list of work: claims, dependencies, ids, readers that never miss an item."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.teams.work_list import Todo, WorkChange, WorkItem, WorkList, WorkRefused

START = WorkChange(status="in_progress")
DONE = WorkChange(status="completed")


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(WorkRefused) as caught:
        call()
    return caught.value.code


def test_tk_3_ids_only_grow_and_nothing_refers_to_what_is_gone(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    for number in range(1, 6):
        work.create(f"n{number}", by="lead", blocked_by=(1,) if number == 4 else ())
    work.update(2, WorkChange(blocked_by=(5,)), by="lead")
    work.delete(5, by="lead")
    assert work.create("next", by="lead").id == 6
    assert all(5 not in item.blocked_by for item in WorkList(tmp_path).items())
    work.delete(6, by="lead")
    assert WorkList(tmp_path).create("again", by="lead").id == 7


def test_tk_4_a_blocked_item_names_its_blockers_and_can_be_begun_when_they_are_done(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    work.create("first", by="lead")
    work.create("second", by="lead", blocked_by=(1,))
    with pytest.raises(WorkRefused, match="#1 'first'") as caught:
        work.update(2, START, by="ann")
    assert caught.value.code == "blocked"
    work.update(1, DONE, by="ann")
    assert work.update(2, START, by="ann").owner == "ann"
    assert work.blocks(1) == (2,)


def test_tk_5_an_agent_with_an_open_item_is_busy_where_that_is_asked(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    work.create("a", by="lead")
    work.create("b", by="lead")
    work.update(1, START, by="ann")
    assert refused(lambda: work.update(2, WorkChange(status="in_progress", alone=True), by="ann")) == "agent_busy"
    assert work.update(2, START, by="ann").owner == "ann"


def test_answers_are_distinct(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    work.create("a", by="lead")
    assert refused(lambda: work.update(9, START, by="ann")) == "not_found"
    work.update(1, START, by="ann")
    assert refused(lambda: work.update(1, START, by="ben")) == "already_claimed"
    work.update(1, DONE, by="ann")
    assert (
        refused(lambda: work.update(1, WorkChange(status="in_progress", owner="ben"), by="ben")) == "already_resolved"
    )
    assert refused(lambda: work.create("  ", by="ann")) == "bad"
    work.create("b", by="lead", blocked_by=(1,))
    assert refused(lambda: work.update(1, WorkChange(blocked_by=(2,)), by="lead")) == "cycle"
    assert refused(lambda: work.update(2, WorkChange(blocks=(2,)), by="lead")) == "cycle"


def test_tk_8_what_a_gone_member_had_open_is_nobodys(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    for subject in ("a", "b", "c"):
        work.create(subject, by="lead")
    work.update(1, START, by="ann")
    work.update(2, DONE, by="ann")
    work.update(3, WorkChange(owner="ann"), by="lead")
    assert work.release("ann", by="lead") == (1, 3)
    assert [(item.status, item.owner) for item in work.items()] == [
        ("pending", ""),
        ("completed", "ann"),
        ("pending", ""),
    ]


def test_tk_6_a_reader_never_misses_an_item(tmp_path: Path) -> None:
    work, reader = WorkList(tmp_path), WorkList(tmp_path)
    for number in range(20):
        work.create(str(number), by="lead")
    over = threading.Event()
    missed: list[int] = []

    def read() -> None:
        while not over.is_set():
            if len(found := reader.items()) != 20:
                missed.append(len(found))

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(1_000):
        work.update(number % 20 + 1, WorkChange(description=f"state {number}"), by="lead")
    over.set()
    thread.join()
    assert not missed


CLAIM = """
import sys
from pathlib import Path
from clew.teams.work_list import *
work = WorkList(Path(sys.argv[1]))
for number in range(1, int(sys.argv[3]) + 1):
    try:
        work.update(number, WorkChange(status="in_progress"), by=sys.argv[2])
        print(number)
    except WorkRefused as refused:
        assert refused.code in ("already_claimed", "busy"), refused.code
"""
CREATE = """
import sys
from pathlib import Path
from clew.teams.work_list import *
work = WorkList(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    while True:
        try:
            work.create(f"{sys.argv[2]} {number}", by=sys.argv[2])
            break
        except WorkRefused as refused:
            assert refused.code == "busy", refused.code
"""


def side_by_side(code: str, folder: Path, workers: int, count: int) -> list[str]:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder), f"w{number}", str(count)], stdout=subprocess.PIPE, text=True
        )
        for number in range(workers)
    ]
    said = [process.communicate()[0] for process in running]
    assert all(process.returncode == 0 for process in running)
    return said


def test_tk_1_ids_of_ten_processes_have_no_gaps_and_no_repeats(tmp_path: Path) -> None:
    side_by_side(CREATE, tmp_path, 10, 20)
    assert [item.id for item in WorkList(tmp_path).items()] == list(range(1, 201))


def test_tk_2_of_ten_claimers_exactly_one_wins_each_time(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    for number in range(100):
        work.create(str(number), by="lead")
    won = [line for said in side_by_side(CLAIM, tmp_path, 10, 100) for line in said.split()]
    assert len(won) == len(set(won))
    owners = {item.id: item.owner for item in WorkList(tmp_path).items()}
    assert sum(bool(owner) for owner in owners.values()) == len(won) == 100


def test_a_list_that_is_gone_is_made_again_and_one_that_is_there_stays(tmp_path: Path) -> None:
    work = WorkList(tmp_path / "a")
    work.restore([WorkItem(id=3, subject="kept")])
    work.restore([WorkItem(id=9, subject="not this")])
    assert [item.id for item in work.items()] == [3]
    assert work.create("new", by="lead").id == 4


def test_bad_lines_are_counted_and_left(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    work.create("a", by="lead")
    with (tmp_path / "list.jsonl").open("a") as file:
        file.write('{"line":"item","id":"x"}\n')
    assert [item.subject for item in work.items()] == ["a"]
    assert work.bad_lines == 1
    assert work.create("b", by="lead").id == 2


@settings(max_examples=40)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 6), st.integers(1, 6), st.integers(1, 6), st.sampled_from(("ann", "ben"))), max_size=25
    )
)
def test_whatever_is_done_the_list_holds(
    steps: list[tuple[int, int, int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("list")
    work, last = WorkList(folder), 0
    for kind, one, two, who in steps:
        try:
            if kind == 0:
                item = work.create(f"item {one}", by=who)
                assert item.id > last
                last = item.id
            elif kind == 1:
                work.update(one, START, by=who)
            elif kind == 2:
                work.update(one, DONE, by=who)
            elif kind == 3:
                work.update(one, WorkChange(blocked_by=(two,)), by=who)
            elif kind == 4:
                work.delete(one, by=who)
            elif kind == 5:
                work.write_todos([Todo(subject=f"todo {two}", status="pending")], by=who)
                last = max(last, *(item.id for item in work.items()))
            else:
                work.release(who, by="lead")
        except WorkRefused:
            pass
        items = {item.id: item for item in work.items()}
        for item in items.values():
            assert all(other in items for other in item.blocked_by)
            assert (
                item.id in {number for other in item.blocked_by for number in work.blocks(other)} or not item.blocked_by
            )
            assert item.status != "in_progress" or item.owner
        assert not cyclic(items)
    assert WorkList(folder).items() == work.items()


def cyclic(items: dict[int, WorkItem]) -> bool:
    free = {number for number, item in items.items() if not item.blocked_by}
    while True:
        more = {number for number, item in items.items() if number not in free and set(item.blocked_by) <= free}
        if not more:
            return len(free) < len(items)
        free |= more


def test_todo_write_keeps_the_new_status_of_an_item_that_waited_for_one_that_it_takes_away(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    work.write_todos([Todo(subject="a", status="pending"), Todo(subject="b", status="pending")], by="lead")
    work.update(2, WorkChange(blocked_by=(1,)), by="lead")
    work.write_todos([Todo(subject="b", status="completed")], by="lead")
    assert [(item.id, item.status, item.blocked_by) for item in WorkList(tmp_path).items()] == [(2, "completed", ())]


def test_only_its_owner_or_the_lead_puts_back_what_is_in_progress(tmp_path: Path) -> None:
    work = WorkList(tmp_path)
    work.create("a", by="lead")
    work.update(1, START, by="ann")
    back = WorkChange(status="pending")
    assert refused(lambda: work.update(1, back, by="ben")) == "already_claimed"
    assert work.update(1, back, by="ann").owner == "ann"
    work.update(1, START, by="ann")
    assert work.update(1, back, by="lead").status == "pending"
