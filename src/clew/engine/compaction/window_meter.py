"""How full the window of an agent is, for whoever must act on it.

The context meter: how much the next request will hold, what it will cost, and whether the server read all of it.

The provider's count of the last request is the anchor; only what was added since is estimated, with ratios learned from
such counts. When the view changed before the anchor, or the count cannot be one of the whole request, all is estimated.
"""

import math
import time
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.contents import FREE, Weigher, WindowPiece, pieces
from clew.engine.compaction.thresholds import Thresholds, thresholds_in_force
from clew.llm.estimate import SCRIPTS, Script, TokenEstimator, Weights, weigh_all, weigh_text, weigh_tool
from clew.llm.model import Model
from clew.protocol.entries import Entry, EventEntry, SystemEntry, SystemPromptEntry
from clew.protocol.event_kinds.context import ColdReturn, ContextItem, ContextMeasured, ContextShare, ViewTrimmed
from clew.protocol.events import AttemptEnded, Event, Rewound
from clew.protocol.ids import MAIN_AGENT, MessageId, SessionId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import AssistantMessage, Message
from clew.protocol.usage import Usage
from clew.transcript.chain.links import SNIP, is_boundary, undone_by
from clew.transcript.log.stamp import Stamp
from clew.transcript.mapping.recording import entries_of

LARGEST = 10
CACHE_WARM_S = 300
"""How long providers keep a prefix at hand without being asked to."""
COLD_AFTER_S = 3_600
COLD_TOKENS = 20_000
"""Less than this is not worth a word."""
CERTAIN: dict[Script, float] = {"latin": 0.6, "cjk": 0.45, "other": 0.3}
CERTAIN_FIXED = 0.1
"""The share of an estimate that no tokenizer stays below, by script; media are counted in very different ways."""
NEW_FACTOR, NEW_SLACK = 2.5, 1_200
"""A count that fits into this many times the newest input is of a server that counts only what it had not cached."""
MIN_SENT = 2_000


State = tuple[int, int, str, int, int]


class Anchor(Struct, frozen=True):
    """A request that the provider counted, and whose beginning the next one repeats."""

    reply_id: MessageId
    usage: Usage
    place: int
    """Of its line among the entries."""


class WindowReading(Struct, frozen=True, kw_only=True):
    """What the next request will hold."""

    tokens: int
    anchor: Anchor | None = None
    estimated: bool = True


class _Sample(Struct, frozen=True):
    """What was sent with an anchor's request."""

    anchor: Anchor
    weights: Weights


