"""/cost: what the session has cost so far, by model and by purpose."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, SessionFacts, usage_error
from clew.commands.stats import model_lines, session_cost
from clew.protocol.ids import AgentId
from clew.protocol.state import SessionState
from clew.text.figures import count, money

MAX_AGENTS = 10
ABOUT = CommandHelp(
    name="cost",
    usage="/cost",
    summary="What this session cost: by model, side queries, and the next request.",
    aliases=("usage",),
)


def cost_lines(facts: SessionFacts) -> Iterator[str]:
    """The sum first."""
    tally, meter = facts.state.spent, facts.state.meter
    yield f"Cost: {session_cost(tally)}"
    yield from model_lines(tally.models)
    if tally.side:
        spent, unpriced = sum(use.cost_usd for use in tally.side), sum(use.unpriced for use in tally.side)
        gap = f" + {count(unpriced, 'call')} without a price" if unpriced else ""
        calls = count(sum(use.requests for use in tally.side), "call")
        yield f"Side queries: {calls}, {money(spent)}{gap}"
    yield from agent_lines(facts.state)
    if meter is not None and meter.next_cost_usd is not None:
        yield f"Reading the window again with the next request: about {money(meter.next_cost_usd)}"


def agent_lines(state: SessionState) -> Iterator[str]:
    """The agents that cost something, dearest first; one at work counts what it has used so far."""
    costs: list[tuple[float, int, str]] = []
    for row in state.all_tasks:
        if row.kind != "agent":
            continue
        own = state.agents.get(AgentId(row.task_id))
        used = own.tally + own.children if own is not None else None
        usd, tokens = (used.cost_usd, used.tokens) if used is not None else (row.cost_usd, row.tokens)
        named = f'{row.name or row.agent_kind or "agent"} "{" ".join(row.title.split())}"'
        costs.append((usd, tokens, f"{named}: {money(usd)}, {tokens:,} tokens, {row.standing}"))
    if costs:
        yield f"Agents: {count(len(costs), 'agent')}, in the sum above"
    for _, _, line in sorted(costs, reverse=True)[:MAX_AGENTS]:
        yield f"  {line}"
    if len(costs) > MAX_AGENTS:
        yield f"  and {len(costs) - MAX_AGENTS} more"


def run(context: CommandContext, argument: str) -> CommandResult:
    """Print it; nothing is asked of anyone."""
    if argument.strip():
        return usage_error(ABOUT, "/cost takes no argument.")
    return CommandResult(lines=tuple(cost_lines(context.facts)))


COMMAND = Command(help=ABOUT, run=run)
