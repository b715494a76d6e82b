"""What can be set: every section as a frozen Struct. JSON uses camelCase; defaults are the documented ones."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import force_setattr

Effort = Literal["low", "medium", "high", "xhigh", "max"]
PermissionMode = Literal["default", "plan", "acceptEdits", "bypassPermissions"]
Dialect = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Switch = Literal["off", "on"]
Density = Literal["labels", "calls", "full"]
TerminalNotice = Literal["auto", "bell", "off"]

Positive = Annotated[int, Meta(ge=1)]
Money = Annotated[float, Meta(ge=0, lt=1e9)]
Text = Annotated[str, Meta(min_length=1)]
ToolSearchMode = Annotated[
    str, Meta(pattern=r"^(on|off|auto|auto:(100|[1-9]?[0-9]))$", extra={"words": ("on", "off", "auto", "auto:N")})
]
Argv = Annotated[tuple[Text, ...], Meta(extra={"whole": True})]
"""A program and its arguments. A later layer replaces it: lists of this kind do not add up."""


AWAY_MINUTES = 5.0


class Section(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A JSON object of the settings file. Unknown keys are errors."""


class Permissions(Section, frozen=True, kw_only=True):
    """Rules by tool, `Tool` or `Tool(specifier)`. Deny beats ask beats allow; lists of all layers add up."""

    allow: tuple[Text, ...] = ()
    ask: tuple[Text, ...] = ()
    deny: tuple[Text, ...] = ()
    additional_directories: tuple[Text, ...] = ()
    """Directories outside the project that tools may use like the project."""


class ModelFacts(Section, frozen=True, kw_only=True):
    """What is known about a model. Unset values come from the built-in profile, if there is one."""

    window: Positive | None = None
    """Context window in tokens."""
    max_output_tokens: Positive | None = None
    images: bool | None = None
    thinking: bool | None = None
    input_usd_per_mtok: Money | None = None
    output_usd_per_mtok: Money | None = None
    cache_read_usd_per_mtok: Money | None = None
    cache_write_usd_per_mtok: Money | None = None
    cache: Literal["off", "5m", "1h"] | None = None
    """How long prompt-cache entries live that clew marks itself; null: five minutes, where the model is known to take
    marks."""


class ProviderAuth(Section, frozen=True, kw_only=True):
    """A program of the user's that prints a key, for keys that live shortly."""

    command: Argv = ()
    """Run as it stands, without a shell."""
    send_as: Literal["bearer", "x-api-key", "api-key", "x-goog-api-key"] | None = None
    """The header that carries the key; null: as the provider usually wants it."""
    lifetime_s: Annotated[float, Meta(gt=0, lt=1e9)] | None = None
    """How long a key is good; null: as the command says, else until the provider refuses it."""
    timeout_s: Annotated[float, Meta(gt=0, lt=1e4)] = 30.0
    """How long the command may take."""


class Provider(Section, frozen=True, kw_only=True):
    """A model server: a new name, or changes to a built-in one (then only what differs need be given)."""

    base_url: str = ""
    dialect: Dialect | None = None
    key_env: str = ""
    """Name of the environment variable that holds the key; empty: the built-in one, or no key."""
    auth: ProviderAuth = field(default_factory=ProviderAuth)
    project: str = ""
    """Vertex AI: the Google Cloud project."""
    location: str = ""
    """Vertex AI: the location; Bedrock: the region."""
    api_version: str = ""
    """Azure OpenAI: the dated version; empty: the v1 API, which has none."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    models: dict[str, ModelFacts] = field(default_factory=dict[str, ModelFacts])


class SandboxSettings(Section, frozen=True, kw_only=True):
    """How shell commands are confined."""

    mode: Literal["auto", "off", "required"] = "auto"
    """auto: use it when it works, else ask; required: no shell command without it."""
    network: bool = False
    """May confined commands use the network?"""
    writable_paths: tuple[Text, ...] = ()
    max_memory_mb: Annotated[int, Meta(ge=0, lt=10**9)] = 0
    """For each process of a command; 0: three quarters of the machine's memory."""
    max_processes: Annotated[int, Meta(ge=16, lt=10**7)] = 4_000
    """Of one command, where the system counts them for it alone."""


