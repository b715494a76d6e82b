"""Clearing without a model: old tool outputs and media leave the view, the newest of each kind stay.

What is decided here is recorded with its literal words (`ViewTrimmed`), so that bytes already sent change only by that
event, and the log keeps what was cleared. Results that the model has not seen yet are never touched.
"""

import math
import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from clew.config.schema import Compaction
from clew.engine.compaction.slimming import (
    MAX_MEDIA,
    MAX_MEDIA_CHARS,
    Media,
    is_media,
    media_kind,
    media_type,
)
from clew.engine.result_budget import EMPTY_RESULT
from clew.ledger.calls import EDIT_TOOLS, READ_TOOLS, SHELL_TOOLS, tool_name
from clew.llm.estimate import estimate_part, estimate_text
from clew.protocol.display import DiffBlock, FileBlock
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.event_kinds.context import TrimmedPart, ViewTrimmed
from clew.protocol.ids import CallId, EntryId
from clew.protocol.meant_calls import meant_calls
from clew.protocol.messages import DocumentPart, ImagePart, ToolCallPart, ToolResultPart, result_text
from clew.transcript.chain.view import Replacements
from clew.transcript.mapping.retelling import details_of

Trigger = Literal["idle", "size", "asked", "overflow", "media", "media_limit"]
"""Why: a long pause, too much of it, the user, a request that did not fit, one whose media were refused, or more media
than a request may carry. `without_unseen` has a reason of its own: a request that was refused."""

FILE_TOOLS = READ_TOOLS | EDIT_TOOLS
CLEARABLE = FILE_TOOLS | SHELL_TOOLS | {"BashOutput", "TaskOutput", "Grep", "Glob", "LS", "WebFetch", "WebSearch"}
"""Tools whose output can be had again, or was of use only when it came."""
PATH_ARGUMENTS = ("file_path", "notebook_path", "path")
SAMPLE_CHARS, MAX_SAMPLE_CHARS = 1_000, 50_000
LEFT_OUT = (
    "[The result of {tool} is left out: the provider refused the request that held it ({error}). The call itself was "
    "made; look at what it did before you make it again.]"
)
WATERMARK = 0.5
"""Too much output is cleared down to this share of the limit, so that it does not happen again at the next result."""


class Trim(Struct, frozen=True, kw_only=True):
    """What leaves the view, and what the tools must forget with it."""

    event: ViewTrimmed
    forget: tuple[str, ...] = ()
    """Files whose content the model no longer holds, as absolute paths: an edit needs a new read."""
    forget_all: bool = False
    """A file's output was cleared and nobody can say which file it was."""
    results_kept: int = 0
    media_cleared: int = 0
    media_kept: int = 0

    @property
    def note(self) -> str:
        """For the debug log."""
        cleared = len(self.event.results)
        return (
            f"{self.event.why}: {cleared} results cleared, {self.results_kept} kept; "
            f"{self.media_cleared} media cleared, {self.media_kept} kept; {self.event.tokens_freed} tokens"
        )


def due(
    chain: Sequence[Entry], replacements: Replacements, settings: Compaction, *, idle_s: float | None
) -> Literal["idle", "size"] | None:
    """Whether it is time to clear. `idle_s`: since the last request ended; None: there was none."""
    minutes = settings.idle_minutes
    if minutes is not None and idle_s is not None and math.isfinite(idle_s) and idle_s >= minutes * 60:
        return "idle"
    limit = settings.tool_output_chars
    if limit is not None and _look(chain, replacements).chars > limit:
        return "size"
    return None


def trim(
    chain: Sequence[Entry], replacements: Replacements, settings: Compaction, why: Trigger, *, entry_id: EntryId
) -> Trim | None:
    """What to clear; None when there is nothing."""
    found = _look(chain, replacements)
    keep = max(1, settings.keep_recent)
    if why == "media":
        return _trim_of(found, [], [*found.pasted, *found.nested, *found.inside], why, entry_id)
    if why == "media_limit":
        return _trim_of(found, [], _media_to_limit(found), why, entry_id)
    if why == "size":
        limit = settings.tool_output_chars
        cleared = _down_to(found, keep, math.inf if limit is None else limit)
        return _trim_of(found, cleared, [], why, entry_id)
    done = _trim_of(found, *_all_old(found, keep), why, entry_id)
    if done is None and why == "overflow":  # better one of each than none at all
        done = _trim_of(found, *_all_old(found, 1), why, entry_id)
    return done


