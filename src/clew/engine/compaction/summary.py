"""The message that a compacted view begins with: joined by code from what was carried, the sections, and files."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from clew.engine.compaction.budgets import MAX_FILES, Budgets
from clew.engine.compaction.carry import Carried, Crossing
from clew.engine.compaction.framing import fenced, listed, one_line
from clew.engine.compaction.live_state import LiveState
from clew.llm.estimate import estimate_text
from clew.prompts.system_prompt import prompt_text
from clew.protocol.event_kinds.context import ReceiptItem, SectionKept
from clew.protocol.ids import EntryId
from clew.protocol.messages import Part, TextPart

MAX_TITLES = 40
PLAN_MODE = (
    "Plan mode is on: read and think, change nothing. No file may be written and no command with an effect may run "
    "until the user accepts a plan."
)


class SectionText(Struct, frozen=True, kw_only=True):
    """A section as it stands in a summary; without text only its title is left."""

    id: EntryId | None
    title: str
    text: str = ""

    @property
    def tokens(self) -> int:
        """How large it is."""
        return round(estimate_text(self.title) + estimate_text(self.text)) + 6

    def item(self) -> ReceiptItem:
        """Its line in the receipt, from which the next summary takes it."""
        kind = "section" if self.text else "section title"
        words = f"{self.title}\n{self.text}" if self.text else self.title
        return ReceiptItem(fate="summarised", kind=kind, text=words, source=self.id, tokens=self.tokens)


class FileText(Struct, frozen=True, kw_only=True):
    """A file as it is now, word for word."""

    path: str
    text: str

    @property
    def tokens(self) -> int:
        """How large it is."""
        return round(estimate_text(self.text)) + 12


class Reread(Struct, frozen=True, kw_only=True):
    """Files that were looked at again; `gone` are those of which there is nothing to show."""

    files: tuple[FileText, ...] = ()
    gone: frozenset[str] = frozenset()


def section_of(source: SectionKept | ReceiptItem) -> SectionText:
    """A section, as it was kept or as the last receipt tells it."""
    if isinstance(source, SectionKept):
        return SectionText(id=source.section_id, title=source.title, text=source.text)
    if source.kind == "section title":
        return SectionText(id=source.source, title=source.text)
    title, _, text = source.text.partition("\n")
    return SectionText(id=source.source, title=title, text=text)


def joined(sections: Sequence[SectionText], max_tokens: int) -> tuple[tuple[SectionText, ...], int]:
    """The newest sections whole, older ones as their titles, and how many of the oldest found no room at all."""
    left = max_tokens
    whole: dict[int, SectionText] = {}
    for at in range(len(sections) - 1, -1, -1):
        section = sections[at]
        if section.tokens > left and whole:
            break
        whole[at] = section if section.tokens <= left else SectionText(id=section.id, title=section.title)
        left -= whole[at].tokens
    titles: dict[int, SectionText] = {}
    for at in range(min(whole, default=len(sections)) - 1, -1, -1):
        title = SectionText(id=sections[at].id, title=sections[at].title)
        if len(titles) >= MAX_TITLES or title.tokens > left + max_tokens // 5:
            break
        titles[at] = title
        left -= title.tokens
    kept = titles | whole
    return tuple(kept[at] for at in sorted(kept)), len(sections) - len(kept)


async def reread(crossing: Crossing, live: LiveState, budgets: Budgets) -> Reread:
    """The most relevant files as they are now: pinned ones, then those touched last. What is too long stays a name."""
    pinned = [item.text.removeprefix("@") for item in crossing.of("pinned file")]
    touched = [item.text for item in reversed(crossing.of("file changed", "file read"))]
    left = budgets.files
    files: list[FileText] = []
    gone: list[str] = []
    for path in dict.fromkeys([*pinned, *touched]):
        if len(files) >= MAX_FILES or left <= 0:
            break
        look = await live.read_file(path, min(budgets.file, left))
        file = FileText(path=path, text=look.text)
        if look.state == "gone":
            gone.append(path)
        elif look.state == "text" and file.tokens <= min(budgets.file, left):
            left -= file.tokens
            files.append(file)
    return Reread(files=tuple(files), gone=frozenset(gone))


def summary_parts(
    crossing: Crossing, sections: Sequence[SectionText], looked: Reread | None = None, *, forgotten: int = 0
) -> tuple[Part, ...]:
    """The whole message. Equal input gives equal bytes."""
    reread = looked or Reread()
    record = "\n\n".join(filter(None, _blocks(crossing, sections, reread, forgotten)))
    parts: list[Part] = [TextPart(text=record)]
    if reread.files:
        shown = "\n\n".join(f"{one_line(file.path)}\n{fenced(file.text)}" for file in reread.files)
        parts.append(TextPart(text=f"## Files as they are now\n\n{shown}"))
    return tuple(parts)


def _blocks(crossing: Crossing, sections: Sequence[SectionText], looked: Reread, forgotten: int) -> Iterator[str]:
    asker = "the agent that started you" if crossing.is_child else "the user"
    yield prompt_text("compacted").replace("What the user said", f"What {asker} said")
    yield f"## What {asker} said\n\n" + "\n\n".join(_said(crossing)) if any(_said(crossing)) else ""
    yield "## Open tasks\n\n" + _open_tasks(crossing)
    state = list(_state(crossing))
    yield "## How things stand\n\n" + "\n\n".join(state) if state else ""
    if sections or forgotten:
        yield (
            "## Record of what was done\n\nWritten by a model from the log, older first. It tells what happened; it "
            f"sets no tasks.\n{fenced(_record(sections, forgotten))}"
        )
    embedded = {file.path for file in looked.files}
    names = [
        f"{one_line(item.text)} ({'changed' if item.kind == 'file changed' else 'read'})"
        for item in crossing.of("file changed", "file read")
        if item.text not in embedded and item.text not in looked.gone
    ]
    pinned = [f"{one_line(item.text)} (pinned)" for item in crossing.of("pinned file") if item.text[1:] not in embedded]
    yield "## Other files that were touched\n\n" + _bullets([*pinned, *names]) if names or pinned else ""


def _said(crossing: Crossing) -> Iterator[str]:
    shown = [item for item in crossing.items if not item.is_kept]
    pinned = [item for item in shown if item.kind == "pin"]
    if pinned:
        yield "Pinned, in force until unpinned:\n" + _bullets(item.text for item in pinned)
    remarks = [item for item in shown if item.kind == "remark"]
    if remarks:
        yield (
            "Said along the way, oldest first; requests among it were answered or overtaken, do none of them again; "
            "rules, wishes and facts hold until the user says otherwise:\n" + _bullets(item.text for item in remarks)
        )
    goal = [item for item in shown if item.kind == "goal"]
    if goal:
        yield "The goal, as it was first put:\n" + _bullets(item.text for item in goal)
    words = [item for item in shown if item.kind in ("words", "aside")]
    if words:
        yield (
            "Asked along the way, oldest first; these requests were answered or overtaken, do none of them again, but "
            "what they say about how to work still holds:\n" + _bullets(item.text for item in words)
        )
    request = next((item for item in crossing.items if item.kind == "request"), None)
    if request is not None and not request.is_kept:
        how = "answered already" if crossing.is_answered else "not finished: go on with it"
        yield f"Last request ({how}):\n{listed(request.text)}"


def _open_tasks(crossing: Crossing) -> str:
    todos = crossing.of("todo", "current todo")
    if not todos:
        return "None, but for the last request if it is not finished."
    current = [item for item in todos if item.kind == "current todo"]
    waiting = [item for item in todos if item.kind == "todo"]
    blocks = ["In progress:\n" + _bullets(item.text for item in current)] if current else []
    blocks += ["Not begun:\n" + _bullets(item.text for item in waiting)] if waiting else []
    return "\n\n".join(blocks)


def _state(crossing: Crossing) -> Iterator[str]:
    for item in crossing.of("mode"):
        yield PLAN_MODE if item.text == "plan" else f"Permission mode: {one_line(item.text)}"
    for kind, words in (
        ("plan", "The plan:"),
        ("shell", "Shells that run in the background, with their ids:"),
        ("agent", "Agents at work, with their ids:"),
        ("decision", "What was allowed, refused and answered:"),
        ("tool", "Tools that were looked up and can be called:"),
    ):
        texts = [item.text for item in crossing.of(kind) if not _is_shown(item)]
        if texts:
            yield f"{words}\n{_bullets(texts)}"


def _is_shown(item: Carried) -> bool:
    return item.is_kept and item.kind in ("decision", "plan")


def _record(sections: Sequence[SectionText], forgotten: int) -> str:
    lines = [f"({forgotten} earlier sections are only in the log.)"] if forgotten else []
    for section in sections:
        lines.append(f"# {one_line(section.title, 120)}")
        if section.text:
            lines.append(section.text)
    return "\n".join(lines)


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(map(listed, texts))
