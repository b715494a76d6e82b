"""What is told beside the facts: of two suites, of a smaller run, of what is open, once."""

from clew.orient.form import form_of
from clew.orient.verify import Evidence, verify
from unit.ledger.talk import Talk


def test_a_red_suite_is_told_beside_a_green_one() -> None:
    talk = Talk().user("Check both suites").bash("cd back && pytest", "Exit code 1\n2 failed in 3s", error=True)
    talk.bash("cd front && npm test", "Tests:       88 passed, 88 total")
    words = "The frontend is green; in the backend test_tax and test_vat fail."
    form = form_of(talk.agent(words).ledger())
    assert form.told("changed") == "cd back && pytest: 2 failed; cd front && npm test: 88 passed"
    assert form.told("agent") == f"“{words}”"
    assert form.told("state") == "idle"


def objection(talk: Talk, words: str) -> str:
    return verify(words, Evidence(talk.ledger(), ()), read_over=True).objection


def red() -> Talk:
    return Talk().user("Upgrade pydantic").bash("pytest", "Exit code 1\n2 failed, 61 passed in 3s", error=True)


def test_a_direction_wishes_for_nothing() -> None:
    """A version that something was brought "to" does not make a plan of what stands behind it."""
    assert "facts say otherwise" in objection(red(), "You brought pydantic to 2 and all tests pass.")
    assert "facts say otherwise" in objection(red(), "You brought the call to the client and all tests pass.")
    assert objection(red(), "You want to make all tests pass.") == ""


def test_nothing_is_open_only_where_that_is_a_fact() -> None:
    words = "You upgrade pydantic. Nothing else is open."
    assert "something is open" in objection(red(), words)
    assert objection(red().bash("pytest", "63 passed in 3s").agent("All pass."), words) == ""


def test_a_smaller_green_run_does_not_bear_out_that_all_pass() -> None:
    talk = red().edit("/p/a.py").bash("pytest test_a.py", "3 passed in 1s").agent("test_b is another problem.")
    assert verify("All pydantic tests pass now.", Evidence(talk.ledger(), ())).text == ""
    whole = talk.bash("pytest -q", "63 passed in 3s")
    assert verify("All pydantic tests pass now.", Evidence(whole.ledger(), ())).text


def test_a_sentence_is_told_once() -> None:
    assert verify("You upgrade pydantic. " * 5, Evidence(red().ledger(), ())).text == "You upgrade pydantic."