def without_unseen(chain: Sequence[Entry], replacements: Replacements, error: str, *, entry_id: EntryId) -> Trim | None:
    """The provider refused the request: the results that no request was answered with yet leave the view, and the model
    is told why. None: there are none."""
    found = _look(chain, replacements)
    outputs = [output for output in found.unseen.values() if output.results]
    if not outputs:
        return None
    words = {output.call_id: LEFT_OUT.format(tool=output.tool, error=error) for output in outputs}
    files = [paths for output in outputs for paths in output.paths()]
    event = ViewTrimmed(entry_id=entry_id, results=words, why="refused")
    return Trim(event=event, forget=_forgotten(files, ()), forget_all=not all(files))


class _Picture(Struct, frozen=True):
    """A medium in the view."""

    entry_id: EntryId
    part: int
    media: Media
    nested: int | None = None
    place: int = 0
    """Of its entry in the chain."""
    seen: bool = True
    """The model has answered since."""


class _Result(Struct, frozen=True):
    """One tool result in the view."""

    entry: UserEntry
    number: int
    part: ToolResultPart
    call: ToolCallPart | None
    preview: str | None
    """What stands for it already."""
    keeps_media: bool = False
    """The preview stands for its words alone."""
    place: int = 0
    seen: bool = True

    @property
    def tool(self) -> str:
        """Our name of the tool; the log's where the call is gone."""
        return tool_name(self.call.name if self.call is not None else details_of(self.entry.tool_use_result).name)

    @property
    def text(self) -> str:
        """Its words, as they stand in the view."""
        return result_text(self.part) if self.preview is None else self.preview

    def pictures(self, gone: Collection[tuple[int, int | None]]) -> list[_Picture]:
        """The media inside, without those that left before."""
        if isinstance(self.part.content, str) or (self.preview is not None and not self.keeps_media):
            return []
        return [
            _Picture(self.entry.uuid, self.number, inner, nested, self.place, self.seen)
            for nested, inner in enumerate(self.part.content)
            if isinstance(inner, ImagePart | DocumentPart) and is_media(inner) and (self.number, nested) not in gone
        ]

    def paths(self) -> set[str]:
        """The files that the tool really touched; else what the model wrote, seen from where it stood."""
        shown = details_of(self.entry.tool_use_result).display
        real = {block.path for block in shown if isinstance(block, FileBlock | DiffBlock)}
        if real or self.call is None:
            return real
        arguments: dict[str, Any] = self.call.arguments
        named = next((value for name in PATH_ARGUMENTS if isinstance(value := arguments.get(name), str) and value), "")
        return {os.path.normpath(os.path.join(self.entry.cwd, os.path.expanduser(named)))} if named else set()


class _Output(Struct):
    """The results of one call id in the view; a reused id is cleared as a whole or not at all."""

    call_id: CallId
    tool: str
    results: list[_Result] = field(default_factory=list[_Result])
    chars: int = 0
    place: int = 0
    fixed: bool = False
    """Something under this id may not be cleared."""

    def paths(self) -> list[set[str]]:
        """The files of each result."""
        return [result.paths() for result in self.results] if self.tool in FILE_TOOLS else []


class _Found(Struct):
    """What of a view could be cleared, oldest first."""

    chars: int = 0
    """Of all outputs together, those that nobody may touch yet included."""
    outputs: list[_Output] = field(default_factory=list[_Output])
    pasted: list[_Picture] = field(default_factory=list[_Picture])
    nested: list[_Picture] = field(default_factory=list[_Picture])
    """In results of tools whose words stay."""
    unseen: dict[CallId, _Output] = field(default_factory=dict[CallId, _Output])
    """The results that the model has not answered yet, whatever their tool."""
    inside: list[_Picture] = field(default_factory=list[_Picture])
    """In results that are cleared as a whole or failed, and all that the model has not seen yet."""


def _look(chain: Sequence[Entry], replacements: Replacements) -> _Found:
    calls: dict[CallId, ToolCallPart] = {}
    last_reply = -1
    for place, entry in enumerate(chain):
        if isinstance(entry, AssistantEntry) and not entry.is_api_error_message:
            last_reply = place
            calls.update((call.id, call) for call in meant_calls(entry.message.content))
    found = _Found()
    outputs: dict[CallId, _Output] = {}
    cleared = replacements.cleared
    for place, entry in enumerate(chain):
        if not isinstance(entry, UserEntry) or isinstance(entry.message.content, str):
            continue
        gone = {(part.part, part.nested) for part in replacements.media.get(entry.uuid, ())}
        seen = place < last_reply
        for number, part in enumerate(entry.message.content):
            if isinstance(part, ImagePart | DocumentPart):
                if is_media(part) and (number, None) not in gone:
                    picture = _Picture(entry.uuid, number, part, None, place, seen)
                    (found.pasted if seen else found.inside).append(picture)
            elif isinstance(part, ToolResultPart) and part.call_id not in cleared:
                preview = replacements.results.get(part.call_id)
                keeps = preview is not None and replacements.keeps_media(part.call_id)
                result = _Result(entry, number, part, calls.get(part.call_id), preview, keeps, place, seen)
                output = outputs.setdefault(part.call_id, _Output(part.call_id, result.tool))
                output.place = place
                if not seen:
                    found.unseen.setdefault(part.call_id, _Output(part.call_id, result.tool)).results.append(result)
                _sort(result, result.pictures(gone), output, found, seen=seen)
    found.outputs = sorted((one for one in outputs.values() if not one.fixed), key=lambda one: one.place)
    return found


