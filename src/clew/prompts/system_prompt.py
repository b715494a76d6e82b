"""The system prompt: stable words first, volatile facts last, so that the prefix stays in the provider's cache."""

from pathlib import Path

from clew.prompts.facts import Facts
from clew.prompts.memory import Memory
from clew.system.environment import Shell

ENVIRONMENT = "# Environment (when the session began)"


def prompt_text(name: str) -> str:
    """The words of `<name>.md` beside this module."""
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()


def build_system_prompt(
    facts: Facts,
    memory: Memory,
    *,
    more: tuple[str, ...] = (),
    override: str | None = None,
    append: str | None = None,
    headless: bool = False,
    small: bool = False,
) -> tuple[str, ...]:
    """The blocks of the system prompt, most stable first: our words, memory files, what the user brought, environment.

    `override` (`--system-prompt`) stands in place of our words; memory and environment stay. An empty one leaves the
    environment out too: nothing of ours is said. `append` (`--append-system-prompt`) follows our words or the override.
    `small`: our words are the short ones, for a model with a small window.
    """
    words = [override] if override is not None else [prompt_text("system_small" if small else "system")]
    if headless and override is None:
        words.append(prompt_text("headless"))
    if append:
        words.append(append)
    environment = "" if override is not None and not override.strip() else environment_block(facts)
    blocks = ["\n\n".join(word for word in words if word.strip()), memory.text, *more, environment]
    return tuple(block for block in blocks if block)


def environment_block(facts: Facts) -> str:
    """What changes from session to session."""
    lines = [
        ("Working directory", facts.cwd),
        ("Project root", facts.project_root if facts.project_root != facts.cwd else ""),
        ("Git", facts.git),
        ("Platform", facts.platform),
        ("Shell", _shell_words(facts.shell)),
        ("Date", facts.date),
    ]
    known = [f"{name}: {_one_line(value)}" for name, value in lines if value]
    return "\n".join([ENVIRONMENT, *known])


def is_environment(block: str) -> bool:
    """Whether this block tells of the place as it was when a session began."""
    return block.startswith(ENVIRONMENT)


def _shell_words(shell: Shell | None) -> str:
    if shell is None:
        return "no bash found; the Bash tool will fail"
    return f"bash {shell.version} ({shell.path}), started with --noprofile --norc".replace("  ", " ")


def _one_line(value: str) -> str:
    """Directory and branch names are not ours: a line break in one must not start a line of its own."""
    return "".join(letter if letter.isprintable() else "?" for letter in value)[:1000]