class RecapSettings(Section, frozen=True, kw_only=True):
    """ "Where was I": from facts, in a model's words where the user wants that."""

    enabled: bool = True
    away_minutes: Annotated[float, Meta(ge=0, lt=1e6)] = AWAY_MINUTES
    """Who types again after so long is told where things stand; 0: the default. `enabled` is the switch."""
    model: Literal["auto", "on", "off"] = "auto"
    """auto: the fast model writes automatic recaps, a local one only what is asked for; on: a local one too."""
    share_with_model: bool = False
    """Offer the recap to the main model as context."""

    def __post_init__(self) -> None:
        if not self.away_minutes:
            force_setattr(self, "away_minutes", AWAY_MINUTES)


class Summaries(Section, frozen=True, kw_only=True):
    """Labels of tool batches."""

    tool_batches: Literal["facts", "model", "off"] = "facts"


class Titles(Section, frozen=True, kw_only=True):
    """Titles of sessions."""

    model: Switch = "off"


class SideQuerySettings(Section, frozen=True, kw_only=True):
    """Model calls that are not the conversation. `enabled: false` turns all of them off."""

    enabled: bool = True
    daily_cap_usd: Money = 0.5
    timeout_s: Annotated[float, Meta(gt=0, lt=1e9)] | None = None
    """None: as long as the provider of the fast model usually takes."""


class Compaction(Section, frozen=True, kw_only=True):
    """Making room when the window fills up."""

    auto: bool = True
    """false: only when asked; a full window then stops the turn before anything is sent."""
    auto_threshold: Annotated[float, Meta(ge=0.01, le=1)] = 0.85
    """The share of the window at which it comes; the room that a reply needs caps it."""
    keep_recent: Positive = 5
    """How many old tool outputs, and how many media of each kind, clearing leaves in the view."""
    idle_minutes: Annotated[float, Meta(gt=0, lt=1e9)] | None = 60
    """Clear old outputs after so long a pause; null: never."""
    tool_output_chars: Positive | None = 500_000
    """Clear the oldest outputs when all of them together are longer; null: never."""
    snapshot: bool = True
    """Let the fast model write sections ahead of need."""
    cold_return: bool = True
    """Say what the first request after a long pause will cost."""


class LimitSettings(Section, frozen=True, kw_only=True):
    """Budgets that bite. null: no limit of that kind."""

    max_turns: Positive | None = None
    """Model requests of one `clew -p` run, as `--max-turns`."""
    max_steps: Positive | None = None
    """Model requests of one turn, in every mode."""
    max_budget_usd: Money | None = None
    """Money of one session, resumes included; as are the next two."""
    max_tokens: Positive | None = None
    max_minutes: Annotated[float, Meta(gt=0, lt=1e9)] | None = None
    """Time the agent works, without waiting for people."""

    def step_limit(self, *, headless: bool) -> int | None:
        """The smallest limit that holds for one turn; a `clew -p` run is one turn."""
        limits = (self.max_steps, self.max_turns if headless else None)
        return min((limit for limit in limits if limit is not None), default=None)


class Foreign(Section, frozen=True, kw_only=True):
    """Sessions of other agents, read-only."""

    enabled: bool = True
    homes: dict[str, Text] = field(default_factory=dict[str, Text])
    """Where an agent keeps its sessions, by agent name, when not in the usual place."""


class MemoryFiles(Section, frozen=True, kw_only=True):
    """AGENTS.md, CLAUDE.md and CLEW.md."""

    enabled: bool = True
    auto: Literal["off", "suggest"] = "off"
    """suggest: the model may propose a line; it is shown and asked about in every permission mode."""


