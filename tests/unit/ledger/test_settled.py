"""What went wrong stays open until work settles it: neither thanks nor a smaller test run does."""

import pytest

from clew.ledger.failures import left_undone
from unit.ledger.talk import Talk

DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def asked() -> Talk:
    return Talk().user("Deploy the worker to staging").edit("/p/worker.yaml")


def test_thanks_do_not_settle_a_failed_command() -> None:
    talk = asked().bash("kubectl apply -f worker.yaml", "Exit code 1\nForbidden", error=True).agent("Not allowed.")
    assert left_undone(talk.user("ah right, I will ask Marta. thanks").agent("Good luck!").ledger())
    assert not left_undone(talk.user("Then write it down").edit("/p/NOTES.md").agent("Noted.").ledger())


def test_thanks_do_not_settle_a_refused_step() -> None:
    talk = asked().bash("kubectl apply -f worker.yaml", DENIED, error=True).agent("You refused it, so it is not there.")
    assert left_undone(talk.user("yes, later. thanks").agent("Good luck!").ledger())


def test_fewer_tests_do_not_settle_a_red_suite() -> None:
    talk = asked().bash("pytest -q", "Exit code 1\n2 failed, 30 passed in 3s", error=True).edit("/p/a.py")
    talk.bash("pytest -q tests/test_a.py", "3 passed in 1s").agent("test_a passes now.")
    assert left_undone(talk.ledger())
    assert not left_undone(talk.bash("pytest -q | tail -3", "32 passed in 3s").agent("All pass.").ledger())


def test_runs_of_the_same_files_stand_beside_each_other() -> None:
    talk = asked().bash("cd back && pytest -q", "Exit code 1\n2 failed, 40 passed in 3s", error=True)
    talk.bash("cd front && npm test", "Tests:       88 passed, 88 total")
    assert [run.failed for run in talk.ledger().current_tests] == [2, 0]
    again = talk.bash("cd back && pytest -q", "42 passed in 3s").ledger()
    assert [run.failed for run in again.current_tests] == [0], "a green run is told once"
    assert talk.edit("/p/b.py").ledger().current_tests == ()


@pytest.mark.parametrize("command", ["npm ci && npm run lint && npm test", "touch started; sleep 300"])
def test_of_a_chain_that_was_cut_off_nobody_knows_the_step(command: str) -> None:
    doing = asked().call("Bash", command=command).ledger().doing
    assert doing is not None
    assert doing.text == f"`{command}`"
