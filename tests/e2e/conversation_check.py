"""What must be true of the requests with which a session goes on, from the script alone and against each other.

The normal form of a request's messages:
  everywhere     cache marks are left out: they move with the end and are no part of the conversation
  other model    when two requests ask different models (a fallback took over in one), reasoning is left out of both,
                 because it is bound to the model that wrote it
  exported       reasoning is left out, because its proof is bound to its session; call ids are numbered in order
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fakes.fault_script import Delivery

Json = dict[str, Any]
REASONING = {"thinking", "redacted_thinking"}
CALL_WORD = re.compile(r"(?:fx|ink)\d{3}")
SHOWN_CHARS = 160


@dataclass
class Going:
    """A session that went on."""

    dialect: str
    last: dict[str, Json]
    """The body of the first request after the session, by the way it went on; `live` is the process itself."""
    deliveries: list[Delivery]
    """All requests of the live processes, the last one included."""
    starts: list[int]
    asked: list[tuple[str, bool]]
    ran: list[str]
    answers: dict[str, str]
    dates: tuple[str, str]
    changes: list[int] = field(default_factory=list)
    """How many changes of view the log held when each request came; none: there were none."""
    keeps_all: bool = True
    """Nothing may have left the view."""


STOPPED = "Interrupted before it finished."
"""What a call is answered with that an interrupt met at work."""


def check(going: Going) -> list[str]:
    """Everything that is wrong."""
    wrong = [f"command: {word} ran {times} times" for word, times in Counter(going.ran).items() if times > 1]
    for name, body in going.last.items():
        wrong += [f"{name}: {words}" for words in against_script(going, body)]
        if name != "live":
            wrong += [f"{name}: {words}" for words in against_live(going, name)]
    asked = {f"request {number}": delivery.request.body for number, delivery in enumerate(going.deliveries, 1)}
    for name, body in {**asked, **going.last}.items():
        wrong += [f"{name}: {words}" for words in calls_of(normal(going.dialect, body))[1]]
    return wrong + grows(going)


# Against the live process


def against_live(going: Going, name: str) -> list[str]:
    """Whether this way sends the conversation that the live process sends."""
    live, other = going.last["live"], going.last[name]
    exported = name not in ("resumed", "forked")
    bare = exported or live["model"] != other["model"]
    first, second = (normal(going.dialect, body, reasoning=not bare, numbered_ids=exported) for body in (live, other))
    wrong: list[str] = []
    if first != second:
        wrong.append(f"the messages differ: {difference(flat(first), flat(second))}")
    if not exported:
        for field, (ours, theirs) in {
            "system prompt": (system_of(going, live), system_of(going, other)),
            "tools": (json.dumps(live["tools"]), json.dumps(other["tools"])),
        }.items():
            if ours != theirs:
                wrong.append(f"the {field} differs: {difference(ours.splitlines(), theirs.splitlines())}")
    return wrong


def system_of(going: Going, body: Json) -> str:
    """The bytes of the system prompt; the date is one word, for a session that goes over midnight."""
    system = body["system"] if going.dialect == "anthropic" else body["messages"][0]["content"]
    text = system if isinstance(system, str) else "\n".join(json.dumps(block) for block in system)
    for day in going.dates:
        text = text.replace(day, "DATE")
    return text.replace("\\n", "\n")


def normal(dialect: str, body: Json, *, reasoning: bool = True, numbered_ids: bool = False) -> list[Json]:
    """The messages in the normal form of this module."""
    messages: list[Json] = json.loads(json.dumps(body["messages"]))
    if dialect == "chat":
        messages = messages[1:]
    names: dict[str, str] = {}
    kept: list[Json] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            block.pop("cache_control", None)
        if not reasoning:
            message.pop("reasoning_content", None)
            blocks = [block for block in blocks if block["type"] not in REASONING]
            if isinstance(message["content"], list):
                message["content"] = blocks
        if numbered_ids:
            for holder in (message, *blocks, *message.get("tool_calls", [])):
                for key in ("id", "tool_use_id", "tool_call_id"):
                    if key in holder:
                        holder[key] = names.setdefault(holder[key], f"call {len(names) + 1}")
        kept.append(message)
    return kept


# Against the script


@dataclass
class Call:
    """A call in a request, and the results that name it in the message behind it."""

    text: str
    results: list[str]


def against_script(going: Going, body: Json) -> list[str]:
    """Whether a request holds what was said and done, each once, and nothing that was taken back."""
    messages = normal(going.dialect, body)
    wrong = prompts_in(going, messages)
    if not going.keeps_all:
        return wrong + said_twice(going, messages)
    calls, _ = calls_of(messages)
    said = "\n".join(words for role, words in spoken(messages) if role == "assistant")
    everything = json.dumps(messages)
    for word in going.ran:
        held = [call for call in calls if f"{word} >>" in call.text]
        if len(held) != 1 or len(held[0].results) != 1:
            wrong.append(f"{word} ran, and the request has {len(held)} calls of it")
    for delivery in going.deliveries[:-1]:
        for part, count in expected(delivery, going):
            wrong += misses(part, count, said, calls, everything, going)
    return wrong


def said_twice(going: Going, messages: list[Json]) -> list[str]:
    """Where things may have left the view, the others are there once, and what was withdrawn is not. What is told of
    the past (a summary, what was recalled) is of the user's side, and is not looked at."""
    calls, _ = calls_of(messages)
    said = "\n".join(words for role, words in spoken(messages) if role == "assistant")
    wrong: list[str] = []
    for delivery in going.deliveries[:-1]:
        for part, count in expected(delivery, going):
            word: str = part.get("word", "")
            times = said.count(word) if "text" in part else sum(word in call.text for call in calls)
            if word and word != "torn" and "thinking" not in part and times > (count != "never"):
                wrong.append(f"{word} is there {times} times, and should be {count}")
    return wrong


