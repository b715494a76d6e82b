"""What each control request of a program does: an op, and the event that answers it.

What fills the window, in the shape that programs read.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar, get_args

import msgspec

from clew.commands.base import SessionFacts
from clew.commands.context_view import FREE
from clew.commands.registry import COMMANDS
from clew.headless.command_turn import OFFERED
from clew.headless.hook_calls import callback_hooks
from clew.headless.op_answers import OpAnswers, OpFailed
from clew.hooks.definitions import MOMENTS
from clew.protocol.client import Client
from clew.protocol.events import ContextMeasured, Event, Notice, Rewound
from clew.protocol.ids import EntryId
from clew.protocol.lookups.agents import DefineAgentKinds
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.mcp import ListMcp, McpServersListed, ReconnectMcp, ToggleMcp
from clew.protocol.lookups.rules_and_models import ListModels, ModelsListed
from clew.protocol.lookups.session import PreviewRewind, RequestContext, RewindPreviewed
from clew.protocol.lookups.tasks import StopTask
from clew.protocol.ops import (
    AddMcpServers,
    ChooseSkills,
    DeliverMcpMessage,
    Interrupt,
    RegisterHooks,
    Rewind,
    SetEffort,
    SetModel,
    SetPermissionMode,
)
from clew.streaming.lines import SERVER_STATES
from clew.streaming.shapes.control import (
    CancelMessageRequest,
    ContextUsageRequest,
    InitializeRequest,
    InterruptRequest,
    Json,
    McpMessageRequest,
    McpReconnectRequest,
    McpStatusRequest,
    McpToggleRequest,
    ProgramRequest,
    RewindFilesRequest,
    SetModelRequest,
    SetPermissionModeRequest,
    SetThinkingRequest,
    StopTaskRequest,
)
from clew.streaming.shapes.control_answers import (
    AnswerBase,
    CommandOffer,
    ContextCategory,
    ContextUsage,
    EffortUsed,
    FilesRewound,
    Initialized,
    Interrupted,
    McpStatus,
    MessageCancelled,
    ModelOffer,
)

COLORS = ("purple", "blue", "cyan", "green", "yellow", "orange", "red", "magenta", "teal", "pink")
FREE_COLOR = "gray"
FREE_NAME = "Free space"
"""As programs know what is left."""


def context_usage(measured: ContextMeasured) -> ContextUsage:
    """One answer. An unknown size is counted from its parts; without any it is 0, and `estimated`."""
    used = [share for share in measured.shares if share.name != FREE]
    tokens = measured.tokens if measured.tokens is not None else sum(share.tokens for share in used)
    categories = [
        ContextCategory(name=share.name, tokens=share.tokens, color=COLORS[at % len(COLORS)])
        for at, share in enumerate(used)
    ]
    free = sum(share.tokens for share in measured.shares if share.name == FREE)
    if free:
        categories.append(ContextCategory(name=FREE_NAME, tokens=free, color=FREE_COLOR))
    return ContextUsage(
        categories=tuple(categories),
        total_tokens=tokens,
        max_tokens=measured.window,
        raw_max_tokens=measured.window,
        percentage=round(100 * tokens / measured.window, 2) if measured.window > 0 else 0.0,
        model=measured.model,
        is_auto_compact_enabled=measured.auto_at > 0,
        auto_compact_threshold=measured.auto_at,
        estimated=measured.estimated or measured.tokens is None,
    )


SUBTYPES = {str(kind.__struct_config__.tag): kind for kind in get_args(ProgramRequest)}
NOT_YET = {
    "mcp_set_servers": "MCP servers are given when the session starts (--mcp-config)",
}
DONT_ASK = "dontAsk"
A = TypeVar("A", bound=Answer)
B = TypeVar("B")
MODELS_WITHIN_S = 2.0
"""Servers on this machine may be slow to say which models they have; the answer does not wait for them."""
THINKING_TOKENS = {"max": 31_000, "xhigh": 24_000, "high": 16_000, "medium": 8_192, "low": 1}
"""The least number of tokens that asks for an effort."""


class DialogueState(Protocol):
    """What the requests must know of the dialogue."""

    started: asyncio.Event
    """Set when the session has said what it is."""

    @property
    def facts(self) -> SessionFacts:
        """Of the session, as they are now."""
        ...

    @property
    def first_model(self) -> str:
        """What it began with."""
        ...

    def waiting_ids(self) -> tuple[str, ...]:
        """The program's names for prompts that wait."""
        ...

    def take_back(self, uuid: str) -> bool:
        """Whether a prompt that waits was taken back."""
        ...

    def entry_of(self, uuid: str) -> EntryId:
        """The entry a prompt became, by the program's name for it or by its own."""
        ...

    def interrupted(self) -> None:
        """The program stops the turn."""
        ...

    def brought(self, agents: tuple[str, ...]) -> None:
        """The kinds of agents there are, with those of the program."""
        ...

    def initialized(self, *, child_words: bool) -> None:
        """The program has said what it is. `child_words`: it wants to read what agents say."""
        ...

    def set_asking(self, *, ask: bool) -> None:
        """Whether the program is asked from now on."""
        ...