class Meter:
    """One per agent. It keeps nothing that the log does not tell: a resumed session measures the same."""

    def __init__(self, estimator: TokenEstimator | None = None) -> None:
        self.estimator = estimator or TokenEstimator()
        self._weigher = Weigher()
        self._learned: _Sample | None = None
        self._distrusted: set[MessageId] = set()
        self._told: set[str] = set()
        self._notice = ""
        self._last: tuple[State, WindowReading] | None = None
        self._learned_at: State | None = None
        self._base: tuple[tuple[str, ...], tuple[ToolSpec, ...], Weights] = ((), (), Weights())

    def notice(self, agent: Agent) -> str:
        """What to tell the user if the server did not read all of a request: once per model; empty else."""
        self._learn(agent)
        words, self._notice = self._notice, ""
        return words

    def read(self, agent: Agent) -> WindowReading:
        """How much the next request will hold. Asked again before anything was written, it costs nothing."""
        state = state_of(agent)
        if self._last is None or self._last[0] != state:
            self._last = (state, self._read(agent))
        return self._last[1]

    def _read(self, agent: Agent) -> WindowReading:
        self._learn(agent)
        model, view = agent.model, agent.conversation.messages()
        anchor = last_anchor(agent.conversation.entries, model.name, _replies(view) - self._distrusted)
        if anchor is None:
            weights = self._weigh_base(agent) + self._weigher.messages(model.history(view))
            self._weigher.keep_only(view)
            return WindowReading(tokens=round(self.estimator.tokens(model.name, weights)))
        since = self._weigher.messages(view[_place_of(view, anchor.reply_id) + 1 :])
        added = round(self.estimator.tokens(model.name, since))
        counted = anchor.usage.prompt_tokens + anchor.usage.output_tokens
        return WindowReading(tokens=counted + added, anchor=anchor, estimated=added > 0)

    def measure(
        self,
        agent: Agent,
        settings: Compaction,
        *,
        idle_s: float | None = 0.0,
        details: bool = False,
    ) -> ContextMeasured:
        """The meter as an event. `idle_s`: since the last request ended; None: there was none. `details`: with what
        fills the window, for whoever asked."""
        reading, model = self.read(agent), agent.model
        limits = thresholds_in_force(
            settings, window=model.window, output_cap=agent.max_output_tokens or model.max_output_tokens
        )
        found = self._pieces(agent) if details else []
        return ContextMeasured(
            tokens=reading.tokens,
            window=model.window,
            estimated=reading.estimated,
            next_cost_usd=next_cost_usd(model, reading, idle_s=idle_s),
            warn_at=limits.warn,
            auto_at=limits.auto if settings.auto else 0,
            model=model.name,
            shares=self._shares(found, reading.tokens, model) if details else (),
            largest=self._largest(found, reading.tokens, model.name),
        )

    def _learn(self, agent: Agent) -> None:
        """Take the count of the newest request, once."""
        if self._learned_at == (state := state_of(agent)):
            return
        self._learned_at = state
        model, view = agent.model, agent.conversation.messages()
        anchor = last_anchor(agent.conversation.entries, model.name, _replies(view))
        if anchor is None or anchor.reply_id in self._distrusted:
            return
        past = self._learned
        if past is not None and past.anchor.reply_id == anchor.reply_id:
            return
        before = view[: _place_of(view, anchor.reply_id)]
        sent = self._weigh_base(agent) + self._weigher.messages(model.history(before))
        counted = anchor.usage.prompt_tokens
        if counted < self._certain(model.name, sent):
            self._distrusted.add(anchor.reply_id)
            self._suspect(model.name, sent, _newest_input(before), counted)
            return
        if past is not None and _begins_with(agent.conversation.entries, anchor, past.anchor):
            self.estimator.learn(model.name, sent - past.weights, actual=counted - past.anchor.usage.prompt_tokens)
        else:
            self.estimator.learn(model.name, sent, actual=counted)
        self._learned = _Sample(anchor, sent)
        self._weigher.keep_only(view)

    def after(self, agent: Agent, event: Event) -> int:
        """How much the next request will hold once this event, which changes what stands before every count, is
        recorded: what `read` says then."""
        self._learn(agent)
        child = None if agent.id == MAIN_AGENT else agent.id
        recorded = entries_of(event, Stamp(session_id=SessionId(agent.conversation.session_id), cwd="", agent_id=child))
        model, view = agent.model, agent.conversation.messages_with(recorded)
        weights = self._weigh_base(agent) + self._weigher.messages(model.history(view))
        return round(self.estimator.tokens(model.name, weights))

    def base_tokens(self, agent: Agent) -> int:
        """What every request of the agent begins with, whatever was said."""
        return round(self.estimator.tokens(agent.model.name, self._weigh_base(agent)))

    def _weigh_base(self, agent: Agent) -> Weights:
        """What every request of the agent begins with."""
        system, specs, weights = self._base
        if system is not agent.system or specs is not agent.tools.specs:
            weights = weigh_all((*map(weigh_text, agent.system), *map(weigh_tool, agent.tools.specs)))
            self._base = (agent.system, agent.tools.specs, weights)
        return weights

    def _pieces(self, agent: Agent) -> list[WindowPiece]:
        view = agent.conversation.messages()
        return pieces(
            system=agent.system,
            tools=agent.tools.specs,
            history=agent.model.history(view),
            chain=agent.conversation.chain(),
            weigher=self._weigher,
        )

    def _scaled(self, found: Sequence[WindowPiece], tokens: int, model: str) -> list[float]:
        """Tokens of each piece, so that all of them are the tokens of the request."""
        raw = [self.estimator.tokens(model, piece.weights) for piece in found]
        total = sum(raw)
        return [value * tokens / total for value in raw] if total > 0 else raw

    def _shares(self, found: Sequence[WindowPiece], tokens: int, model: Model) -> tuple[ContextShare, ...]:
        by_kind: dict[str, float] = {}
        for piece, size in zip(found, self._scaled(found, tokens, model.name), strict=True):
            by_kind[piece.kind] = by_kind.get(piece.kind, 0.0) + size
        whole = dict(zip(by_kind, _rounded(list(by_kind.values()), tokens), strict=True))
        shares = [ContextShare(name=kind, tokens=size) for kind, size in whole.items()]
        return (*shares, ContextShare(name=FREE, tokens=max(0, model.window - tokens)))

    def _largest(self, found: Sequence[WindowPiece], tokens: int, model: str) -> tuple[ContextItem, ...]:
        sized = sorted(zip(self._scaled(found, tokens, model), found, strict=True), key=lambda pair: -pair[0])
        return tuple(
            ContextItem(name=piece.name, tokens=round(size), source=piece.source) for size, piece in sized[:LARGEST]
        )

    def _certain(self, model: str, sent: Weights) -> float:
        """What a request holds at the very least, whatever the tokenizer."""
        if sent.total < MIN_SENT:
            return 0.0
        parts: dict[Script, float] = {"latin": sent.latin, "cjk": sent.cjk, "other": sent.other}
        ratios = {script: min(1.0, self.estimator.ratio(model, script)) for script in SCRIPTS}
        return sum(CERTAIN[script] * ratios[script] * parts[script] for script in SCRIPTS) + CERTAIN_FIXED * sent.fixed

    def _suspect(self, model: str, sent: Weights, newest: Sequence[Message], counted: int) -> None:
        """The count is too small to be one of the whole request."""
        new = self.estimator.tokens(model, self._weigher.messages(newest))
        if counted <= NEW_FACTOR * new + NEW_SLACK or model in self._told:
            return
        self._told.add(model)
        about = round(self.estimator.tokens(model, sent), -2)
        self._notice = (
            f"{model} says that it read {counted:,} tokens of a request of about {about:,.0f}: its server seems to cut "
            "off the beginning of the conversation without an error. Give it a longer context (Ollama: num_ctx or "
            "OLLAMA_CONTEXT_LENGTH), or tell clew the real one: `window` of this model in `providers`."
        )


