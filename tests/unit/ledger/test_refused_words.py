"""The agent's own words about what was refused are not quoted as what happened."""

from clew.orient.form import form_of
from unit.ledger.talk import Talk


def test_a_file_that_was_refused_is_not_told_as_made() -> None:
    talk = Talk().user("/init").call("Write", file_path="/p/CLAUDE.md", content="x")
    talk.approval("deny", tool="Write", subject="/p/CLAUDE.md").result("The user does not want that", error=True)
    talk.agent("I've created a basic CLAUDE.md file for this repository. The file includes placeholders for commands.")
    form = form_of(talk.ledger())
    assert form.told("agent") == ""
    assert "refused" in form.told("state")


def test_a_file_that_was_made_all_the_same_is_told() -> None:
    talk = Talk().user("Write notes").call("Write", file_path="/p/a.md", content="x")
    talk.approval("deny", tool="Write", subject="/p/a.md").result("The user does not want that", error=True)
    talk.write("/p/b.md", "x").agent("I've created b.md instead of the first one.")
    assert "created b.md" in form_of(talk.ledger()).told("agent")
