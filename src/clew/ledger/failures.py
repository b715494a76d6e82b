"""Errors and their resolution: a later success of the same thing resolves an earlier failure."""

from msgspec.structs import replace

from clew.ledger.calls import EDIT_TOOLS, SHELL_TOOLS, EndedCall
from clew.ledger.commands import first_program, only_looks
from clew.ledger.facts import ErrorFact, Ledger, Sources, TestResult
from clew.ledger.words import flat
from clew.protocol.standing import Standing
from clew.transcript.chain.closing_words import MAY_ASK
from clew.transcript.chain.standing import TAKEN_BACK

KEPT = 30
_MAX_TEXT = 240
_NOT_DONE = (Standing.STOPPED, Standing.INTERRUPTED, Standing.FAILED)


def failing_thing(outcome: EndedCall) -> str:
    """What a failure is about: the program, the file, or the tool."""
    if outcome.name in SHELL_TOOLS:
        return first_program(outcome.argument("command", "cmd"))
    if outcome.name in EDIT_TOOLS:
        return "edit " + outcome.argument("file_path", "notebook_path", "path")
    return f"{outcome.name} {outcome.argument('file_path', 'path', 'url', 'pattern', 'query')[:200]}".strip()


class FailuresFold:
    """Open and resolved errors, keyed by what failed."""

    def __init__(self) -> None:
        self._errors: dict[str, ErrorFact] = {}

    def settle(self, outcome: EndedCall, *, failed: bool, turn: int = 0, order: int = 0) -> None:
        """Note a failed call, or let a good one resolve an earlier failure."""
        if not failed and not self._errors:
            return
        key = failing_thing(outcome)
        known = self._errors.get(key)
        if failed:
            is_command = outcome.name in SHELL_TOOLS
            self.failed(key, outcome.text, outcome.source, turn, order, is_command=is_command)
        elif known and not known.resolved:
            self._errors[key] = replace(known, resolved=True, resolved_by=outcome.source)

    def failed(
        self, where: str, text: str, source: Sources, turn: int, order: int = 0, *, is_command: bool = False
    ) -> None:
        """Something went wrong."""
        self._errors.pop(where, None)
        words = flat(first_line(text))[:_MAX_TEXT]
        self._errors[where] = ErrorFact(
            where=where, text=words, source=source, turn=turn, order=order, is_command=is_command
        )
        if len(self._errors) > KEPT:
            settled = next((key for key, error in self._errors.items() if error.resolved), next(iter(self._errors)))
            del self._errors[settled]

    def resolve(self, where: str, source: Sources) -> None:
        """It works again."""
        known = self._errors.get(where)
        if known and not known.resolved:
            self._errors[where] = replace(known, resolved=True, resolved_by=source)

    def facts(self) -> tuple[ErrorFact, ...]:
        """Oldest first."""
        return tuple(self._errors.values())


def left_undone(ledger: Ledger) -> bool:
    """Nobody can say that all is done: it may have been asked, it was refused or undone, the last test or check failed
    (though more was changed since), a red run was followed by smaller ones only, an agent did not come to its end, a
    file of the last request could not be written and was not since, or a command or a call to a server failed, did not
    go well later, and nothing was changed. Talk after that work does not settle it."""
    since = min(ledger.turn, ledger.work_turn)
    refused = any(item.decision == "deny" and item.turn >= since for item in ledger.approvals)
    if ledger.state_detail in (MAY_ASK, TAKEN_BACK) or refused or red_left(ledger.tests):
        return True
    if any(check.ok is False for check in {check.kind: check for check in ledger.checks}.values()):
        return True
    if any(agent.standing in _NOT_DONE and agent.turn == ledger.turn for agent in ledger.agents):
        return True
    written = {file.path for file in ledger.changed_files if file.turn >= since}
    looked = {command.source for command in ledger.commands if only_looks(command.command)}
    return any(
        error.where.removeprefix("edit ") not in written
        if error.where.startswith("edit ")
        else error.order >= ledger.changes and (error.is_command or error.where.startswith("mcp__"))
        for error in ledger.errors
        if not error.resolved and error.turn >= since and error.source not in looked
    )


def red_left(runs: tuple[TestResult, ...]) -> bool:
    """Whether a run failed that no later one speaks about."""
    return any(run.ok is False and not any(map(run.settled, runs[at + 1 :])) for at, run in enumerate(runs))


def first_line(text: str) -> str:
    """The first line that says something."""
    for line in text[:2000].splitlines():
        stripped = line.strip()
        if any(map(str.isalpha, stripped)) and not stripped.lower().startswith(
            ("exit code", "error: exit code", "traceback")
        ):
            return stripped
    return text[:_MAX_TEXT].strip()
