"""Bytes of a run with everything that differs from run to run replaced, and the snapshots they are compared with.

Only values are replaced, never keys or their order, so that the snapshot shows each document as it was written.
Nothing is pinned that a machine decides: the platform, the shell, the date, how long something took, and every
number of tokens that is an estimate over text which holds a temporary path.
"""

import difflib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clew import __version__
from e2e.command import Place

Json = dict[str, Any]
SNAPSHOTS = Path(__file__).parent / "snapshots"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
PATTERNS = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"(?m)^(Platform|Shell|Date): .*$"), r"\1: <of this machine>"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
    (re.compile(rf"\bclew/{re.escape(__version__)}"), "clew/<version>"),
)
MEASURED = {"duration_api_ms", "duration_ms", "pid", "preTokens", "retry_delay_ms", "tokens_after", "tokens_before"}
"""Keys that are always written, whose value is a measure of this run or an estimate over its paths."""
LEFT_OUT = {"api_ms", "durationMs", "waitedMs", "waited_ms", "work_ms"}
"""Measures that are not written at all when they are zero, which a fast machine makes them."""
ASIDE = {"ai-title", "batch-label", "control_response", "tool_use_summary"}
VERSIONS = {"version", "clew_version"}


class Normal:
    """Replaces what differs. One for all documents of a session: a thing has one name in all of them."""

    def __init__(self, place: Place, **names: str) -> None:
        """`names`: further texts to replace, each by `<key>`."""
        known = {str(place.clew_home): "<clew home>", str(place.home): "<home>", str(place.project): "<project>"}
        known |= {path: f"<{name}>" for name, path in names.items()}
        # A session's folder is called after its project, with every mark of the path replaced.
        self._slug = re.compile(re.escape(str(place.clew_home)) + r"/projects/[^/\s\"]+")
        self._known = sorted(known.items(), key=lambda item: -len(item[0]))
        self._ids: dict[str, str] = {}

    def text(self, value: str) -> str:
        """A text with placeholders."""
        value = self._slug.sub("<sessions>", value)
        for found, name in self._known:
            value = value.replace(found, name)
        value = UUID.sub(lambda match: self._ids.setdefault(match[0], f"<id {len(self._ids) + 1}>"), value)
        for pattern, words in PATTERNS:
            value = pattern.sub(words, value)
        return value

    def value(self, value: Any, key: str = "") -> Any:
        """A document with placeholders, in the order in which it was written."""
        match value:
            case dict():
                return {name: self.value(inner, name) for name, inner in value.items() if name not in LEFT_OUT}
            case list():
                return [self.value(inner) for inner in value]
            case str():
                return "<version>" if key in VERSIONS and value == __version__ else self.text(value)
            case int() | float() if key in MEASURED and not isinstance(value, bool):
                return f"<{key}>"
            case _:
                return value

    def document(self, raw: str) -> Any:
        """One line of JSON. It must be written as compactly as JSON can be: what is lost here is pinned by this."""
        found = json.loads(raw)
        again = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
        assert again == raw, f"not the compact form: {raw[:300]}"
        return self.value(found)


def shown(document: Any) -> str:
    """A document on many lines; texts are broken where they hold a line break, so that a diff shows the line."""
    return json.dumps(document, indent=1, ensure_ascii=False).replace("\\n", "\\n\n")


def in_order(documents: Iterable[Json]) -> list[Json]:
    """The documents with those at the end that are written beside the turn: their place among the others is nobody's
    promise and a matter of a moment. Labels and titles are made by a task of their own; a control request is answered
    while the turn goes on."""
    return sorted(documents, key=is_aside)


def is_aside(document: Json) -> bool:
    kind = document["type"]
    return kind in ASIDE or (kind == "system" and document.get("subtype") == "title")


def all_shown(documents: Iterable[Json]) -> str:
    """Documents one after another, each below its type, with no numbers: one more moves nothing but itself."""
    return "\n".join(f"--- {one['type']}{' (beside)' * is_aside(one)}\n{shown(one)}" for one in documents)


def same(name: str, now: str) -> None:
    """Compares with the snapshot of this name; `CLEW_UPDATE_SNAPSHOTS=1` writes it anew."""
    path = SNAPSHOTS / f"{name}.txt"
    now += "\n"
    if os.environ.get("CLEW_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(now, encoding="utf-8")
    pinned = path.read_text(encoding="utf-8")
    if now != pinned:
        rows = difflib.unified_diff(pinned.splitlines(), now.splitlines(), "pinned", "now", lineterm="", n=4)
        raise AssertionError(f"{name} differs from its snapshot (see tests/pinned/README.md):\n" + "\n".join(rows))