def state_of(agent: Agent) -> State:
    """What a reading depends on: the log only grows, and what goes back reads it anew."""
    entries = agent.conversation.entries
    last = entries[-1] if entries else None
    return (len(entries), id(last), agent.model.name, id(agent.system), id(agent.tools.specs))


def last_anchor(entries: Sequence[Entry], model: str, replies: Collection[MessageId]) -> Anchor | None:
    """The newest request of this model that was counted and still stands in the view; None when something before it
    left the view since, so that its count is of another request."""
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        if _changes_view(entry):
            return None
        event = entry.event if isinstance(entry, EventEntry) else None
        if isinstance(event, AttemptEnded) and event.model == model and event.reply_id in replies:
            usage = event.usage
            # The usage of a request that was tried again holds the failed tries too: it is no size of anything.
            if usage is not None and usage.prompt_tokens > 0 and not event.estimated and not event.retries:
                return Anchor(event.reply_id, usage, place)
    return None


def _begins_with(entries: Sequence[Entry], now: Anchor, past: Anchor) -> bool:
    """Whether what was sent with `now` begins with all that was sent with `past`."""
    for place in range(now.place, -1, -1):
        entry = entries[place]
        event = entry.event if isinstance(entry, EventEntry) else None
        if _changes_view(entry) or isinstance(event, Rewound):
            return False
        if isinstance(event, AttemptEnded) and event.reply_id == past.reply_id:
            return True
    return False


def next_cost_usd(model: Model, reading: WindowReading, *, idle_s: float | None) -> float | None:
    """What reading the next request will cost; from the cache as far as the last one is still in it."""
    cached = 0
    usage = reading.anchor.usage if reading.anchor is not None else Usage()
    caches = usage.cache_read_input_tokens + usage.cache_creation_input_tokens > 0
    if caches and idle_s is not None and idle_s < CACHE_WARM_S:
        cached = min(reading.tokens, usage.prompt_tokens)
    return model.cost_usd(Usage(input_tokens=reading.tokens - cached, cache_read_input_tokens=cached))


