"""/hooks: which hooks there are and which of them run; approving them, or taking that back, by their numbers."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.event_kinds.programs import HookRow, HookState
from clew.protocol.events import HookRan
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed, ListHooks
from clew.text.terminal_text import reveal

ABOUT = CommandHelp(
    name="hooks",
    usage="/hooks [approve NUMBER... | approve all | revoke NUMBER...]",
    summary="List hooks, approve those of a project, or take an approval back.",
    details=(
        "A hook is a command of yours, or of a project, that runs at set moments: before a tool, after it, at the end.",
        "Numbers are those of the last list. What is approved is exactly the hook as listed: a change asks again.",
    ),
)
STATES: dict[HookState, str] = {
    "approved": "runs",
    "unapproved": "not approved: does not run",
    "untrusted": "the directory is not trusted: does not run",
}
OUTCOMES = {"blocked": "blocked", "failed": "failed", "timed_out": "did not finish"}
MAX_LINE_CHARS = 400


def listing(event: HooksListed) -> tuple[str, ...]:
    """What HooksListed says."""
    lines: list[str] = []
    for number, row in enumerate(event.hooks, start=1):
        lines.append(f"{number:>3}. {moment_words(row)}  {STATES[row.state]}")
        lines += [f"       {line}" for line in reveal(row.command).split("\n")]
        lines.append(f"     in {row.source}" + ("" if row.sandbox else ", outside the sandbox"))
    if not event.hooks:
        lines.append("There are no hooks. Settings define them under `hooks`; see docs/hooks.md.")
    lines += [f"Not understood: {problem}" for problem in event.problems]
    if any(row.state == "unapproved" for row in event.hooks):
        lines.append("Read what each would run, then: /hooks approve NUMBER, or /hooks approve all.")
    return tuple(lines)


def moment_words(row: HookRow) -> str:
    """When it runs."""
    words = f"{row.moment} ({row.matcher})" if row.matcher not in ("", "*") else row.moment
    return f"{words} of the agent {row.agent}" if row.agent else words


def offered_line(rows: tuple[HookRow, ...]) -> str:
    """That hooks were found which do not run."""
    moments = ", ".join(dict.fromkeys(row.moment for row in rows))
    subject = "1 hook is not approved and does" if len(rows) == 1 else f"{len(rows)} hooks are not approved and do"
    return f"{subject} not run ({moments}); /hooks lists what there is"


def hook_line(event: HookRan) -> str:
    """How a hook went, on one line."""
    words = OUTCOMES.get(event.outcome, event.outcome)
    detail = " ".join(event.detail.split())
    text = f"Hook {words} ({event.moment}): {' '.join(event.hook.split())}" + (f": {detail}" if detail else "")
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 1]}…"


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list, or decide about rows of the last one."""
    word, *numbers = argument.split() or ["list"]
    if word == "list" and not numbers:
        return CommandResult(lookups=(ListHooks(),))
    if word not in ("approve", "revoke"):
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    if not context.facts.hooks:
        return CommandResult(
            lines=("List them first, with /hooks: what you approve should be what you saw.",), is_error=True
        )
    chosen = _chosen(context.facts.hooks, numbers, approving=word == "approve")
    if isinstance(chosen, str):
        return usage_error(ABOUT, chosen)
    digests = tuple(dict.fromkeys(row.digest for row in chosen))
    return CommandResult(lookups=(ApproveHooks(digests=digests, approved=word == "approve"),))


def _chosen(rows: tuple[HookRow, ...], numbers: list[str], *, approving: bool) -> list[HookRow] | str:
    """The rows that are meant; words say what is wrong."""
    if not numbers:
        return "Which ones? Give their numbers."
    if numbers == ["all"] and approving:
        waiting = [row for row in rows if row.state == "unapproved"]
        return waiting or "There is none that waits for approval."
    if not all(number.isascii() and number.isdecimal() and 1 <= int(number) <= len(rows) for number in numbers):
        return f"The hooks have numbers 1 to {len(rows)}."
    return [rows[int(number) - 1] for number in numbers]


COMMAND = Command(help=ABOUT, run=run)
