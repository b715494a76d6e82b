"""/stats: what this session used and did, from events alone."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, SessionFacts, usage_error
from clew.protocol.tally import ModelUse, Tally
from clew.text.figures import change, count, duration, money, shown_path

ABOUT = CommandHelp(
    name="stats",
    usage="/stats",
    summary="Time, tokens, cost, files, denials.",
)
MAX_ROWS = 20


def total_cost(models: tuple[ModelUse, ...]) -> str:
    """The sum, and how many requests it does not cover."""
    spent = sum(use.cost_usd for use in models)
    unpriced = sum(use.unpriced for use in models)
    if not unpriced:
        return money(spent)
    asked = sum(use.requests for use in models)
    if unpriced == asked:
        return "unknown (no price or usage)"
    return f"{money(spent)} + {count(unpriced, 'request')} without a price"


def session_cost(tally: Tally) -> str:
    """What the whole session cost, side queries included, as the footer, /cost, /stats and /status tell it."""
    requests = sum(use.requests for use in tally.models)
    if tally.unpriced and tally.unpriced == requests and not tally.cost_usd:
        return "unknown (no price or usage)"
    gap = f" + {count(tally.unpriced, 'request')} without a price" if tally.unpriced else ""
    return f"{money(tally.cost_usd)}{gap}"


def model_lines(models: tuple[ModelUse, ...]) -> Iterator[str]:
    """Requests, cost and tokens of each model."""
    for use in models:
        yield f"  {use.model}: {count(use.requests, 'request')}, {total_cost((use,))}"
        tokens = use.usage
        yield (
            f"    in {tokens.input_tokens:,} · cached {tokens.cache_read_input_tokens:,}"
            f" · cache written {tokens.cache_creation_input_tokens:,} · out {tokens.output_tokens:,}"
        )


def _listed(title: str, rows: list[str]) -> Iterator[str]:
    if rows:
        yield f"{title}:"
        yield from rows[:MAX_ROWS]
        if len(rows) > MAX_ROWS:
            yield f"  and {len(rows) - MAX_ROWS} more"


def stats_lines(facts: SessionFacts) -> Iterator[str]:
    """The whole view."""
    state, tally = facts.state, facts.state.spent
    yield f"{count(state.turns, 'turn')}, {count(state.steps, 'step')}, {duration(tally.work_ms)} of work"
    failed = f", {state.failed_calls:,} failed" if state.failed_calls else ""
    yield f"{count(state.calls, 'tool call')}{failed}, {count(state.commands, 'command')} run"
    yield f"Cost: {session_cost(tally)}"
    yield from model_lines(tally.models)
    side = [
        f"  {use.purpose}: {count(use.requests, 'call')}, {'no price' if use.unpriced else money(use.cost_usd)}"
        for use in tally.side
    ]
    yield from _listed("Side queries", side)
    files = [
        f"  {shown_path(item.path, facts.cwd)} {change(item.added, item.removed)}{' (new)' if item.created else ''}"
        for item in state.files
    ]
    yield from _listed("Files changed", files)
    yield from _listed("Denied", [f"  {denied}" for denied in state.denials])


def run(context: CommandContext, argument: str) -> CommandResult:
    """Print it; nothing is asked of anyone."""
    if argument.strip():
        return usage_error(ABOUT, "/stats takes no argument.")
    return CommandResult(lines=tuple(stats_lines(context.facts)))


COMMAND = Command(help=ABOUT, run=run)