def _sort(result: _Result, pictures: list[_Picture], output: _Output, found: _Found, *, seen: bool) -> None:
    """What may become of a result and of its media."""
    tool, text = result.tool, result.text
    if tool not in CLEARABLE or result.part.is_error:
        output.fixed = True
        (found.nested if seen and not result.part.is_error else found.inside).extend(pictures)
        return
    found.inside.extend(pictures)
    if text.strip() in ("", EMPTY_RESULT) and not pictures:
        output.fixed = True
        return
    output.fixed = output.fixed or not seen or output.tool != tool
    output.results.append(result)
    output.chars += len(text)
    found.chars += len(text)


def _all_old(found: _Found, keep: int) -> tuple[list[_Output], list[_Picture]]:
    """All but the newest of each kind."""
    return found.outputs[:-keep], [*found.pasted[:-keep], *found.nested[:-keep]]


def _media_to_limit(found: _Found) -> list[_Picture]:
    """The oldest media, until half of what a request may carry is left, so that the next picture changes nothing that
    was sent. Media that no request had yet go only where they are too many by themselves; the newest stays."""
    media = sorted(
        [*found.pasted, *found.nested, *found.inside], key=lambda one: (one.place, one.part, one.nested or 0)
    )
    count, chars = len(media), sum(len(one.media.source.data) for one in media)
    cleared: list[_Picture] = []
    for one in media[:-1]:
        share = WATERMARK if one.seen else 1
        if count <= MAX_MEDIA * share and chars <= MAX_MEDIA_CHARS * share:
            break
        cleared.append(one)
        count, chars = count - 1, chars - len(one.media.source.data)
    return cleared


def _down_to(found: _Found, keep: int, limit: float) -> list[_Output]:
    """The oldest outputs, until what stays is at most half of the limit."""
    left = found.chars
    cleared: list[_Output] = []
    if left <= limit:
        return cleared
    for output in found.outputs[:-keep]:
        if left <= limit * WATERMARK:
            break
        cleared.append(output)
        left -= output.chars
    return cleared


def _trim_of(
    found: _Found, cleared: list[_Output], pictures: list[_Picture], why: Trigger, entry_id: EntryId
) -> Trim | None:
    if not cleared and not pictures:
        return None
    words = {output.call_id: _marker(output) for output in cleared}
    freed = _tokens_of([result for output in cleared for result in output.results])
    freed -= sum(estimate_text(text) for text in words.values())
    media = tuple(
        TrimmedPart(entry_id=one.entry_id, part=one.part, text=_media_marker(one.media), nested=one.nested)
        for one in pictures
    )
    freed += sum(
        estimate_part(one.media) - estimate_text(trimmed.text) for one, trimmed in zip(pictures, media, strict=True)
    )
    kept = [output for output in found.outputs if output.call_id not in words]
    files = [paths for output in cleared for paths in output.paths()]
    event = ViewTrimmed(entry_id=entry_id, results=words, media=media, why=why, tokens_freed=max(0, round(freed)))
    return Trim(
        event=event,
        forget=_forgotten(files, kept),
        forget_all=not all(files),
        results_kept=len(kept),
        media_cleared=len(media),
        media_kept=max(0, len(found.pasted) + len(found.nested) - len(pictures)),
    )


def _tokens_of(results: Sequence[_Result]) -> float:
    """About how many tokens; thousands of results are not weighed one by one."""
    texts = [result.text for result in results]
    sample = "".join(text[:SAMPLE_CHARS] for text in texts)[:MAX_SAMPLE_CHARS]
    words = estimate_text(sample) / max(1, len(sample)) * sum(map(len, texts))
    return words + sum(estimate_part(one.media) for result in results for one in result.pictures(()))


def _forgotten(files: Iterable[set[str]], kept: Iterable[_Output]) -> tuple[str, ...]:
    """Each file once; not those whose whole content a kept Write still shows."""
    held = {path for output in kept if output.tool == "Write" for paths in output.paths() for path in paths}
    return tuple(dict.fromkeys(path for paths in files for path in sorted(paths) if path not in held))


def _marker(output: _Output) -> str:
    return f"[Old output of {output.tool} was cleared to save room. Call it again if it is needed.]"


def _media_marker(part: Media) -> str:
    return f"[{media_kind(part)} cleared to save room: {media_type(part)}]"
