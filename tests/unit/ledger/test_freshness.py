"""A fact is told as current only until later work of its kind exists; what nobody runs is not running."""

import pytest

from clew.ledger.failures import left_undone
from clew.protocol.standing import Standing
from unit.ledger.talk import Talk

OPEN = [{"content": "Parse", "status": "completed"}, {"content": "Print the rows", "status": "in_progress"}]


def asked() -> Talk:
    return Talk().user("Print the parcels as a table")


def test_a_test_result_is_old_once_files_changed() -> None:
    talk = asked().edit("/p/a.py").bash("pytest", "Exit code 1\n2 failed, 1 passed in 1s", error=True)
    run = talk.ledger().current_test
    assert run is not None
    assert run.failed == 2
    assert talk.edit("/p/a.py", "b", "c").ledger().current_test is None
    fixed = talk.bash("pytest", "3 passed in 1s").ledger().current_test
    assert fixed is not None
    assert (fixed.passed, fixed.failed) == (3, 0)


def test_files_written_or_removed_by_the_shell_make_a_result_old() -> None:
    for command in ("cat > a.py <<'EOF'\nx\nEOF", "sed -i 's/a/b/' a.py", "rm a.py"):
        talk = asked().bash("pytest", "3 passed in 1s").bash(command, "")
        assert talk.ledger().current_test is None, command


def test_a_task_list_is_old_after_the_next_request() -> None:
    talk = asked().call("TodoWrite", todos=OPEN).result()
    assert talk.ledger().current_todos is not None
    assert talk.agent("Half of it is there.").user("go on").ledger().current_todos is not None, "a nod goes on with it"
    assert talk.agent("Fine.").user("Now rename the class Parcel").ledger().current_todos is None
    assert talk.ledger().todos is not None, "the list itself stays known"


def test_a_list_that_nobody_kept_is_not_told_when_the_turn_ended_well() -> None:
    talk = asked().call("TodoWrite", todos=OPEN).result().edit("/p/table.py").agent("The table is printed.")
    assert talk.ledger().current_todos is None
    assert talk.ended("interrupted").ledger().current_todos is not None, "cut off, it tells what was left"


def test_agents_run_only_while_somebody_runs_them() -> None:
    talk = asked().call("Task", description="Look for callers").result("Async agent launched successfully")
    talk.call("Task", description="Look for tests")
    assert [agent.task for agent in talk.folding().ledger(held=True).running_agents] == [
        "Look for callers",
        "Look for tests",
    ]
    assert talk.ledger().running_agents == ()
    assert [agent.standing for agent in talk.ledger().agents] == ["interrupted", "interrupted"]
    waited = talk.user("Never mind the agents").folding().ledger(held=True).running_agents
    assert [agent.task for agent in waited] == ["Look for callers"], "only one in the background outlives its turn"


def test_errors_of_an_earlier_request_are_past() -> None:
    talk = asked().bash("make all", "Exit code 2\nmissing header", error=True)
    assert [error.where for error in talk.ledger().current_errors] == ["make all"]
    assert talk.agent("It fails.").user("Forget make, write the docs").ledger().current_errors == ()


def test_the_agents_last_words_belong_to_their_request() -> None:
    talk = asked().agent("The table is printed.")
    assert talk.ledger().said is not None
    assert talk.user("Now rename the class Parcel").ledger().said is None


def test_what_a_dead_process_left_is_interrupted_at_once() -> None:
    talk = asked().call("Bash", command="make all")
    assert talk.ledger().state is Standing.INTERRUPTED
    assert talk.folding().ledger(held=True).state is Standing.WORKING
    talk.approval("pending", subject="make all")
    assert talk.folding().ledger(held=True).state is Standing.WAITING
    assert (talk.ledger().state, talk.ledger().pending_approval) == (Standing.INTERRUPTED, None)
    reopened = talk.folding()
    reopened.reopened()
    assert reopened.ledger(held=True).state is Standing.INTERRUPTED
    assert reopened.ledger(held=True).pending_approval is None


def test_a_question_in_a_dialog_needs_its_process_and_one_in_words_does_not() -> None:
    talk = asked().call("AskUserQuestion", questions=[{"question": "JSON or YAML?"}])
    assert talk.folding().ledger(held=True).state is Standing.ASKING
    assert talk.ledger().state is Standing.INTERRUPTED
    assert asked().agent("JSON or YAML?").ledger().state is Standing.ASKING


@pytest.mark.parametrize("path", ['"$tmpfile"', "$OUT/x", "`mktemp`", "*.py", "${a}.txt"])
def test_what_the_shell_fills_in_is_no_file(path: str) -> None:
    ledger = asked().bash(f"cat > {path} <<'EOF'\nx\nEOF", "").bash(f"rm {path}", "").ledger()
    assert ledger.changed_files == ()


def test_an_agent_whose_end_is_told_after_its_process_was_gone_has_ended() -> None:
    talk = Talk().user("Survey it").call("Agent", description="survey", prompt="x", subagent_type="Explore")
    talk.result("Async agent launched successfully.\nagentId: a1")
    folding = talk.folding()
    folding.reopened()
    assert [agent.standing for agent in folding.ledger(held=True).agents] == ["interrupted"]
    notice = "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>"
    for entry in Talk().user("x").user("y").user("z").user("w").user(notice).entries[-1:]:
        folding.feed(entry)
    assert [agent.standing for agent in folding.ledger(held=True).agents] == ["completed"]


def test_a_call_that_nobody_allowed_was_not_under_way_when_its_process_died() -> None:
    talk = asked().call("Bash", command="rm -rf /opt/build").approval("pending", "Bash", "rm -rf /opt/build")
    assert talk.ledger().state is Standing.INTERRUPTED
    assert talk.ledger().doing is None
    live = talk.folding().ledger(held=True)
    assert live.state is Standing.WAITING
    assert live.doing is not None
    assert talk.approval("allow", "Bash", "rm -rf /opt/build").ledger().doing is not None


@pytest.mark.parametrize("told", ["look", "notice"])
def test_a_command_in_the_background_has_failed_when_that_is_told(told: str) -> None:
    talk = Talk().user("Run them meanwhile").call("Bash", command="npm run e2e", run_in_background=True)
    talk.result("Command running in background with ID: b7", extra={"backgroundTaskId": "b7"}).edit("/p/a.ts")
    assert not left_undone(talk.ledger())
    ended = "<status>failed</status>\n<exit_code>1</exit_code>\n<stdout>3 failed\n41 passed (2.1m)</stdout>"
    if told == "look":
        talk.call("BashOutput", bash_id="b7").result(ended)
    else:
        talk.user(f"<task-notification>\n<task-id>b7</task-id>\n{ended}\n</task-notification>")
    ledger = talk.agent("The fixtures are tidy.").ledger()
    assert [(run.passed, run.failed) for run in ledger.tests] == [(41, 3)]
    assert (ledger.current_test, left_undone(ledger)) == (None, True), "what changed meanwhile was not tested"


def test_what_a_command_may_have_made_is_not_told_as_deleted() -> None:
    talk = asked().bash("gcc -O2 bench.c -o bench && ./bench", "3.4 ns").bash("rm bench", "")
    assert talk.ledger().changed_files == ()
    ledger = asked().bash("cat notes.txt", "old").bash("rm notes.txt", "").ledger()
    assert [(file.path, file.deleted) for file in ledger.changed_files] == [("notes.txt", True)]
