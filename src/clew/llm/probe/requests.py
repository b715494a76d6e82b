"""The requests of a probe: small questions whose answers show what a server does with them."""

from collections.abc import Callable

from msgspec import Struct

from clew.llm.estimate import estimate_request, estimate_text
from clew.llm.request import ModelRequest
from clew.protocol.ids import CallId, MessageId
from clew.protocol.messages import AssistantMessage, Message, Part, ToolCallPart, ToolResultPart, UserMessage
from clew.protocol.tools import ToolSpec

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
