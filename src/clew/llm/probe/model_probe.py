"""What a model really does at this address: a few real requests, and a finding for each thing that was tried.

The requests of a probe: small questions whose answers show what a server does with them.
"""

from collections.abc import AsyncGenerator, Callable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from clew.config.walk import dotted
from clew.llm.errors import AuthenticationFailed, ConnectionFailed, InvalidRequest, LLMError, PromptTooLong
from clew.llm.estimate import estimate_request, estimate_text
from clew.llm.models.target import Target
from clew.llm.probe.report_card import ProbeFinding
from clew.llm.remote import RemoteModel
from clew.llm.reply import Reply, collected
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy, system_random
from clew.llm.text_calls import find_text_calls
from clew.protocol.ids import CallId, MessageId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import (
    AssistantMessage,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    parts_of,
)
from clew.protocol.usage import Usage

OUTPUT_TOKENS = 3_000
"""Room for a model that thinks first."""
CACHED_TOKENS = 5_000
"""More than any provider's least size of a cache entry."""
MANNERS = "You are being tested by a program. Do exactly what is asked, and nothing else."
PLACES = ("system", "first", "middle", "last")
LOOKUP = ToolSpec(
    name="lookup",
    description="Look up the number that belongs to a name.",
    schema={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
)
SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "ja")
SENTENCE = "Entry {number}: the ferry left the harbour at dawn and nobody on the pier looked up."


class LongPrompt(Struct, frozen=True, kw_only=True):
    """A prompt of about so many tokens, with four words in it, one at each place."""

    request: ModelRequest
    words: tuple[str, ...]
    tokens: int

    def missing(self, reply: str) -> tuple[str, ...]:
        """The places whose word did not come back."""
        heard = reply.lower()
        return tuple(place for place, word in zip(PLACES, self.words, strict=True) if word not in heard)


def new_word(random: Callable[[], float]) -> str:
    """A word that no model has seen, so that it can only have been read."""
    return "".join(SYLLABLES[int(random() * len(SYLLABLES))] for _ in range(5))


def greeting() -> ModelRequest:
    """The smallest exchange."""
    return _request("Answer with the word: ok")


