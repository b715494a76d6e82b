"""A session driven by a program: prompts and control requests on stdin, the stream and control lines on stdout."""

import asyncio
from typing import TextIO

from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.commands.facts import facts_after
from clew.headless.command_turn import OFFERED, CommandTurn
from clew.headless.control_channel import ControlChannel
from clew.headless.control_requests import ControlRequests
from clew.headless.dialogue_options import DialogueOptions
from clew.headless.first_line import FirstLine
from clew.headless.hook_calls import HookCalls
from clew.headless.input_reading import InputProblem, input_of
from clew.headless.mcp_messages import McpMessages
from clew.headless.op_answers import OpAnswers
from clew.headless.permission_asking import PermissionAsking
from clew.headless.printer import Printer
from clew.headless.prompt_queue import Given, PromptQueue
from clew.headless.run import ChildrenBeside, told
from clew.headless.stdin_lines import StdinLine, StdinLines
from clew.headless.stop_signals import INTERRUPTED_CODE, StopSignals, interrupts
from clew.protocol.client import Client
from clew.protocol.events import Envelope, OpRejected, PromptAccepted, SessionEnded, SessionStarted, TurnEnded
from clew.protocol.ids import MAIN_AGENT, EntryId, OpId, new_uuid
from clew.protocol.op_kinds.slash_names import use_or_refusal, words_said
from clew.protocol.ops import Close, Interrupt, Op, SubmitPrompt
from clew.protocol.outcome import TurnOutcome
from clew.streaming.joined_deltas import joined
from clew.streaming.lines import StreamLines
from clew.streaming.results import failed_result, result_of
from clew.streaming.shapes.control import ControlCancel, ControlRequest, ControlResponse, KeepAlive, PromptInput
from clew.streaming.shapes.stream import InitLine, InputErrorLine, ResultLine, StateLine, StreamLine
from clew.streaming.tasks import is_words_of_child

IDLE_LINES_S = 0.5
"""How long what is told between turns waits for a program that may hang up."""
LAST_WORDS_S = 2.0
"""How long words in the making, such as a title, may keep a process whose program has hung up."""