def cold_return(
    settings: Compaction, *, idle_s: float | None, tokens: int | None, cost_usd: float | None
) -> ColdReturn | None:
    """What to say before the first request after a long pause; None when there is nothing to say."""
    if not settings.cold_return or idle_s is None or not math.isfinite(idle_s) or idle_s < COLD_AFTER_S:
        return None
    if tokens is None or tokens < COLD_TOKENS:
        return None
    return ColdReturn(idle_s=idle_s, tokens=tokens, cost_usd=cost_usd)


def _changes_view(entry: Entry) -> bool:
    """Whether a request after this line no longer begins with what was sent before it."""
    if isinstance(entry, SystemPromptEntry):
        return True
    if isinstance(entry, SystemEntry):
        return is_boundary(entry) or entry.subtype == SNIP
    return isinstance(entry, EventEntry) and (isinstance(entry.event, ViewTrimmed) or undone_by(entry) is not None)


def _replies(view: Sequence[Message]) -> set[MessageId]:
    return {message.id for message in view if isinstance(message, AssistantMessage)}


def _place_of(view: Sequence[Message], reply_id: MessageId) -> int:
    return next(
        place
        for place in range(len(view) - 1, -1, -1)
        if isinstance(message := view[place], AssistantMessage) and message.id == reply_id
    )


def _newest_input(view: Sequence[Message]) -> Sequence[Message]:
    """What came after the last reply."""
    start = len(view)
    while start and not isinstance(view[start - 1], AssistantMessage):
        start -= 1
    return view[start:]


def _rounded(values: Sequence[float], total: int) -> Iterator[int]:
    """Whole numbers that add up to the total: the largest remainders are rounded up."""
    floors = [int(value) for value in values]
    order = sorted(range(len(values)), key=lambda index: floors[index] - values[index])
    for index in order[: max(0, total - sum(floors))]:
        floors[index] += 1
    yield from floors


class WindowMeter:
    """A meter with the user's settings and the time of the last request."""

    def __init__(self, settings: Compaction, *, idle_s: float | None = None) -> None:
        """`idle_s`: how long a resumed session had paused when this process began; None: it is new."""
        self._settings = settings
        self._meter = Meter()
        self._idle_before_s = idle_s
        self._began_s = time.monotonic()
        self._worked_s: float | None = None

    @property
    def idle_s(self) -> float | None:
        """Since the last request ended; None: there was none."""
        now = time.monotonic()
        if self._worked_s is not None:
            return now - self._worked_s
        return self._idle_before_s + now - self._began_s if self._idle_before_s is not None else None

    def worked(self) -> None:
        """A request has just ended."""
        self._worked_s = time.monotonic()

    def tokens(self, agent: Agent) -> int:
        """What its next request will hold."""
        return self._meter.read(agent).tokens

    def after(self, agent: Agent, event: Event) -> int:
        """What its next request will hold once a compaction or a clearing is recorded."""
        return self._meter.after(agent, event)

    def limits(self, agent: Agent) -> Thresholds:
        """Where the window of the model in force counts as full."""
        cap = agent.max_output_tokens or agent.model.max_output_tokens
        return thresholds_in_force(self._settings, window=agent.model.window, output_cap=cap)

    def measured(self, agent: Agent, *, detailed: bool = False) -> ContextMeasured:
        """The same as an event; `detailed`: with what fills it."""
        return self._meter.measure(agent, self._settings, idle_s=self.idle_s, details=detailed)

    def notice(self, agent: Agent) -> str:
        """What to tell if the server did not read all of a request; empty else."""
        return self._meter.notice(agent)

    def cold_return(self, agent: Agent) -> ColdReturn | None:
        """What the first request after a long pause will cost, when that is worth a word."""
        idle_s = self.idle_s
        if cold_return(self._settings, idle_s=idle_s, tokens=1 << 40, cost_usd=None) is None:
            return None  # not worth measuring either
        reading = self._meter.read(agent)
        cost = next_cost_usd(agent.model, reading, idle_s=idle_s)
        return cold_return(self._settings, idle_s=idle_s, tokens=reading.tokens, cost_usd=cost)