def prompts_in(going: Going, messages: list[Json]) -> list[str]:
    """Every prompt once and in the order in which it was given."""
    text = "\n".join(words for role, words in spoken(messages) if role == "user")
    if not going.keeps_all:
        last = going.asked[-1][0]
        return [] if text.endswith(last) else [f"the request does not end with {last!r}"]
    wrong = [
        f"the prompt {line!r} is there {text.count(line)} times"
        for line, must in going.asked
        if text.count(line) != 1 and (must or text.count(line))
    ]
    places = [text.find(line) for line, _ in going.asked if line in text]
    return wrong + (["the prompts are out of order"] if places != sorted(places) else [])


def expected(delivery: Delivery, going: Going) -> list[tuple[Json, str]]:
    """How often each part of a reply may be there: `once`, `never`, or `at most once`.

    A cut reply is withdrawn, unless one of its commands ran. One that could have begun leaves both open: only its
    trace tells. In the chat dialect the last call may be seen to be whole before the stream says so.
    """
    parts: list[Json] = delivery.reply["parts"]
    if delivery.disturbed or delivery.sent == "nothing" or delivery.reply.get("stop") == "max_tokens":
        return [(part, "at most once") for part in parts]
    if delivery.sent == "whole":
        return [(part, "once") for part in parts]
    cut = delivery.reply.get("cut")
    if cut is None or cut.kind == "before-end":
        return [(part, "at most once") for part in parts]
    begun = parts[: delivery.whole_parts + (going.dialect == "chat")]
    if not any(part.get("kind") == "effect" and part["word"] not in going.answers for part in begun):
        return [(part, "never") for part in parts]
    newest = max((at for at, part in enumerate(parts) if part.get("word") in going.ran), default=-1)
    return [(part, "once" if at <= newest and "text" in part else "at most once") for at, part in enumerate(parts)]


def misses(part: Json, count: str, said: str, calls: list[Call], everything: str, going: Going) -> list[str]:
    """What is wrong with one part of a reply in this request."""
    word: str = part.get("word", "")
    if "thinking" in part or not word or word == "torn":
        return []
    if count == "never":
        return [f"{word} was withdrawn and is there"] if word in everything else []
    if "text" in part:
        times = said.count(word)
        return [f"the answer {word} is there {times} times"] if times > 1 or (count == "once" and not times) else []
    held = [call for call in calls if word in call.text]
    if len(held) > 1 or (count == "once" and not held):
        return [] if part["kind"] == "malformed" else [f"the call {word} is there {len(held)} times"]
    if count != "once" or not held or len(held[0].results) != 1:
        return []
    result = held[0].results[0]
    refused = word in going.answers or part["kind"] in ("denied", "unknown")
    good = {"effect": f"ok-{word}", "read": f"inside-{word}"}.get(part["kind"], "")
    if refused or not good:
        return [f"the refused call {word} has the result {result[:60]!r}"] if good and good in result else []
    if STOPPED in result and word not in going.ran:
        return []  # the turn was stopped while it read, or before it was let through
    if part["kind"] == "effect" and word not in going.ran:
        return [f"{word} did not run"]
    return [] if good in result else [f"the call {word} has the result {result[:60]!r}"]