def long_prompt(tokens: int, random: Callable[[], float]) -> LongPrompt:
    """Filled up to about so many tokens."""
    words = tuple(new_word(random) for _ in PLACES)
    half = _filler((tokens - estimate_request(_with_words(words, ""))) // 2)
    request = _with_words(words, half)
    return LongPrompt(request=request, words=words, tokens=estimate_request(request))


def _with_words(words: tuple[str, ...], filler: str) -> ModelRequest:
    question = (
        "Above, four words were given: the system's word, the first word, the middle word and the last word. "
        "Write all four, separated by blanks."
    )
    _, first, middle, last = (f"The {place} word is {word}." for place, word in zip(PLACES, words, strict=True))
    text = "\n".join((first, filler, middle, filler, last, question))
    return _request(text, system=f"{MANNERS} The system's word is {words[0]}.")


def _filler(tokens: int) -> str:
    sample = 50
    each = estimate_text(_sentences(sample)) / sample
    return _sentences(max(1, round(tokens / each)))


def _sentences(count: int) -> str:
    """Numbered, so that no two are the same to a server that looks for repetition."""
    return "\n".join(SENTENCE.format(number=number) for number in range(100, 100 + count))


def one_call(name: str) -> ModelRequest:
    """A question that needs the tool once."""
    return _request(f"Use the tool lookup to find the number of {name}, then tell me the number.", tools=(LOOKUP,))


def two_calls(names: tuple[str, str]) -> ModelRequest:
    """A question that needs it twice, where one call does not wait for the other."""
    return _request(
        f"Find the numbers of {names[0]} and of {names[1]}. The two do not depend on each other: call the tool lookup "
        "twice in this one reply.",
        tools=(LOOKUP,),
    )


def after_calls(asked: ModelRequest, parts: tuple[Part, ...], model: str, number: str) -> ModelRequest:
    """The reply as it came, thoughts included, and the results of its calls."""
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    said = AssistantMessage(id=MessageId("probe"), model=model, content=parts)
    results = tuple(ToolResultPart(call_id=CallId(call.id), content=f"The number is {number}.") for call in calls)
    messages: tuple[Message, ...] = (*asked.messages, said, UserMessage(content=results))
    return ModelRequest(
        system=asked.system,
        messages=messages,
        tools=asked.tools,
        max_output_tokens=asked.max_output_tokens,
        effort=asked.effort,
    )


def cacheable(random: Callable[[], float], tokens: int = CACHED_TOKENS) -> ModelRequest:
    """A long prompt that nobody has sent before; sent twice, the second time it can come from a cache."""
    return _request("Answer with the word: ok", system=f"{MANNERS} Ignore {new_word(random)}.\n{_filler(tokens)}")


def _request(text: str, *, system: str = MANNERS, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    return ModelRequest(
        system=(system,),
        messages=(UserMessage(content=text),),
        tools=tools,
        max_output_tokens=OUTPUT_TOKENS,
        effort="medium",
    )


WINDOW_SHARE = 0.8
"""How much of the window is filled: a server needs room for its reply, and our estimate is one."""
DEFAULT_TOKENS = 24_000
LEAST_TOKENS = 1_000
COUNTED_SHARE = 0.6
"""A server that counts less than this of our estimate has not read everything."""


class Cost(NamedTuple):
    """What a probe takes at most, before it begins."""

    input_tokens: int
    output_tokens: int
    usd: float | None


class ModelProbe:
    """The probe of one model. Calls written as text are looked at as they come, not lifted."""

    def __init__(
        self, target: Target, *, tokens: int = DEFAULT_TOKENS, random: Callable[[], float] = system_random
    ) -> None:
        self.target = replace(target, quirks=replace(target.quirks, text_calls=False))
        self._lifts = target.quirks.text_calls
        self._tokens = max(LEAST_TOKENS, min(tokens, int(target.profile.window * WINDOW_SHARE)))
        self._random = random
        self._model = RemoteModel(self.target, RetryPolicy(max_attempts=3))
        self.usage = Usage()

    def cost(self) -> Cost:
        """Half sizes are tried where the whole one is not read, so the long prompt may cost twice."""
        small = sum(estimate_request(one) for one in (greeting(), one_call("x"), two_calls(("x", "y"))))
        read = 2 * self._tokens + 2 * self._cached + 3 * small
        written = (6 + (self._tokens // LEAST_TOKENS).bit_length()) * OUTPUT_TOKENS
        price = self.target.profile.price
        usd = price.cost_usd(Usage(input_tokens=read, output_tokens=written)) if price is not None else None
        return Cost(read, written, usd)

    @property
    def _cached(self) -> int:
        return min(CACHED_TOKENS, self._tokens)

    async def run(self) -> AsyncGenerator[ProbeFinding]:
        """The findings as they come. Raises the LLMError of a first request that does not get through at all."""
        try:
            first = await self._ask(greeting())
            yield ProbeFinding(name="answer", grade="ok", summary=f"streams, and ends with {first.stop_reason}")
            yield self._usage(first)
            for tried in (self._window, self._calls, self._parallel, self._cache):
                try:
                    async for finding in tried():
                        yield finding
                except (AuthenticationFailed, ConnectionFailed):
                    raise
                except LLMError as error:
                    yield ProbeFinding(
                        name=tried.__name__[1:], grade="problem", summary=f"failed: {error}", brief="errors"
                    )
        finally:
            await self._model.close()

    async def _ask(self, request: ModelRequest, *, whole: bool = False) -> Reply:
        reply = await (self._model.complete(request) if whole else collected(self._model.stream(request)))
        self.usage += reply.usage or Usage()
        return reply

    def _usage(self, reply: Reply) -> ProbeFinding:
        used = reply.usage
        if used is None or not used.prompt_tokens:
            what = "none is reported" if used is None else "it counts no prompt"
            summary = f"{what}: how full the window is, and what it costs, can only be estimated"
            return ProbeFinding(name="usage", grade="warning", summary=summary, brief="no usage")
        expected = estimate_request(greeting())
        summary = f"reported: {used.prompt_tokens} tokens read (estimated {expected}), {used.output_tokens} written"
        return ProbeFinding(name="usage", grade="ok", summary=summary)

    async def _window(self) -> AsyncGenerator[ProbeFinding]:
        """A word at each end of a long prompt must come back; where it does not, how much does arrive."""
        tokens, worst, kept = self._tokens, None, 0
        while tokens >= LEAST_TOKENS and not kept:
            outcome = await self._read_whole(long_prompt(tokens, self._random))
            if outcome is None:
                kept = tokens
            else:
                worst = worst or outcome
                tokens //= 2
        yield self._window_finding(worst, kept)

    def _window_finding(self, worst: ProbeFinding | None, kept: int) -> ProbeFinding:
        claimed = self.target.profile.window
        if worst is None:
            beyond = f", more of its {claimed:,} was not tried" if kept < claimed * WINDOW_SHARE - 1 else ""
            return ProbeFinding(
                name="window", grade="ok", summary=f"a prompt of {kept:,} tokens was read whole{beyond}"
            )
        if not kept:
            return ProbeFinding(name="window", grade=worst.grade, summary=worst.summary, brief=worst.brief)
        setting = dotted(("providers", self.target.provider, "models", self.target.model, "window"))
        summary = f"{worst.summary}; {kept:,} were read whole: set {setting} to what it really has"
        grade = "warning" if worst.grade == "info" else worst.grade  # it can do as asked, so size is what matters
        return ProbeFinding(name="window", grade=grade, summary=summary, brief=f"{worst.brief} above {kept:,} tokens")

    async def _read_whole(self, prompt: LongPrompt) -> ProbeFinding | None:
        """None: every word came back."""
        try:
            reply = await self._ask(prompt.request)
        except PromptTooLong:
            summary = f"a prompt of {prompt.tokens:,} tokens is refused, although the window is said to be larger"
            return ProbeFinding(name="window", grade="warning", summary=summary, brief="refuses prompts")
        missing = prompt.missing(_text(reply.parts))
        if not missing:
            return None
        *others, one = missing
        lost = f"{', '.join(others)} and {one} words" if others else f"{one} word"
        counted = reply.usage.prompt_tokens if reply.usage is not None else 0
        if "last" in missing:
            summary = (
                f"unclear: asked for four words of a prompt of {prompt.tokens:,} tokens, it did not answer with them"
            )
            return ProbeFinding(name="window", grade="info", summary=summary, brief="window unclear")
        if counted >= prompt.tokens * COUNTED_SHARE:
            summary = (
                f"of a prompt of {prompt.tokens:,} tokens the {lost} did not come back, although {counted:,} were "
                "counted: the model loses sight of it"
            )
            return ProbeFinding(name="window", grade="warning", summary=summary, brief="forgets")
        summary = f"a prompt of {prompt.tokens:,} tokens was cut silently: it lost the {lost}"
        return ProbeFinding(name="window", grade="problem", summary=summary, brief="cuts prompts silently")

    async def _calls(self) -> AsyncGenerator[ProbeFinding]:
        """One call, its shape, and whether its result and the thoughts before it are taken back."""
        name = new_word(self._random)
        asked = one_call(name)
        reply = await self._ask(asked)
        native = [part for part in reply.parts if isinstance(part, ToolCallPart)]
        written = find_text_calls(_text(reply.parts), {LOOKUP.name})
        yield self._call_shape(native, bool(written), name)
        if native:
            async for finding in self._taken_back(asked, reply):
                yield finding

    def _call_shape(self, native: list[ToolCallPart], written: bool, name: str) -> ProbeFinding:
        if native and all(call.name == LOOKUP.name and call.arguments == {"name": name} for call in native):
            return ProbeFinding(name="calls", grade="ok", summary="native, with the arguments that were asked for")
        if native:
            what = "arguments that cannot be read" if native[0].raw_arguments else "other arguments than asked for"
            return ProbeFinding(name="calls", grade="warning", summary=f"native, with {what}", brief="odd arguments")
        if written and self._lifts:
            summary = "written as text, which clew takes as calls here"
            return ProbeFinding(name="calls", grade="warning", summary=summary, brief="calls as text")
        if written:
            summary = "written as text, which clew takes as calls only from servers on this machine"
            return ProbeFinding(name="calls", grade="problem", summary=summary, brief="calls as text")
        return ProbeFinding(name="calls", grade="problem", summary="none came: it answered in words", brief="no calls")

    async def _taken_back(self, asked: ModelRequest, reply: Reply) -> AsyncGenerator[ProbeFinding]:
        number = str(1_000 + int(self._random() * 9_000))
        request = after_calls(asked, reply.parts, self.target.name, number)
        echoed = any(
            isinstance(part, ReasoningPart | RedactedReasoningPart)
            for message in self._model.history(request.messages)
            for part in parts_of(message)
        )
        try:
            final = await self._ask(request)
        except InvalidRequest as error:
            if not echoed:
                raise
            plain = tuple(part for part in reply.parts if not isinstance(part, ReasoningPart | RedactedReasoningPart))
            final = await self._ask(after_calls(asked, plain, self.target.name, number))
            yield ProbeFinding(
                name="reasoning", grade="problem", summary=f"refused when sent back: {error}", brief="refuses reasoning"
            )
        else:
            yield _reasoning(reply.parts, echoed=echoed)
        if number in _text(final.parts):
            yield ProbeFinding(name="results", grade="ok", summary="read, and used in the answer")
        else:
            yield ProbeFinding(
                name="results", grade="warning", summary="not used in the answer", brief="ignores results"
            )

    async def _parallel(self) -> AsyncGenerator[ProbeFinding]:
        names = (new_word(self._random), new_word(self._random))
        reply = await self._ask(two_calls(names))
        native = sum(isinstance(part, ToolCallPart) for part in reply.parts)
        count = native or len(find_text_calls(_text(reply.parts), {LOOKUP.name}))
        if count > 1:
            yield ProbeFinding(name="parallel", grade="ok", summary=f"{count} calls in one reply")
        else:
            words = "one call at a time" if count else "no calls"
            yield ProbeFinding(
                name="parallel", grade="info", summary=f"{words}, although two were asked for", brief=words
            )

    async def _cache(self) -> AsyncGenerator[ProbeFinding]:
        """The same long prompt twice, in one piece: the fields of a whole reply are seen too."""
        request = cacheable(self._random, self._cached)
        first, second = await self._ask(request, whole=True), await self._ask(request, whole=True)
        wrote = first.usage.cache_creation_input_tokens if first.usage is not None else 0
        read = second.usage.cache_read_input_tokens if second.usage is not None else 0
        if read and second.usage is not None:
            summary = f"{read:,} of {second.usage.prompt_tokens:,} tokens came from it at the second time"
            yield ProbeFinding(name="cache", grade="ok", summary=summary)
        elif wrote:
            summary = f"{wrote:,} tokens were written to it, and none read at the second time"
            yield ProbeFinding(name="cache", grade="warning", summary=summary, brief="cache not read")
        else:
            yield ProbeFinding(name="cache", grade="info", summary="none seen, or it is not reported", brief="no cache")


def _reasoning(parts: tuple[Part, ...], *, echoed: bool) -> ProbeFinding:
    shown = any(isinstance(part, ReasoningPart) and part.text for part in parts)
    thought = any(isinstance(part, ReasoningPart | RedactedReasoningPart) for part in parts)
    if not thought:
        return ProbeFinding(name="reasoning", grade="info", summary="none seen")
    seen = "shown" if shown else "sent in a closed form"
    back = "taken back" if echoed else "not sent back"
    return ProbeFinding(name="reasoning", grade="ok", summary=f"{seen}, and {back} with the next request")


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))
