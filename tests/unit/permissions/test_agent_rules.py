"""Rules that name kinds of agents and their models: what they cover, in every mode."""

import pytest

from clew.permissions.access import AgentAccess, Decision, Mode, Verdict, exact_text
from clew.permissions.policy import judge, judge_call, make_policy
from clew.permissions.rules import RuleError, parse_rule
from unit.permissions.world import World

OPUS = "anthropic/claude-opus-4-5"
MODES: tuple[Mode, ...] = ("default", "plan", "acceptEdits", "bypassPermissions")


def verdict(world: World, kind: str, model: str = OPUS, mode: Mode = "default", **rules: str) -> Verdict:
    effects: tuple[Decision, ...] = ("deny", "ask", "allow")
    policy = make_policy(
        root=str(world.workspace),
        home=str(world.home),
        clew_home=str(world.clew_home),
        mode=mode,
        rules=tuple(parse_rule(rules[effect], effect) for effect in effects if effect in rules),
    )
    return judge(AgentAccess(kind=kind, model=model), policy)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_is_allowed_unless_a_rule_says_otherwise(world: World, mode: Mode) -> None:
    assert verdict(world, "Explore", mode=mode).decision == "allow"
    denied = verdict(world, "Explore", mode=mode, deny="Agent(Explore)", allow="Agent")
    assert (denied.decision, denied.rule) == ("deny", "Agent(Explore)")
    assert verdict(world, "Plan", mode=mode, deny="Agent(Explore)").decision == "allow"
    asked = verdict(world, "worker", mode=mode, ask="Agent(work*)", allow="Agent(worker)")
    assert (asked.decision, asked.rule) == ("ask", "Agent(work*)")


@pytest.mark.parametrize("text", ["Agent", "Agent(*)", "Task", "Task(Explore)", "Agent(explore)", "*"])
def test_names_that_mean_this_agent(world: World, text: str) -> None:
    denied = verdict(world, "Explore", deny=text)
    assert (denied.decision, denied.rule) == ("deny", text)


@pytest.mark.parametrize(
    ("pattern", "model", "covered"),
    [
        ("opus", OPUS, True),
        ("Opus", OPUS, True),
        ("claude-opus-4-5", OPUS, True),
        ("anthropic/claude-opus-4-5", OPUS, True),
        ("claude-opus-*", OPUS, True),
        ("anthropic/*", OPUS, True),
        ("sonnet", OPUS, False),
        ("pus", OPUS, False),
        ("openai/*", OPUS, False),
        ("opus", "bedrock/anthropic/claude-opus-4-5", True),
        ("opus", "", False),
        ("*", "", False),
        ("*", "ollama/qwen3", True),
    ],
)
def test_a_model_is_named_by_its_family_or_in_full(world: World, pattern: str, model: str, covered: bool) -> None:
    found = verdict(world, "worker", model, deny=f"Agent(model:{pattern})")
    assert found.decision == ("deny" if covered else "allow")


def test_a_deny_by_model_beats_an_allowed_kind(world: World) -> None:
    found = verdict(world, "Explore", deny="Agent(model:opus)", allow="Agent(Explore)")
    assert (found.decision, found.rule) == ("deny", "Agent(model:opus)")


@pytest.mark.parametrize(
    "text", ["Agent(Explore, model:opus)", "Agent(Explore model:opus)", "Agent(model:)", "Agent()", "Task(a, b)"]
)
def test_a_rule_that_names_two_things_is_refused(text: str) -> None:
    with pytest.raises(RuleError, match=r"permission rule"):
        parse_rule(text, "deny")


def test_a_person_reads_kind_and_model(world: World) -> None:
    access = AgentAccess(kind="Explore", model=OPUS)
    assert exact_text((access,), "Agent") == f"Explore ({OPUS})"
    policy = make_policy(root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home))
    assert judge_call((access,), policy).decision == "allow"
