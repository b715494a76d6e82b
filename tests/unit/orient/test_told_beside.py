"""Two suites, one red: both are told, and the agent's words about either are not denied by the other."""

from clew.orient.form import form_of
from unit.ledger.talk import Talk


def test_a_red_suite_is_told_beside_a_green_one() -> None:
    talk = Talk().user("Check both suites").bash("cd back && pytest", "Exit code 1\n2 failed in 3s", error=True)
    talk.bash("cd front && npm test", "Tests:       88 passed, 88 total")
    words = "The frontend is green; in the backend test_tax and test_vat fail."
    form = form_of(talk.agent(words).ledger())
    assert form.told("changed") == "cd back && pytest: 2 failed; cd front && npm test: 88 passed"
    assert form.told("agent") == f"“{words}”"
    assert form.told("state") == "idle"