class LanguageServer(Section, frozen=True, kw_only=True):
    """A language server of the user's own, or a change to a known one."""

    command: tuple[Text, ...] = ()
    """The program on your PATH, and its arguments; empty: as it is known."""
    languages: dict[str, Text] = field(default_factory=dict[str, Text])
    """The protocol's id of a language by the end of a file's name: `{".zig": "zig"}`."""
    root_markers: tuple[Text, ...] = ()
    enabled: bool = True


class LanguageServers(Section, frozen=True, kw_only=True):
    """Diagnostics after an edit, from language servers that you have."""

    mode: Literal["auto", "on", "off"] = "auto"
    """auto: where a person is there; on: in `clew -p` too."""
    servers: dict[str, LanguageServer] = field(default_factory=dict[str, LanguageServer])


class AgentSettings(Section, frozen=True, kw_only=True):
    """Child agents: which kinds there are, how many work at once, and how they report."""

    builtin: bool = True
    """false: only the kinds that you define, for programs that bring their own."""
    max_depth: Annotated[int, Meta(ge=0, le=16)] = 3
    """How deep children may have children; 0: the main agent has none."""
    max_concurrent: Annotated[int, Meta(ge=1, le=1_000)] = 6
    """Agents at work at once over the whole session; the rest wait their turn."""
    auto_background_s: Annotated[float, Meta(ge=0, lt=1e6)] = 0.0
    """A child in the foreground that works longer goes on in the background; 0: never."""
    wake_parent: bool = True
    """A child in the background that ends begins a turn of an idle conversation."""
    result_bytes: Annotated[int, Meta(ge=256, le=1_000_000)] = 8_192
    """How much of a child's last message its parent reads; TaskOutput reads the rest."""


class TeamSettings(Section, frozen=True, kw_only=True):
    """Teams: agents that work side by side and write to each other."""

    enabled: bool = True
    """false: the tools of teams answer with a hint."""
    backend: Literal["in-process", "tmux", "auto"] = "in-process"
    """Where members run: in the lead's process, each in a tmux pane of its own, or in panes where clew runs in tmux."""
    lead_approves_plans: bool = False
    """true: the lead's model may accept plans of members that were started in plan mode; they get the mode default."""


class PlanSettings(Section, frozen=True, kw_only=True):
    """Plan mode."""

    check: Literal["off", "auto"] = "off"
    """auto: when the work on an accepted plan ends, the model holds it against the plan once."""


class ScreenSettings(Section, frozen=True, kw_only=True):
    """How the full screen looks and behaves."""

    theme: Literal["clew-dark", "clew-light", "clew-high-contrast", "terminal"] = "clew-dark"
    density: Density = "labels"
    """How closely tool calls are shown: a label for each batch, its calls, or everything they printed."""
    tools: dict[str, Density] = field(default_factory=lambda: dict[str, Density](Edit="calls", MultiEdit="calls"))
    """Tools that are shown more or less closely than the rest."""
    reasoning: bool = False
    """Show what the model thinks, instead of folding it."""
    reduced_motion: bool = False
    """Nothing moves but words and figures."""
    mouse: bool = True
    """false leaves the mouse to the terminal altogether."""
    mouse_wheel: bool = True
    """The wheel scrolls."""
    mouse_click: bool = True
    """A click opens and closes."""
    mouse_select: bool = True
    """A drag, a double or a triple click selects and copies."""
    mouse_right: bool = True
    """The right button extends a selection to there, or copies what it is over."""
    vim: bool = False
    """Edit the prompt with vim's keys."""


class Notifications(Section, frozen=True, kw_only=True):
    """Who is told that a turn ended or that something waits for an answer, while nobody looks."""

    terminal: TerminalNotice = "auto"
    """auto: the terminal's own notifications and the bell."""
    webhook: str = ""
    """Where a small JSON document is sent; https, or http on this machine."""
    min_turn_s: Annotated[float, Meta(ge=0, lt=1e6)] = 3.0
    """The end of a turn that was shorter is no news."""
    unanswered_s: Annotated[float, Meta(gt=0, lt=1e6)] = 30.0
    """A question that waits so long is told although somebody seems to look."""


