"""A main agent that coordinates: its spec with the directory that its workers share, and the change in a session."""

from collections.abc import Sequence

from msgspec.structs import replace

from clew.agents.factory import scratch_words
from clew.agents.runner import COORDINATOR, MAIN, AgentSpec
from clew.agents.toolbox import AgentTools
from clew.host.part import OpRefused, Part, PartSetup
from clew.host.past import Past
from clew.host.prompt_bytes import main_prompt, system_prompt
from clew.prompts.memory import Memory
from clew.prompts.system_prompt import Facts
from clew.transcript.chain.conversation import Conversation


def with_scratch(main: AgentSpec, past: Past) -> AgentSpec:
    """The spec of a coordinator, which tells of the directory that its workers share."""
    return main if past.path is None else replace(main, more_system=(*main.more_system, scratch_words(past.path)))


def recast(
    setup: PartSetup,
    conversation: Conversation,
    memory: Memory,
    toolbox: AgentTools,
    facts: Facts,
    parts: Sequence[Part],
    *,
    small: bool,
    on: bool,
) -> tuple[str, ...]:
    """The main agent coordinates from now on, or no more: its tools change here, its new words are given back. Raises
    OpRefused where it runs as another agent, and then nothing changed."""
    if setup.main.kind not in (MAIN.kind, COORDINATOR):
        raise OpRefused(f"the conversation runs as the agent {setup.main.kind}, which cannot coordinate")
    try:
        spec = with_scratch(setup.kinds().find(COORDINATOR), setup.past) if on else MAIN
    except ValueError as error:
        raise OpRefused(str(error)) from error
    main = main_prompt(setup.request, spec)
    if on:
        toolbox.tools.delegate(main.has)
    else:
        toolbox.tools.take_all()
    return system_prompt(main, setup.request, conversation, memory, toolbox, facts, parts, small=small).blocks