class ControlRequests:
    """`begin` understands a request and hands its op over, in the order of the lines; what it returns is the answer."""

    def __init__(
        self, client: Client, ops: OpAnswers, standing: DialogueState, complain: Callable[[str], None]
    ) -> None:
        self._client = client
        self._ops = ops
        self._standing = standing
        self._complain = complain
        self._looking: set[asyncio.Task[Any]] = set()

    async def begin(self, request: Json) -> Awaitable[AnswerBase | None]:
        """Raises Refused."""
        match understood(request):
            case InitializeRequest() as wanted:
                return await self._initialize(wanted)
            case InterruptRequest():
                return await self._interrupt()
            case SetPermissionModeRequest(mode=mode):
                return await self._mode(mode)
            case SetModelRequest(model=model):
                await self._standing.started.wait()
                return done(await self._ops.ask(SetModel(model=model or self._standing.first_model)))
            case SetThinkingRequest(max_thinking_tokens=tokens):
                return await self._think(tokens)
            case McpStatusRequest():
                return then(self._look_up(ListMcp()), server_status)
            case McpReconnectRequest(server_name=name):
                return done(self._look_up(ReconnectMcp(server=name)))
            case McpToggleRequest(server_name=name, enabled=enabled):
                return done(self._look_up(ToggleMcp(server=name, enabled=enabled)))
            case McpMessageRequest(server_name=name, message=message):
                return done(await self._ops.ask(DeliverMcpMessage(server=name, message=message)))
            case ContextUsageRequest():
                return await self._context()
            case RewindFilesRequest() as wanted:
                return await self._rewind(wanted)
            case StopTaskRequest(task_id=task):
                return done(self._look_up(StopTask(task_id=task)))
            case CancelMessageRequest(message_uuid=uuid):
                return ready(MessageCancelled(cancelled=self._standing.take_back(uuid)))

    async def _initialize(self, wanted: InitializeRequest) -> Awaitable[AnswerBase]:
        await self._standing.started.wait()
        hooks = callback_hooks(wanted.hooks or {})
        if vain := {hook.moment for hook in hooks if hook.blocks_on_failure and hook.moment not in MOMENTS}:
            raise OpFailed(f"hooks that must block are for moments that never come: {', '.join(sorted(vain))}")
        registered = await self._ops.ask(RegisterHooks(hooks=hooks)) if hooks else None
        if wanted.skills is not None:
            await self._ops.ask(ChooseSkills(names=wanted.skills))
        if wanted.sdk_mcp_servers:
            added = await self._ops.ask(AddMcpServers(names=tuple(wanted.sdk_mcp_servers)))
            await added
        models = self._look_up(ListModels())
        notes = (*unused(wanted), *(await self._define(wanted.agents) if wanted.agents else ()))
        self._standing.initialized(child_words=bool(wanted.forward_subagent_text))
        for note in notes:
            self._complain(note)
        return self._initialized(registered, models, notes)

    async def _initialized(
        self, registered: "asyncio.Future[Event] | None", models: "asyncio.Future[ModelsListed]", notes: tuple[str, ...]
    ) -> Initialized:
        if registered is not None:
            await registered
        await asyncio.wait({models}, timeout=MODELS_WITHIN_S)
        return Initialized(
            commands=tuple(
                CommandOffer(
                    name=name, description=command.help.summary, argument_hint=command.help.usage.partition(" ")[2]
                )
                for command in COMMANDS
                for name in (command.help.name, *command.help.aliases)
                if name in OFFERED
            )
            + tuple(
                CommandOffer(name=row.name, description=row.description, argument_hint=row.argument_hint)
                for row in self._standing.facts.invocables
            ),
            models=model_offers(models, self._standing.facts.model),
            pid=os.getpid(),
            hooks_applied=True,
            notes=notes,
        )

    async def _define(self, agents: Json) -> tuple[str, ...]:
        """Kinds of agents that the program brings; what is not used of them, a line each."""
        listed = await self._look_up(DefineAgentKinds(definitions=agents))
        self._standing.brought(tuple(row.name for row in listed.kinds if not row.hidden and row.name != "coordinator"))
        theirs = [row for row in listed.kinds if row.level == "given" and row.name in agents]
        notes = [f"agent {row.name}: {note}" for row in theirs for note in row.notes]
        return (*(line for line in listed.problems if line.startswith("SDK,")), *notes)

    async def _mode(self, mode: str) -> Awaitable[None]:
        """`dontAsk` is the mode that asks, with nobody there to be asked."""
        accepted = await self._ops.ask(SetPermissionMode(mode="default" if mode == DONT_ASK else mode))

        async def changed() -> None:
            await accepted
            self._standing.set_asking(ask=mode != DONT_ASK)

        return changed()

    async def _interrupt(self) -> Awaitable[AnswerBase]:
        """Never refused, so it is answered at once: the answer comes before the result of the turn."""
        answer = ready(Interrupted(still_queued=self._standing.waiting_ids()))
        self._standing.interrupted()
        await self._client.submit(Interrupt())
        return answer

    async def _think(self, tokens: int | None) -> Awaitable[AnswerBase]:
        if tokens is not None and tokens <= 0:
            raise OpFailed("thinking cannot be switched off here: name an effort, or a model that does not think")
        effort = "" if tokens is None else next(name for name, least in THINKING_TOKENS.items() if tokens >= least)
        return then(await self._ops.ask(SetEffort(effort=effort)), lambda _: EffortUsed(effort=effort))

    async def _context(self) -> Awaitable[AnswerBase]:
        return then(self._look_up(RequestContext()), lambda shown: context_usage(shown.measured))

    async def _rewind(self, wanted: RewindFilesRequest) -> Awaitable[AnswerBase]:
        to = self._standing.entry_of(wanted.user_message_id)
        if wanted.dry_run:
            return then(self._look_up(PreviewRewind(to=to, scope="files")), rewound)
        return then(await self._ops.ask(Rewind(to=to, scope="files"), Rewound, also=not_carried_out), rewound)

    def _look_up(self, lookup: Lookup[A]) -> "asyncio.Future[A]":
        """Begun at once. A program that no longer wants the answer does not undo it."""
        task = asyncio.create_task(self._answer(lookup))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        return asyncio.shield(task)

    async def _answer(self, lookup: Lookup[A]) -> A:
        try:
            return await self._client.look_up(lookup)
        except LookupRefused as refused:
            raise OpFailed(str(refused)) from refused


