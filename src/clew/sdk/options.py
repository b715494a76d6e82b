"""How a session is to be, and the functions of the program that it may call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.event_kinds.asks import Question

Json = dict[str, Any]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
PermissionMode = Literal["default", "plan", "acceptEdits", "bypassPermissions"]
Source = Literal["user", "project", "local"]


class ToolRequest(Struct, frozen=True, kw_only=True):
    """A call that would ask a person."""

    tool: str
    arguments: Json
    subject: str
    """The exact text that will take effect: command, path, URL."""
    why: str
    """Which rule, or lack of one, makes it ask."""
    call_id: str
    warnings: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """What `Allow(always=...)` would save, verbatim."""


class Allow(Struct, frozen=True, kw_only=True):
    """Let it run."""

    arguments: Json | None = None
    """With these instead. They are judged like any others: what a rule denies stays denied."""
    always: Literal["", "session", "project"] = ""
    """Save the rules that were offered: until this session ends, or for this project."""


class Deny(Struct, frozen=True, kw_only=True):
    """It does not run."""

    reason: str = ""
    """Told to the model."""
    stop: bool = False
    """End the turn as well."""


Decision = Allow | Deny
CanUseTool = Callable[[ToolRequest], Decision | Awaitable[Decision]]
Answers = Sequence[Sequence[str]] | None
"""One list of chosen labels or free words per question; None: no answer."""
AnswerQuestions = Callable[[tuple[Question, ...]], Answers | Awaitable[Answers]]


class Elicitation(Struct, frozen=True, kw_only=True):
    """What a server asks for: values that fit a flat JSON schema, or to go to an address."""

    server: str
    message: str
    schema: Json
    url: str = ""


FormValues = Mapping[str, Any] | None
"""The values; for an address an empty mapping says that somebody goes there. None: declined."""
AnswerElicitations = Callable[[Elicitation], FormValues | Awaitable[FormValues]]
HookOutput = Mapping[str, Any] | None
HookCallback = Callable[[Json, str | None], HookOutput | Awaitable[HookOutput]]
"""Gets what a hook command would read on stdin, and the id of the call if there is one; returns what such a command
would print (docs/hooks.md), or None."""


class Hook(Struct, frozen=True, kw_only=True):
    """A function that is asked at a moment of the session."""

    callback: HookCallback
    matcher: str = ""
    """For which tools, as in settings; empty: all."""
    timeout_s: float = 60.0
    blocks_on_failure: bool = False
    """Where a no is possible, a function that fails counts as one."""


class Options(Struct, frozen=True, kw_only=True):
    """Everything has a default: the settings of the place where the program runs. Nothing is printed, and nobody is
    asked but the functions given here; without one, what would ask is denied and listed in the result."""

    cwd: str | Path = "."
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """On top of the environment of this process."""
    model: str = ""
    """`provider/model`, a bare name, or a family such as `sonnet`."""
    fallback_model: str = ""
    effort: Effort | None = None
    thinking: Literal["", "adaptive", "enabled", "disabled"] = ""
    max_thinking_tokens: int | None = None
    system_prompt: str | None = None
    """In place of clew's own; empty: none."""
    append_system_prompt: str | None = None
    agent: str = ""
    """The kind of agent that the conversation runs as; empty: clew's own."""
    agents: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Kinds of agents for this session, by name: `description`, `prompt`, `tools`, `model`, ..."""
    settings: Json | str | Path | None = None
    """One more layer of settings: the values, or a file."""
    setting_sources: Sequence[Source] | None = None
    """Whose files are read; None: all, empty: nobody's."""
    tools: Sequence[str] | None = None
    """The only builtin tools there are; None: all."""
    allowed_tools: Sequence[str] = ()
    disallowed_tools: Sequence[str] = ()
    permission_mode: PermissionMode | None = None
    add_dirs: Sequence[str | Path] = ()
    trust: bool = False
    """Trust the directory from now on, as `clew --trust` does."""
    can_use_tool: CanUseTool | None = None
    answer_questions: AnswerQuestions | None = None
    answer_elicitation: AnswerElicitations | None = None
    """For what MCP servers ask; without it they are told no."""
    hooks: Mapping[str, Sequence[Hook]] = field(default_factory=dict[str, Sequence[Hook]])
    """By moment: PreToolUse, PostToolUse, UserPromptSubmit, Stop, ..."""
    max_turns: int | None = None
    """Model requests of one turn."""
    max_budget_usd: float | None = None
    json_schema: Json | None = None
    """The shape that the answer of each turn must have: `structured_output` in its result."""
    resume: str = ""
    """Go on with this session: an id, a title, words that were said, or a file."""
    continue_newest: bool = False
    """Go on with the newest session of this place."""
    resume_at: str = ""
    """With `resume`: cut after this entry."""
    fork: bool = False
    """With either: go on in a copy."""
    session_id: str = ""
    """For a new session."""
    persist: bool = True
    partial_messages: bool = False
    """Also yield lines that tell how replies grow."""
    hook_events: bool = False
    """Also yield lines that tell which hooks ran."""
    labels: bool = False
    """Also yield a line that sums up each batch of calls."""
