"""The system prompt of a child agent: its own words with what it shares with its parent."""

from clew.agents.runner import AgentSpec


def child_prompt(spec: AgentSpec, above: tuple[str, ...]) -> tuple[str, ...]:
    """The blocks of a child's system prompt. `above`: its parent's, whose first block is its words and whose others
    are the memory files, what parts say and the environment. Words of its own stand in place of the first one."""
    blocks = above if spec.system is None else (*spec.system, *above[1:])
    return (*blocks, *spec.more_system)
