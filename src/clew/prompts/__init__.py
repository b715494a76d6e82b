"""Prompt texts and what is built from them."""

from clew.prompts.memory import Memory, load_memory, load_nested_memory
from clew.prompts.system_prompt import Facts, FactsProbe, build_system_prompt

__all__ = ["Facts", "FactsProbe", "Memory", "build_system_prompt", "load_memory", "load_nested_memory"]
