"""The budget of a session holds for all its agents in sum, whatever their order."""

import asyncio
from pathlib import Path

from clew.agents.budget import TreeBudget
from clew.agents.runner import AgentSpec
from clew.engine.ports import Limits
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, ScriptItem, Wait
from clew.protocol.events import AgentEnded, AgentStarted, AttemptEnded, TurnEnded
from clew.protocol.ids import MAIN_AGENT, AgentId, MessageId
from clew.protocol.ops import SubmitPrompt
from clew.protocol.state import AgentState, agent_after
from clew.protocol.usage import Usage
from unit.agents.house import house

CHILD = AgentId("child")
REQUEST_USD = 0.11
"""What one scripted request costs at a tenth of a cent for a token."""


class Books:
    """The states of two agents."""

    def __init__(self) -> None:
        self.states = {MAIN_AGENT: AgentState(), CHILD: AgentState()}
        self.budget = TreeBudget()
        for agent in self.states:
            self.budget.join(agent, lambda agent=agent: self.states[agent])

    def book(self, agent: AgentId, usd: float, tokens: int = 100) -> None:
        event = AttemptEnded(
            reply_id=MessageId("m"),
            step=1,
            model="m",
            outcome="completed",
            usage=Usage(input_tokens=tokens),
            cost_usd=usd,
        )
        self.states[agent] = agent_after(event, self.states[agent])
        self.budget.settle(agent)


def test_what_an_agent_reserves_counts_for_the_others_until_it_is_booked() -> None:
    books = Books()
    books.budget.reserve(MAIN_AGENT)
    assert books.budget.reserved_besides(CHILD).cost_usd == 0, "nothing is known of a first request"
    books.book(MAIN_AGENT, 0.4)
    books.budget.reserve(MAIN_AGENT)
    assert books.budget.reserved_besides(CHILD).cost_usd == 0.4
    assert books.budget.reserved_besides(CHILD).tokens == 100
    assert books.budget.reserved_besides(MAIN_AGENT).cost_usd == 0
    books.budget.reserve(CHILD)
    assert books.budget.reserved_besides(MAIN_AGENT).cost_usd == 0.4, "its first request is taken for a dear one"
    books.book(CHILD, 0.1)
    books.book(MAIN_AGENT, 0.2)
    assert books.budget.reserved_besides(CHILD).cost_usd == 0
    assert round(books.budget.spent().cost_usd, 6) == 0.7
    books.budget.reserve(MAIN_AGENT)
    assert round(books.budget.reserved_besides(CHILD).cost_usd, 6) == 0.2


def test_a_turn_that_books_nothing_holds_nothing_back() -> None:
    books = Books()
    books.book(MAIN_AGENT, 0.4)
    books.budget.reserve(MAIN_AGENT)
    books.budget.settle(MAIN_AGENT)
    assert books.budget.reserved_besides(CHILD).cost_usd == 0
    books.budget.leave(CHILD)
    books.budget.settle(CHILD)
    assert round(books.budget.spent().cost_usd, 6) == 0.4


def test_time_of_agents_side_by_side_is_not_added_up() -> None:
    books = Books()
    for agent, took_ms in ((MAIN_AGENT, 5_000), (CHILD, 3_000)):
        ended = TurnEnded(turn=1, reason="completed", steps=1, duration_ms=took_ms)
        books.states[agent] = agent_after(ended, books.states[agent])
    assert books.budget.spent().work_ms == 5_000


def many(*, ends: int) -> list[ScriptItem]:
    return [*(Call("Bash", {"command": "true"}) for _ in range(ends)), Say("done")]


def beside(wait: Wait) -> ReplyOf:
    """One of many replies, that waits first."""
    return ReplyOf([wait, Call("Bash", {"command": "true"})])


async def test_two_agents_together_exceed_what_neither_exceeds_alone(tmp_path: Path) -> None:
    """Six requests of each would be $0.66, the budget is $0.80: both end by it, over by no more than a request each."""
    helper = AgentSpec(kind="helper", model="helper")
    begin = Call("StartAgent", {"prompt": "work", "kind": "helper", "wait": False})
    at_once, main_came, helper_came = asyncio.Event(), asyncio.Event(), asyncio.Event()
    at_once.set()
    main, other = many(ends=5), many(ends=5)
    # Neither runs away from the other, however they are scheduled: each waits once until the other has come so far.
    main[1:3] = [beside(Wait(at_once, main_came)), beside(Wait(helper_came))]
    other[0:2] = [beside(Wait(main_came)), beside(Wait(at_once, helper_came))]
    scripts = {
        "main": ScriptedModel([begin, *main], usd_per_token=0.001),
        "helper": ScriptedModel(other, usd_per_token=0.001),
    }
    budget = 0.8
    async with house(tmp_path, models=scripts, kinds=(helper,), limits=Limits(max_budget_usd=budget)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        ended: AgentEnded = await place.front.until(AgentEnded)
        turn: TurnEnded = await place.front.until(TurnEnded)
        assert (ended.reason, turn.reason) == ("max_budget", "max_budget")
        spent = place.session.journal.state.spent.cost_usd
        assert budget - 2 * REQUEST_USD <= spent <= budget + 2 * REQUEST_USD
        assert scripts["main"].remaining
        assert scripts["helper"].remaining
        own = place.session.journal.main.state.tally.cost_usd
        assert max(own, spent - own) < budget


async def test_a_request_under_way_counts_before_it_is_booked(tmp_path: Path) -> None:
    """The parent's request is booked when the child that it started has ended; the child is held to it all the same."""
    hold, reached = asyncio.Event(), asyncio.Event()
    helper = AgentSpec(kind="helper", model="helper")
    begin = Call("StartAgent", {"prompt": "work", "kind": "helper"})
    scripts = {
        "main": ScriptedModel([Call("Bash", {"command": "true"}), begin, Say("never")], usd_per_token=0.001),
        "helper": ScriptedModel(
            [ReplyOf([Wait(hold, reached), Call("Bash", {"command": "true"})]), Say("never")], usd_per_token=0.001
        ),
    }
    async with house(tmp_path, models=scripts, kinds=(helper,), limits=Limits(max_budget_usd=0.3)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        hold.set()
        ended: AgentEnded = await place.front.until(AgentEnded)
        assert ended.reason == "max_budget"
        child = place.front.of(AgentStarted)[0].child
        words = place.front.of(TurnEnded, agent=child)[0].error
        assert words == "spent $0.2200 and requests under way may cost $0.1100, the budget is $0.3000"
        assert (await place.front.until(TurnEnded)).reason == "max_budget"


async def test_the_main_agent_alone_reads_the_same_words_as_ever(tmp_path: Path) -> None:
    scripts = {"main": ScriptedModel(many(ends=5), usd_per_token=0.001)}
    async with house(tmp_path, models=scripts, limits=Limits(max_budget_usd=0.2)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        turn: TurnEnded = await place.front.until(TurnEnded)
        assert (turn.reason, turn.error) == ("max_budget", "spent $0.2200, the budget is $0.2000")
