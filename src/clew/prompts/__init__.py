"""Prompt texts and what is built from them."""

from clew.prompts.facts import Facts, FactsProbe
from clew.prompts.memory import Memory, load_memory, load_nested_memory
from clew.prompts.system_prompt import build_system_prompt

__all__ = ["Facts", "FactsProbe", "Memory", "build_system_prompt", "load_memory", "load_nested_memory"]
