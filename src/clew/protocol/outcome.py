"""What a turn came to, as folds over events: its outcome, and whether all that it wanted to do was refused."""

from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from clew.protocol.event_kinds.turns import INTERNAL_ERROR
from clew.protocol.events import (
    AgentEnded,
    ApprovalResolved,
    AttemptEnded,
    Event,
    PartCompleted,
    PlanAnswered,
    PlanProposed,
    PromptAccepted,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    SessionEnded,
    SessionStarted,
    StructuredOutputReady,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import AgentId, CallId, EntryId, MessageId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import Json, TextPart, ToolCallPart, arguments_of
from clew.protocol.tally import Tally

MAX_AGENTS = 100
"""Whose ends a result lists."""
ALL_REFUSED = "all_calls_refused"
ALL_REFUSED_WORDS = "no call of this run was allowed, so nothing was done"


class RefusedCalls:
    """Fed with every event of one agent; a new turn starts it anew."""

    def __init__(self) -> None:
        self._calls = 0
        self._refused = 0
        self._decided = False
        """Whoever drives the session said no: the model's words about that are the answer."""

    def feed(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TurnStarted():
                self._calls = self._refused = 0
                self._decided = False
            case ApprovalResolved(decision="deny", by="user" | "hook"):
                self._decided = True
            case ToolEnded():
                self._calls += 1
                self._refused += event.refused
            case _:
                pass

    def undid(self, ended: TurnEnded) -> bool:
        """Whether the turn completed with words alone, for nothing it wanted to do was allowed: no answer."""
        return ended.reason == "completed" and 0 < self._calls == self._refused and not self._decided


TERMINAL_REASONS = {"model_error": "api_error", "stopped_by_hook": "stop_hook_prevented"}
"""Where readers know another word for why no further request was made."""
UNSAVED = "unsaved"
"""The turn was completed, and the log does not have all of it."""
STRUCTURED_OUTPUT_TOOL = "StructuredOutput"


class TurnOutcome:
    """Everything the result needs; fed with every event of the main agent. A new turn starts it anew, but for what the
    run has spent."""

    def __init__(self) -> None:
        self.tally = Tally()
        """Of this run alone."""
        self.session_id = ""
        self.ended: TurnEnded | None = None
        self.structured_output: Any = UNSET
        self.failure = ""
        """What kept the run from going on, where no turn could tell it."""
        self.unsaved = 0
        """Entries that are not in the log, although the session is over."""
        self.models: dict[str, tuple[int, int]] = {}
        self._refusals = RefusedCalls()
        self._of_children: dict[tuple[AgentId, CallId], Json] = {}
        self._denied: dict[str, Json] = {}
        """The inputs of children's calls that were denied, by the ids of their asks."""
        self.denials: list[ApprovalResolved] = []
        self.agents: dict[AgentId, AgentEnded] = {}
        """The agents that have ended in this run, at every depth, each with its last end; the oldest are forgotten."""
        self._turn()

    def _turn(self) -> None:
        self.ended = None
        self._earlier, self.denials = self.denials, []
        self.structured_output = UNSET
        self.before = self.tally
        self._answer: dict[EntryId, str] = {}
        self.inputs: dict[CallId, Json] = {}
        self._whole: MessageId | None = None
        self.stop_reason = ""
        self._aborted = "aborted_streaming"
        self._plan = ""
        """The plan that nobody was there to accept."""

    def feed(self, event: Event) -> None:
        """Take one event."""
        self.tally = self.tally.after(event)
        self._refusals.feed(event)
        match event:
            case SessionStarted():
                self.session_id = event.session_id
            case TurnStarted():
                self._turn()
            case PromptAccepted() if not event.continues:
                if event.notices and self._earlier:  # the turn goes on with an earlier one, whose children have ended
                    self._earlier, self.denials = [], [*self._earlier, *self.denials]
                self._answer.clear()  # what was said before belongs to an earlier question
            case ToolEnded():
                self._settle(event)
            case ApprovalResolved(decision="deny"):
                self.denials.append(event)
            case StructuredOutputReady():
                self.structured_output = event.value
            case PlanProposed():
                self._plan = event.plan
            case PlanAnswered():
                self._plan = self._plan if event.by == "nobody" else ""
            case TurnEnded():
                self.ended = event
            case SessionEnded():
                self.unsaved = event.unsaved
            case AgentEnded():
                self.tally = self.tally + replace(event.tally, work_ms=0)
                self._keep(event)
            case _:
                self._follow_reply(event)

    def feed_child(self, event: Event, agent: AgentId) -> None:
        """Take one event of a child: what it was denied is listed with its input, and agents of its own that ended."""
        match event:
            case AgentEnded():
                self._keep(event)
            case PartCompleted(part=ToolCallPart() as call):
                self._of_children[agent, call.id] = arguments_of(meant_call(call))
            case ToolEnded():
                self._of_children.pop((agent, event.result.call_id), None)
            case ApprovalResolved(decision="deny"):
                self.denials.append(event)
                self._denied[event.request_id] = self._of_children.get((agent, event.call_id), {})
            case _:
                pass

    def _keep(self, ended: AgentEnded) -> None:
        self.agents.pop(ended.child, None)
        self.agents[ended.child] = ended
        if len(self.agents) > MAX_AGENTS:
            del self.agents[next(iter(self.agents))]

    def input_of(self, denial: ApprovalResolved) -> Json:
        """What the denied call was given."""
        return self._denied.get(denial.request_id) or self.inputs.get(denial.call_id, {})

    def _follow_reply(self, event: Event) -> None:
        match event:
            case ReplyBegan():
                self.models[event.model] = (event.window, event.max_output_tokens)
            case PartCompleted(part=TextPart(text=text)):
                self._answer[event.entry_id] = text
            case PartCompleted(part=ToolCallPart() as call):
                self.inputs[call.id] = arguments_of(meant_call(call))
            case ReplyReceived():
                self._whole = event.reply_id
                self.stop_reason = event.stop_reason
            case ReplyWithdrawn():
                for entry_id in event.entry_ids:
                    self._answer.pop(entry_id, None)
            case AttemptEnded(outcome="interrupted"):
                self._aborted = "aborted_tools" if event.reply_id == self._whole else "aborted_streaming"
            case _:
                pass

    def _settle(self, event: ToolEnded) -> None:
        self._answer.clear()  # the words before a call are no answer
        if event.name == STRUCTURED_OUTPUT_TOOL and not event.result.is_error:
            self.structured_output = self.inputs.get(event.result.call_id, {})

    @property
    def answer(self) -> str:
        """The words since the last call, over as many replies as the answer took; or the output that was asked for,
        or the plan that a turn in plan mode ended with."""
        if self.structured_output is not UNSET:
            return msgspec.json.encode(self.structured_output).decode()
        return "".join(self._answer.values()) or self._plan

    @property
    def reason(self) -> str:
        """How the run ended, in one word."""
        if self.failure or self.ended is None:
            return "error"
        if self._refusals.undid(self.ended):
            return ALL_REFUSED
        return UNSAVED if self.unsaved and self.ended.reason == "completed" else self.ended.reason

    @property
    def terminal_reason(self) -> str:
        """Why no further request was made."""
        if self.failure or self.ended is None:
            return "error"
        if self.ended.reason == "interrupted":
            return self._aborted
        if self.reason == UNSAVED:
            return "error"
        return TERMINAL_REASONS.get(self.ended.reason, self.ended.reason)

    @property
    def api_failed(self) -> bool:
        """Whether the turn ended on a request that failed, and not on a fault of ours."""
        ended = self.ended if not self.failure else None
        return ended is not None and ended.reason == "model_error" and not ended.error.startswith(INTERNAL_ERROR)

    @property
    def exit_code(self) -> int:
        """0 success, 1 the run ended in an error, 130 interrupted."""
        return {"completed": 0, "interrupted": 130}.get(self.reason, 1)

    @property
    def error(self) -> str:
        """What went wrong, for a person; empty when nothing did."""
        if self.failure or self.ended is None:
            return self.failure or "the session ended before the turn did"
        if self.reason == ALL_REFUSED:
            return ALL_REFUSED_WORDS
        if self.reason == UNSAVED:
            some = "entry" if self.unsaved == 1 else f"{self.unsaved} entries"
            return f"the answer is whole, but the last {some} of the session could not be saved"
        if self.reason == "completed":
            return ""
        return self.ended.error or {"interrupted": "interrupted"}.get(self.reason, f"stopped: {self.reason}")
