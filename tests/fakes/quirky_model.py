"""A small "model" behind the fake server that really reads its prompt, with the faults that servers have. Stdlib only.

Each quirk is one thing that a real server was seen to do: `cut_chars` drops the beginning of what is too long without a
word, `limit_chars` refuses it, `calls` says how tool calls come, `usage`, `thinks`, `refuses_reasoning`, `forgets`,
`deaf`, `caches`.
"""

import json
import re
from typing import Any

from fakes.model_server import ModelServer

Json = dict[str, Any]
CHARS_PER_TOKEN = 4


class QuirkyModel(ModelServer):
    """Answers the questions of a probe from the text it was given, chat dialect."""

    def __init__(self, **quirks: Any) -> None:
        super().__init__([], models=("quirky",))
        self.quirks = quirks
        self._seen: set[bytes] = set()

    def _take(self, raw: bytes) -> Json:
        body = json.loads(raw)
        messages: list[Json] = body["messages"]
        whole = "\n".join(str(message.get("content") or "") for message in messages)
        limit = self.quirks.get("limit_chars")
        if limit and len(whole) > limit:
            return {"fault": "prompt_too_long"}
        if self.quirks.get("refuses_reasoning") and "reasoning_content" in raw.decode():
            return {"fault": "status", "status": 400, "message": "Unrecognized field reasoning_content"}
        kept = whole[-self.quirks.get("cut_chars", len(whole)) :]
        reply = self._said(body, messages, kept)
        reply["usage"] = self._usage(raw, kept)
        return reply

    def _said(self, body: Json, messages: list[Json], kept: str) -> Json:
        thoughts = [{"thinking": "let me see"}] if self.quirks.get("thinks") else []
        if self.quirks.get("deaf"):
            return {"text": "Sure, I can help with that!"}
        if messages[-1]["role"] == "tool":
            found = re.search(r"The number is (\d+)", kept)
            return {"text": f"It is {found[1]}." if found else "No idea."}
        if body.get("tools"):
            return self._calls(re.findall(r"\bof (\w+)", messages[-1]["content"]), thoughts)
        words = re.findall(r"The (?:system's|first|middle|last) word is (\w+)", kept)
        if self.quirks.get("forgets") and len(kept) > self.quirks["forgets"]:
            words = words[-1:]
        return {"parts": [*thoughts, {"text": " ".join(words) or "ok"}]}

    def _calls(self, names: list[str], thoughts: list[Json]) -> Json:
        if self.quirks.get("one_at_a_time"):
            names = names[:1]
        match self.quirks.get("calls", "native"):
            case "text":
                calls = [json.dumps({"name": "lookup", "arguments": {"name": name}}) for name in names]
                return {"text": "\n".join(f"<tool_call>{call}</tool_call>" for call in calls)}
            case "broken":
                return {"calls": [{"call": "lookup", "arguments": '{"name": '}]}
            case "none":
                return {"text": "I would look that up for you."}
            case _:
                return {"parts": [*thoughts, *({"call": "lookup", "arguments": {"name": name}} for name in names)]}

    def _usage(self, raw: bytes, kept: str) -> Json | None:
        if not self.quirks.get("usage", True):
            return None
        tokens = len(kept) // CHARS_PER_TOKEN
        known = self.quirks.get("caches") and raw in self._seen
        self._seen.add(raw)
        return {"input": 10 if known else tokens, "output": 5, "cache_read": tokens if known else 0}
