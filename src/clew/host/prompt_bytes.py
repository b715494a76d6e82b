"""What every request of a session begins with: the same bytes after a resume, or a word about why not."""

import hashlib
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from clew.agents.runner import MAIN, AgentSpec
from clew.agents.toolbox import AgentTools
from clew.config.errors import SettingsError
from clew.host.part import Part
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.prompts.memory import Memory
from clew.prompts.system_prompt import ENVIRONMENT, Facts, FactsProbe, build_system_prompt, is_environment
from clew.protocol.entries import Entry, SystemPromptEntry, UserEntry
from clew.protocol.meant_calls import STRUCTURED_OUTPUT, ToolSpec
from clew.protocol.messages import text_of
from clew.system.clock import SystemClock
from clew.tools.toolset import is_chosen
from clew.transcript.chain.conversation import Conversation

NOW_HEADLESS = "[From here on nobody is there to answer questions or allow calls.]"
OTHER_TOOLS = "the tools differ from those this session began with"
NOW_WATCHED = "[From here on a person is there who can answer questions and allow calls.]"


class MainPrompt(Struct, frozen=True, kw_only=True):
    """Whose words and tools the main agent has: one decision, so that neither goes without the other."""

    role: str | None = None
    """In place of clew's own words; None: clew's own."""
    override: str | None = None
    """The user's words, in place of both."""
    append: str = ""
    """What follows whatever counts."""
    tools: tuple[str, ...] | None = None
    """The tools of the role; None: all that there are."""
    without: tuple[str, ...] = ()

    def has(self, tool: str) -> bool:
        """Whether the role leaves the main agent this tool. The shape of an answer is asked for by the user."""
        return tool == STRUCTURED_OUTPUT or is_chosen(tool, self.tools, self.without)

    @property
    def has_servers(self) -> bool:
        """Whether it leaves any tool of an MCP server."""
        return self.tools is None or any(name.startswith("mcp__") for name in self.tools)


def main_prompt(request: SessionRequest, agent: AgentSpec, coordinator: AgentSpec | None = None) -> MainPrompt:
    """The words and tools of the main agent. The user's own prompt beats a coordinator's, that beats an agent's, that
    beats clew's; what is appended follows. Raises SettingsError for an agent that should coordinate besides."""
    if coordinator is not None and agent.kind != MAIN.kind:
        raise SettingsError(
            f"the conversation runs as the agent {agent.kind}, which cannot coordinate: leave --agent out, or "
            "coordinate in another session"
        )
    role = coordinator or agent
    return MainPrompt(
        role="\n\n".join(role.system) if role.system is not None else None,
        override=request.system_prompt,
        append="\n\n".join(words for words in (*role.more_system, request.append_system_prompt) if words),
        tools=role.tools,
        without=role.without,
    )


class PromptBytes(Struct, frozen=True, kw_only=True):
    """The system prompt to send."""

    blocks: tuple[str, ...]
    tools: str
    """Digest of the tools' specs."""
    keep: bool = True
    """It is not what the log has: write it there."""
    note: str = ""
    """For a person: why the first request will not be found in the provider's cache."""
    reminder: str = ""
    """For the model: what the old words no longer say right."""


def prompt_bytes(
    stored: SystemPromptEntry | None,
    build: Callable[[bool], tuple[str, ...]],
    specs: tuple[ToolSpec, ...],
    *,
    headless: bool,
    small: bool = False,
    told: bool | None = None,
) -> PromptBytes:
    """`build` makes the prompt of today, for a run without or with a person. What is stored is sent again when it
    differs from that only in the facts about the place, which the session's first request froze. `small`: for a small
    window; a session that began with a window of the other kind goes on with what fits the one it has.
    `told`: what the conversation said last of whether nobody is there (`told_headless`); None: nothing."""
    tools = digest_of(specs)
    today = build(headless)
    if stored is None:
        return PromptBytes(blocks=today, tools=tools)
    note = "" if stored.tools == tools else OTHER_TOOLS
    if lasting(stored.blocks) == lasting(today):
        reminder = "" if told in (None, headless) else _now(headless=headless)
        return PromptBytes(blocks=stored.blocks, tools=tools, keep=bool(note), note=note, reminder=reminder)
    if lasting(stored.blocks) == lasting(build(not headless)):
        reminder = "" if told == headless else _now(headless=headless)
        return PromptBytes(blocks=stored.blocks, tools=tools, keep=bool(note), note=note, reminder=reminder)
    if stored.small != small:
        note = f"the model's window is {'small' if small else 'large'} now: the session goes on with a prompt that fits"
        return PromptBytes(blocks=today, tools=tools, note=note)
    what = "instructions" if stored.blocks[:1] != today[:1] else "memory files"
    note = f"the {what} changed since this session began; it goes on with the new ones"
    return PromptBytes(blocks=today, tools=tools, note=note)


def digest_of(specs: tuple[ToolSpec, ...]) -> str:
    """What tells one list of tools from another."""
    return hashlib.blake2b(msgspec.json.encode(specs), digest_size=8).hexdigest()


def _now(*, headless: bool) -> str:
    return NOW_HEADLESS if headless else NOW_WATCHED


def told_headless(chain: Sequence[Entry]) -> bool | None:
    """What the conversation said last of whether nobody is there; None: nothing. It is said once, not in each run."""
    for entry in reversed(chain):
        words = text_of(entry.message.content) if isinstance(entry, UserEntry) and entry.is_meta else ""
        if NOW_HEADLESS in words or NOW_WATCHED in words:
            return words.rfind(NOW_HEADLESS) > words.rfind(NOW_WATCHED)
    return None


def lasting(blocks: tuple[str, ...]) -> tuple[str, ...]:
    """What must be the same for a session to go on with its first bytes: all but the facts about the place."""
    if blocks and is_environment(blocks[-1]):
        return (*blocks[:-1], ENVIRONMENT)
    return blocks


def stored_block(entries: Sequence[Entry], heading: str) -> str:
    """The block under this heading that a session's requests began with; empty where there was none."""
    began = next((entry for entry in reversed(entries) if isinstance(entry, SystemPromptEntry)), None)
    blocks = began.blocks if began is not None else ()
    return next((block for block in blocks if block.startswith(f"{heading}\n")), "")


def system_prompt(
    main: MainPrompt,
    request: SessionRequest,
    conversation: Conversation,
    memory: Memory,
    toolbox: AgentTools,
    facts: Facts,
    parts: Sequence[Part],
    *,
    small: bool,
) -> PromptBytes:
    """The bytes this session began with, or new ones."""

    def build(headless: bool) -> tuple[str, ...]:
        return build_system_prompt(
            facts,
            memory,
            more=tuple(part.words for part in parts if not small),
            role=main.role,
            override=main.override,
            append=main.append,
            headless=headless,
            small=small,
        )

    nobody = request.headless and not request.answered
    specs, told = toolbox.tools.specs, told_headless(conversation.chain())
    return prompt_bytes(conversation.system_prompt, build, specs, headless=nobody, small=small, told=told)


def facts_probe(workspace: Workspace) -> FactsProbe:
    """Starts to look at the place; git works while the rest is put together."""
    return FactsProbe(
        cwd=workspace.cwd,
        project_root=workspace.root,
        trusted=workspace.trusted,
        env=workspace.env,
        clock=SystemClock(),
    )
