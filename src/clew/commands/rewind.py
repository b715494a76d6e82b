"""/rewind: files, conversation or both back to before a prompt; and the words for what going back did."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.event_kinds.context import FileRestore, RewindScope
from clew.protocol.events import Rewound
from clew.protocol.ids import EntryId
from clew.protocol.lookups.session import PreviewRewind, RewindPreviewed
from clew.protocol.ops import Rewind
from clew.text.figures import change, count, restore_words, shown_path

ABOUT = CommandHelp(
    name="rewind",
    usage="/rewind [N | ENTRY] [--files | --conversation | --both] [--preview] [--force]",
    summary="Go back to before prompt N; alone it lists the prompts.",
    details=(
        "  ENTRY           the id of an entry of the transcript, or its start: back to right after it",
        "  --both          files and conversation (default); --files, --conversation: only these",
        "  --preview       show what would change",
        "  --force         also over what somebody else changed since",
    ),
)
SCOPES: dict[str, RewindScope] = {"--files": "files", "--conversation": "conversation", "--both": "both"}
MAX_FILES = 20
MAX_PATCH_LINES = 12
MAX_PROMPTS = 20


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event; the list of prompts is one too."""
    words = argument.split()
    flags = [word for word in words if word.startswith("--")]
    names = [word for word in words if not word.startswith("--")]
    scopes: list[RewindScope] = [SCOPES[flag] for flag in flags if flag in SCOPES]
    if unknown := [flag for flag in flags if flag not in SCOPES and flag not in ("--preview", "--force")]:
        return usage_error(ABOUT, f"Not understood: {' '.join(unknown)}")
    if len(names) > 1 or len(set(scopes)) > 1:
        return usage_error(ABOUT, "One prompt, and one of --files, --conversation and --both.")
    if not names:
        if flags:
            return usage_error(ABOUT, "Back to which prompt?")
        return CommandResult(lookups=(PreviewRewind(),))
    to, scope = EntryId(names[0]), scopes[0] if scopes else "both"
    if "--preview" in flags:
        return CommandResult(lookups=(PreviewRewind(to=to, scope=scope),))
    return CommandResult(ops=(Rewind(to=to, scope=scope, force="--force" in flags),))


def preview_lines(event: RewindPreviewed, cwd: str) -> Iterator[str]:
    """What RewindPreviewed says. Names, patches and prompts are somebody else's words: the screen makes them safe."""
    if not event.files and event.prompts and event.to is None and not event.warnings:
        yield "Prompts (/rewind N goes back to before one, --preview shows it first):"
        yield from _some([f"  {text}" for text in event.prompts[-MAX_PROMPTS:]], MAX_PROMPTS)
        if event.windows:
            yield f"{window_words(event.windows)} Going back to an earlier one brings back the window of then."
        return
    yield f"Preview, nothing was changed: {count(len(event.files), 'file')}."
    for item in event.files[:MAX_FILES]:
        lines = item.patch.splitlines()
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        lead = f"{item.did} " if item.did else ""
        yield f"  {lead}{_name(item, cwd)} {change(added, removed)}"
        if item.conflict:
            yield f"    left alone without --force: {' '.join(item.conflict.split())}"
        yield from _some([f"    {line}" for line in lines], MAX_PATCH_LINES)
    if len(event.files) > MAX_FILES:
        yield f"  … and {count(len(event.files) - MAX_FILES, 'more file', 'more files')}"
    if event.prompts:
        yield "Prompts that leave the conversation:"
        yield from _some([f"  {text}" for text in event.prompts], MAX_PROMPTS)
    for line in event.warnings:
        yield f"Not restored: {' '.join(line.split())}"


def window_words(windows: tuple[int, ...]) -> str:
    """Where /clear emptied the window."""
    numbers = ", ".join(map(str, windows))
    return f"/clear emptied the window before {'prompt' if len(windows) == 1 else 'prompts'} {numbers}."


def rewound_lines(event: Rewound, cwd: str) -> Iterator[str]:
    """What Rewound says."""
    done = [item for item in event.files if not item.conflict]
    left = [item for item in event.files if item.conflict]
    verb = {"undo": "Undone", "redo": "Redone", "rewind": "Rewound"}[event.direction]
    if event.scope == "conversation":
        yield f"{verb}: the conversation."
    else:
        both = "the conversation and " if event.scope == "both" else ""
        yield f"{verb}: {both}{restore_words([item.did for item in done])}."
    yield from _some([f"  {item.did} {_name(item, cwd)}".replace("   ", "  ") for item in done], MAX_FILES)
    lines = [f"  left alone: {_name(item, cwd)}: {' '.join(item.conflict.split())}" for item in left]
    yield from _some(lines, MAX_FILES)
    if left:
        yield "  --force restores these too, where that is possible."


def _name(item: FileRestore, cwd: str) -> str:
    return " ".join(shown_path(item.path, cwd).split())


def _some(lines: list[str], limit: int) -> Iterator[str]:
    yield from lines[:limit]
    if len(lines) > limit:
        yield f"  … and {len(lines) - limit:,} more"


COMMAND = Command(help=ABOUT, run=run)