class Headless(Section, frozen=True, kw_only=True):
    """A session that a program drives."""

    approval_timeout_s: Annotated[float, Meta(gt=0, lt=1e9)] | None = 300.0
    """How long a program may take to answer for a person before it counts as a no; null: for ever."""


class ToolEnvironment(Section, frozen=True, kw_only=True):
    """The environment variables that commands see."""

    keep: tuple[Text, ...] = ()
    """More variables to pass than those known to be harmless; a final `*` stands for the rest of a name. Keys of model
    providers never pass."""


class HookHandler(Section, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=False):
    """One command. Keys that only other agents know may stand here too, so that what was written for them can be taken
    over as it is; `clew hooks list` names those without effect."""

    type: str
    command: str = ""
    args: tuple[str, ...] | None = None
    timeout: float | None = None
    """Seconds."""
    shell: str | None = None


class HookGroup(Section, frozen=True, kw_only=True, omit_defaults=True):
    """Commands for some tools, or for a moment."""

    matcher: str = ""
    hooks: tuple[HookHandler, ...]
    description: str = ""


class StatusLineSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The line of the user's own below the prompt. Keys that only other agents know may stand here too."""

    command: str = ""
    """A shell command that gets JSON on stdin and prints the line; empty: there is no such line."""
    padding: Annotated[int, Meta(ge=0, le=20)] = 0


class Settings(Section, frozen=True, kw_only=True):
    """All settings in force."""

    model: str = ""
    """`provider/model`; empty: the first provider that has a key."""
    fallback_model: str = ""
    fast_model: str = ""
    """Model for side queries; `none`: never one; empty: the provider's own small model."""
    effort: Effort | None = None
    max_output_tokens: Positive | None = None
    permission_mode: PermissionMode = "default"
    permissions: Permissions = field(default_factory=Permissions)
    providers: dict[str, Provider] = field(default_factory=dict[str, Provider])
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    recap: RecapSettings = field(default_factory=RecapSettings)
    summaries: Summaries = field(default_factory=Summaries)
    titles: Titles = field(default_factory=Titles)
    side_queries: SideQuerySettings = field(default_factory=SideQuerySettings)
    compaction: Compaction = field(default_factory=Compaction)
    limits: LimitSettings = field(default_factory=LimitSettings)
    foreign: Foreign = field(default_factory=Foreign)
    memory: MemoryFiles = field(default_factory=MemoryFiles)
    lsp: LanguageServers = field(default_factory=LanguageServers)
    agents: AgentSettings = field(default_factory=AgentSettings)
    teams: TeamSettings = field(default_factory=TeamSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    notifications: Notifications = field(default_factory=Notifications)
    headless: Headless = field(default_factory=Headless)
    tool_environment: ToolEnvironment = field(default_factory=ToolEnvironment)
    tool_search: ToolSearchMode = "on"
    """on: tools of MCP servers are searched for; off: they are told in full; auto: in full as long as they take no more
    than 10 % of the window, auto:N for another share."""
    output_style: str = ""
    """How the model words what it tells: `Explanatory`, `Learning`, or a file of your own; empty: as it is."""
    hooks: dict[str, tuple[HookGroup, ...]] = field(default_factory=dict[str, tuple[HookGroup, ...]])
    """Commands that run at set moments, by moment. Only the user's own: a project's are approved one by one."""
    status_line: StatusLineSettings = field(default_factory=StatusLineSettings)
    debug_log: bool = True
    """Keep a log of what side queries and MCP servers say, for who looks for a fault."""
    disable_all_hooks: bool = False
    """No hook runs, wherever it is written."""