def understood(request: Json) -> ProgramRequest:
    """Which request it is. Raises Refused, with its name."""
    subtype = request.get("subtype")
    if not isinstance(subtype, str) or not subtype:
        raise OpFailed("the request has no subtype")
    if subtype in NOT_YET:
        raise OpFailed(f"{subtype}: {NOT_YET[subtype]}")
    if subtype not in SUBTYPES:
        raise OpFailed(f"there is no request {subtype!r}; requests are {', '.join(SUBTYPES)}")
    try:
        return msgspec.convert(request, type=SUBTYPES[subtype])
    except msgspec.ValidationError as error:
        raise OpFailed(f"{subtype}: {error}") from error


def unused(wanted: InitializeRequest) -> tuple[str, ...]:
    """What a program brought and nothing here takes up, a sentence each."""
    notes: list[str] = []
    if vain := [moment for moment in wanted.hooks or {} if moment not in MOMENTS]:
        notes.append(f"hooks for moments that never come yet: {', '.join(vain)}")
    for given, name, flag in (
        (wanted.system_prompt, "systemPrompt", "--system-prompt"),
        (wanted.append_system_prompt, "appendSystemPrompt", "--append-system-prompt"),
        (wanted.json_schema, "jsonSchema", "--json-schema"),
    ):
        if given:
            notes.append(f"{name} is not used here: it is given when the session starts ({flag})")
    if wanted.exclude_dynamic_sections:
        notes.append("excludeDynamicSections is not used: the system prompt holds what is true of this place")
    if wanted.system_prompt_snapshot is False:
        notes.append("systemPromptSnapshot: false is not used: a session keeps the system prompt it began with")
    return tuple(notes)


