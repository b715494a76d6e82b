"""The skills that come with clew, as people see them: so that a session can tell of them without reading a file.

tests/unit/skills/test_bundled.py holds it against the files in `skills/bundled/`."""

from clew.protocol.invocables import InvocableRow


def _row(name: str, hint: str, description: str) -> InvocableRow:
    return InvocableRow(
        name=name, kind="skill", level="bundled", description=description, argument_hint=hint, source="clew"
    )


BUNDLED: tuple[InvocableRow, ...] = (
    _row("commit", "[what to commit, or words for the message]", "Commit the work: look, choose, write the message."),
    _row("init", "[what matters most]", "Write an AGENTS.md for this project from looking at it."),
    _row("pr", "[base branch, or words for the text]", "Open a pull request for this branch, with an honest text."),
    _row("review", "[branch, commits, PR number or files]", "Review changes: the diff, a branch or a pull request."),
)