class Dialogue:
    """One process, one session, any number of turns; each prompt that is taken has exactly one result."""

    def __init__(
        self, client: Client, options: DialogueOptions, *, stdin: int, printer: Printer, stopping: StopSignals
    ) -> None:
        self.started = asyncio.Event()
        self.first_model = ""
        self.facts = SessionFacts()
        self._client = client
        self._printer = printer
        self._stopping = stopping
        self._stdin = StdinLines(stdin)
        self._lines = StreamLines(
            partial=options.partial,
            hooks=options.hooks,
            replay_prompts=options.replay_prompts,
            session_state=options.session_state,
            slash_commands=OFFERED,
        )
        self._outcome = TurnOutcome()
        self._prompts = PromptQueue()
        self._ops = OpAnswers(client)
        requests = ControlRequests(client, self._ops, self, self._printer.error)
        self._channel = ControlChannel(printer.put, self._printer.error, requests.begin)
        self._asking = PermissionAsking(
            client,
            self._channel,
            self._ops,
            ask=options.ask_program,
            tool_answers=options.tool_answers,
            timeout_s=options.approval_timeout_s,
            complain=self._printer.error,
        )
        self._hooks = HookCalls(client, self._channel)
        self._messages = McpMessages(client, self._channel)
        self._first = FirstLine(printer.put)
        self._child_words = True
        self._turns = 0
        self._beside = ChildrenBeside()
        self._settling = False
        """The turn of the prompt at work is over, and its children may not be."""
        self._early: asyncio.Task[None] | None = None
        self._woken = False
        """What joined the conversation last was the end of a child."""
        self._running: Given | None = None
        self._command: CommandTurn | None = None
        self._answering: asyncio.Task[None] | None = None
        self._listening = True
        self._interrupted_by_program = False
        self._problems = 0
        self._failure: Exception | None = None
        self._last: ResultLine | None = None
        self._held: ResultLine | None = None
        """The result of the last turn there will be: it waits for what closing still tells."""
        self._closing: asyncio.Task[None] | None = None
        self._hurrying: asyncio.Task[None] | None = None
        self._idle_lines: list[StreamLine] = []
        self._idle_timer: asyncio.TimerHandle | None = None

    async def run(self) -> int:
        """Until stdin is closed and nothing is left to do. Returns the exit code."""
        beside = [
            asyncio.create_task(self._read()),
            asyncio.create_task(self._stop_when_told()),
            asyncio.create_task(self._close_without_reader()),
        ]
        try:
            async for envelope in self._client.events():
                await self._take(envelope)
            self._ops.end()
            await self._channel.settle()
            code = INTERRUPTED_CODE if self._stopping.wanted.is_set() else self._exit_code()
            self._first.tell()
            if self._held is not None:
                self._printer.put(self._held)
        except Exception as error:  # a bug of ours: whoever waits for a result gets one, then it is told
            if self._running is not None:
                words = f"internal error: {type(error).__name__}: {error}"
                self._printer.put(failed_result(words, session_id=self.facts.session_id))
            raise
        finally:  # whatever happened: the log tells how it ended
            self._stdin.close()
            self._asking.close()
            self._hooks.close()
            self._messages.close()
            self._ops.end()
            if self._command is not None:
                self._command.close()
            if self._answering is not None:
                self._answering.cancel()
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, self._close(), return_exceptions=True)
            if self._hurrying is not None:
                self._hurrying.cancel()
        if self._failure is not None:
            raise self._failure
        return code

    def _exit_code(self) -> int:
        if self._last is None or not self._turns:
            return 2 if self._problems else 0
        return 1 if self._last.is_error and not self._interrupted_by_program else 0

    async def _read(self) -> None:
        """Every line in its order, then the end of them."""
        try:
            async for line in self._stdin:
                await self._hear(line)
            await self._hang_up()
        except Exception as error:  # task boundary: the run ends with it, and says so
            self._failure = error
            self._close()

    async def _hear(self, line: StdinLine) -> None:
        try:
            match input_of(line):
                case PromptInput() as prompt:
                    if problem := self._prompts.add(prompt).problem:
                        self._complain(line, problem)
                    await self._settled_early()
                    await self._next()
                case ControlRequest() as request:
                    await self._channel.take_request(request)
                case ControlResponse() as response:
                    self._channel.take_response(response)
                case ControlCancel() as cancel:
                    self._channel.take_cancel(cancel)
                case KeepAlive() | None:
                    pass
        except InputProblem as problem:
            self._complain(line, str(problem))

    def _complain(self, line: StdinLine, problem: str) -> None:
        self._problems += 1
        self._printer.error(f"line {line.number} of stdin: {problem}")
        self._printer.put(
            InputErrorLine(session_id=self.facts.session_id, uuid=new_uuid(), line=line.number, error=problem)
        )

    async def _hang_up(self) -> None:
        """Nothing more comes from the program: what runs and what waits is finished, and then it ends."""
        self._listening = False
        self._channel.close()
        await self.started.wait()
        if self._is_over():
            self._close()

    def _is_over(self) -> bool:
        waiting = self._prompts and not self._stopping.wanted.is_set()
        return not self._listening and self._running is None and not waiting

    def _close(self) -> "asyncio.Task[None]":
        """Once, and beside the events: what closing tells is still heard."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._client.submit(Close()))
            self._hurrying = asyncio.create_task(self._hurry())
        return self._closing

    async def _hurry(self) -> None:
        """Whatever closing waits for by then, one thing after the other, it does not wait for any more."""
        await asyncio.sleep(LAST_WORDS_S)
        while True:
            await self._client.submit(Interrupt())
            await asyncio.sleep(IDLE_LINES_S)

    async def _next(self) -> None:
        """The oldest prompt that waits begins its turn, unless one is at work."""
        if self._running is not None or not self._prompts or not self.started.is_set():
            return
        if self._stopping.wanted.is_set():
            return
        self._first.tell()
        self._tell_idle_lines()
        given = self._running = self._prompts.next()
        if given.problem:
            await self._finish(failed_result(given.problem, session_id=self.facts.session_id))
            return
        self._turns += 1
        self._interrupted_by_program = False
        if self._turns > 1:
            self._first.tell_again(self.facts)
        if given.command:
            self._command = CommandTurn(given.command)
            await self._command.begin(self.facts, self._client)
            await self._command_over()
            self._answering = asyncio.create_task(self._until_answered())
        else:
            await self._client.submit(self._op_of(given, OpId(f"turn{self._turns}")))

    def _op_of(self, given: Given, op_id: OpId) -> Op:
        """What the program said, as words or as a slash name that somebody brought."""
        used = use_or_refusal(given.typed, self.facts.invocables)
        if used is not None:
            return replace(used, prompt_id=given.prompt_id, op_id=op_id)
        content = words_said(given.content) if isinstance(given.content, str) else given.content
        return SubmitPrompt(content=content, prompt_id=given.prompt_id, op_id=op_id)

    async def _take(self, envelope: Envelope) -> None:
        event = envelope.event
        main = envelope.agent == MAIN_AGENT
        self.facts = facts_after(envelope, self.facts)
        if main:
            self._outcome.feed(event)
            self._beside.feed(event)
            if isinstance(event, PromptAccepted):
                self._woken = bool(event.notices)
        else:
            self._outcome.feed_child(event, envelope.agent)
        for line in self._lines.lines(envelope):
            if isinstance(line, InitLine) and self._first.take(line, first=not self.started.is_set()):
                continue
            self._first.tell()
            if not self._child_words and is_words_of_child(line):
                continue
            if not (isinstance(line, StateLine) and line.state == "idle" and self._prompts):
                self._tell(line)
        await self._asking.take(envelope)
        self._hooks.take(event)
        self._messages.take(event)
        if main:
            self._printer.diagnose(event, verbose=False)  # the stream tells the program all of it
            self._ops.take(event)
            await self._follow(envelope)

    def brought(self, agents: tuple[str, ...]) -> None:
        """The first line names these kinds of agents."""
        self._first.brought(agents)

    def initialized(self, *, child_words: bool) -> None:
        """The program has said what it is, so the first line is whole."""
        self._child_words = child_words
        self._first.tell()

    def _tell(self, line: StreamLine) -> None:
        """What comes after a result, such as a title, waits for a moment: when the program hangs up at once, or says
        more, the result stays the last line of its turn."""
        if self._running is not None or self._last is None or self._held is not None:
            self._printer.put(line)
            return
        self._idle_lines.append(line)
        if self._idle_timer is None:
            self._idle_timer = asyncio.get_running_loop().call_later(IDLE_LINES_S, self._tell_idle_lines)

    def _tell_idle_lines(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        lines, self._idle_lines = self._idle_lines, []
        for line in lines if self._listening else ():
            self._printer.put(line)

    async def _follow(self, envelope: Envelope) -> None:
        event = envelope.event
        match event:
            case SessionStarted() if not self.started.is_set():
                self.first_model = event.model
                self.started.set()
                await self._next()
            case PromptAccepted():
                self._prompts.joined(event.prompt_id, event.entry_id)
            case TurnEnded() if self._running is not None or not self._woken:
                self._settling = True
            case OpRejected() if event.op_id == f"turn{self._turns}" and self._running is not None:
                await self._finish(failed_result(event.reason, session_id=self.facts.session_id))
            case SessionEnded() if self._running is not None:
                await self._finish(failed_result("the session ended", session_id=self.facts.session_id))
            case _:
                pass
        if self._settling and (self._beside.over or self._prompts or self._interrupted_by_program):
            await self._finish(result_of(self._outcome))
        if self._command is not None:
            await self._command.take(envelope, self._client)
            await self._command_over()

    async def _settled_early(self) -> None:
        """The turn of a prompt is over and its children are not; nobody waits for them any longer."""
        if self._settling:
            await self._finish(result_of(self._outcome))

    async def _until_answered(self) -> None:
        """An answer that no event tells of may be the last that a command waits for."""
        command = self._command
        if command is not None:
            await command.finished()
            if command is self._command:
                await self._command_over()

    async def _command_over(self) -> None:
        if self._command is not None and self._command.over:
            result = self._command.result(self._outcome)
            self._command = None
            await self._finish(result)

    async def _finish(self, result: ResultLine) -> None:
        """The one result of what ran, and then what waits."""
        if result.error:
            self._printer.error(result.error)
        self._last = result
        self._running = None
        self._settling = False
        if self._is_over():
            self._held = result
            self._close()
        else:
            self._printer.put(result)
            await self._next()

    def waiting_ids(self) -> tuple[str, ...]:
        """The program's names for prompts that wait."""
        return self._prompts.waiting_ids()

    def take_back(self, uuid: str) -> bool:
        """Whether a prompt that waits was taken back."""
        return self._prompts.take_back(uuid)

    def entry_of(self, uuid: str) -> EntryId:
        """The entry a prompt became."""
        return self._prompts.entry_of(uuid)

    def interrupted(self) -> None:
        """The program itself stops the turn: that is no failure of the run."""
        self._interrupted_by_program = True
        if self._settling:
            self._early = asyncio.create_task(self._settled_early())

    def set_asking(self, *, ask: bool) -> None:
        """Whether the program is asked from now on."""
        self._asking.ask = ask

    async def _stop_when_told(self) -> None:
        """A signal stopped the turn: nothing else begins."""
        await self._stopping.wanted.wait()
        if count := self._prompts.clear():
            self._printer.error(f"stopped; {count} prompts that waited were not begun")
        await self._settled_early()
        self._stdin.close()

    async def _close_without_reader(self) -> None:
        await self._printer.output.closed.wait()
        self._close()


async def run_dialogue(client: Client, options: DialogueOptions, *, stdin: int, out: TextIO, err: TextIO) -> int:
    """Talk with the program at the other end until it hangs up. Returns the exit code; raises what kept stdout from
    being written."""
    printer = Printer(out, err, watched=True, join=joined)
    with interrupts(client) as stopping:
        try:
            code = await Dialogue(client, options, stdin=stdin, printer=printer, stopping=stopping).run()
        finally:
            await told(printer, stopping)
    if printer.output.error is not None:
        raise printer.output.error
    return code