def model_offers(listed: "asyncio.Future[ModelsListed]", current: str) -> tuple[ModelOffer, ...]:
    """The models that were listed in time, the one in use first."""
    rows = listed.result().rows if listed.done() and listed.exception() is None else ()
    offers = [
        ModelOffer(value=row.name, display_name=row.name, description=", ".join((row.provider, *row.aliases)))
        for row in rows
    ]
    if current not in {offer.value for offer in offers}:
        offers.append(ModelOffer(value=current, display_name=current))
    return tuple(sorted(offers, key=lambda offer: offer.value != current))


def server_status(listed: McpServersListed) -> AnswerBase:
    """The servers in the words that programs know."""
    return McpStatus(
        mcp_servers=tuple(
            {
                "name": row.name,
                "status": SERVER_STATES[row.state],
                "scope": row.scope,
                "error": row.detail or None,
                "serverInfo": {"name": row.name, "version": row.version} if row.version else None,
                "tools": [{"name": name} for name in row.tools],
            }
            for row in listed.servers
        )
    )


def not_carried_out(event: Event) -> bool:
    """What is said when files could not be put back."""
    return isinstance(event, Notice) and event.level == "error" and event.code == "undo"


def rewound(event: Event | RewindPreviewed) -> AnswerBase:
    """What a rewind came to. Raises Refused when it could not be carried out."""
    if isinstance(event, Notice):
        raise OpFailed(event.text)
    assert isinstance(event, Rewound | RewindPreviewed)
    return FilesRewound(
        can_rewind=True,
        files_changed=tuple(item.path for item in event.files if not item.conflict),
        conflicts=tuple(item.path for item in event.files if item.conflict),
    )


async def done(answer: "asyncio.Future[Any]") -> None:
    """Nothing to say but that it was done."""
    await answer


def ready(answer: AnswerBase) -> "asyncio.Future[AnswerBase]":
    """Known at once."""
    done: asyncio.Future[AnswerBase] = asyncio.get_running_loop().create_future()
    done.set_result(answer)
    return done


async def then(answer: "asyncio.Future[B]", shape: Callable[[B], AnswerBase]) -> AnswerBase:
    """What the event or the answer says, in the shape of an answer."""
    return shape(await answer)