def calls_of(messages: list[Json]) -> tuple[list[Call], list[str]]:
    """The calls of a request with their results, and what is not one to one."""
    calls: list[Call] = []
    wrong: list[str] = []
    seen: set[str] = set()
    for at, message in enumerate(messages):
        asked = asked_in(message)
        answers: list[tuple[str, str]] = []
        for following in messages[at + 1 :] if asked else []:
            if following["role"] == "assistant":
                break
            answers += results_in(following)
        for name, text in asked:
            results = [words for call, words in answers if call == name]
            if len(results) != 1 or name in seen:
                wrong.append(f"a call has {len(results)} results, or its id twice: {text[:80]}")
            seen.add(name)
            calls.append(Call(text, results))
        strays = {call for call, _ in answers} - {name for name, _ in asked}
        wrong += [f"a result without a call: {call}" for call in strays]
    total = sum(len(results_in(message)) for message in messages)
    if total != len(calls):
        wrong.append(f"{len(calls)} calls and {total} results")
    return calls, wrong


def asked_in(message: Json) -> list[tuple[str, str]]:
    """Ids and words of the calls of a message."""
    found = [(call["id"], json.dumps(call["function"])) for call in message.get("tool_calls", [])]
    for block in message["content"] if isinstance(message["content"], list) else []:
        if block["type"] == "tool_use":
            found.append((block["id"], json.dumps([block["name"], block["input"]])))
    return found


def results_in(message: Json) -> list[tuple[str, str]]:
    """Ids and words of the results of a message."""
    if message["role"] == "tool":
        return [(message["tool_call_id"], message["content"])]
    blocks = message["content"] if isinstance(message["content"], list) else []
    return [(block["tool_use_id"], json.dumps(block["content"])) for block in blocks if block["type"] == "tool_result"]


def spoken(messages: list[Json]) -> list[tuple[str, str]]:
    """Who said what, without calls, results and reasoning."""
    found: list[tuple[str, str]] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, str) and message["role"] != "tool":
            found.append((message["role"], content))
        for block in content if isinstance(content, list) else []:
            if block["type"] == "text":
                found.append((message["role"], block["text"]))
    return found


def on_disk(going: Going, transcript: str) -> list[str]:
    """Whether every call of a transcript without withdrawals has one result there, and one in the last request."""
    calls, _ = calls_of(normal(going.dialect, going.last["live"]))
    spoken_lines = [json.loads(line) for line in transcript.splitlines() if '"message"' in line]
    blocks = [block for entry in spoken_lines for block in entry["message"]["content"] if isinstance(block, dict)]
    recorded = Counter(block["tool_use_id"] for block in blocks if block["type"] == "tool_result")
    wrong: list[str] = []
    for block in blocks:
        if block["type"] != "tool_use":
            continue
        text = json.dumps([block["name"], block["input"]])
        word = CALL_WORD.search(text)
        held = [call for call in calls if word and word[0] in call.text]
        if len(held) != 1 or len(held[0].results) != 1:
            wrong.append(f"disk: the call {text[:60]} is in the request {len(held)} times")
        if recorded[block["id"]] != 1:
            wrong.append(f"disk: the call {text[:60]} has {recorded[block['id']]} results in the transcript")
    return wrong


# Over one process


def grows(going: Going) -> list[str]:
    """Bytes already sent stay the beginning of what is sent next, as long as the model is the same."""
    wrong: list[str] = []
    ends = [*going.starts[1:], len(going.deliveries)]
    for start, end in zip(going.starts, ends, strict=True):
        requests = [delivery.request.body for delivery in going.deliveries[start:end]]
        for number in range(1, len(requests)):
            earlier, later = requests[number - 1], requests[number]
            changed = going.changes and going.changes[start + number - 1] != going.changes[start + number]
            if earlier["model"] != later["model"] or changed:
                continue
            before, after = (json.dumps(normal(going.dialect, body)) for body in (earlier, later))
            if not after.startswith(before.rstrip(']}"')):
                place = difference(flat(normal(going.dialect, earlier)), flat(normal(going.dialect, later)))
                wrong.append(f"prefix: request {start + number + 1} changes what was sent before: {place}")
    return wrong


def flat(messages: list[Json]) -> list[str]:
    """A line for each thing said, for a report."""
    lines: list[str] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else [message["content"]]
        lines += [f"{message['role']}: {json.dumps(block)}" for block in blocks if block is not None]
        lines += [f"{message['role']} calls: {json.dumps(call)}" for call in message.get("tool_calls", [])]
        lines += [f"{key}: {message[key]}" for key in ("reasoning_content", "tool_call_id") if key in message]
    return lines


def difference(first: list[str], second: list[str]) -> str:
    """The first line that is not the same."""
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return f"at {number}: {one[:SHOWN_CHARS]}\n      | {other[:SHOWN_CHARS]}"
    rest = (first or [""])[len(second) :] or second[len(first) :]
    longer = "live has more" if len(first) > len(second) else "the other has more"
    return f"{longer} from {min(len(first), len(second))} on: {(rest or ['?'])[0][:SHOWN_CHARS]}"
