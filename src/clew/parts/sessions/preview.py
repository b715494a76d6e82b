"""The last exchange of a session, for whoever chooses one from a list: what was asked last, and the answer."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from clew.catalog.agent_places import agent_places
from clew.catalog.find_session import find_session
from clew.catalog.found_session import FoundSession
from clew.catalog.opening import open_found
from clew.host.workspace import Workspace
from clew.protocol.events import Durable, PartCompleted, PromptAccepted, SessionRow
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.messages import TextPart, text_of
from clew.transcript.errors import TranscriptError
from clew.transcript.log.store import SessionStore
from clew.transcript.mapping.retelling import events_of
from clew.transcript.mapping.typed_text import is_prompt
from clew.transcript.past.scrollback import Scrollback

EVENTS = 200
"""How far back in a session of ours the last prompt is looked for."""
MAX_FOREIGN_BYTES = 64 * 1024 * 1024
MAX_LINES = 12
"""Of the prompt and of the answer each."""
MAX_LINE_CHARS = 400
FIND_BUDGET_S = 2.0


def session_preview(workspace: Workspace, session_id: str, row: SessionRow | None = None) -> tuple[str, ...]:
    """Blocks. `row`: what a list said of it, so that it need not be looked for. Raises LookupRefused when there is no
    such session, or it is too long to be looked into quickly."""
    try:
        found = _listed(row) if row is not None and row.path else _found(workspace, session_id)
        events = tuple(_events(found))
    except TranscriptError as error:
        raise LookupRefused(str(error)) from error
    except OSError as error:
        raise LookupRefused(f"the session cannot be read: {error.strerror}") from error
    return last_exchange(events)


def _listed(row: SessionRow) -> FoundSession:
    return FoundSession(agent=row.agent, path=Path(row.path), session_id=row.session_id, title=row.title)


def _found(workspace: Workspace, session_id: str) -> FoundSession:
    places = agent_places(workspace.settings.foreign)
    return find_session(
        SessionStore(workspace.home),
        session_id,
        workspace.cwd,
        homes=places.homes,
        env=workspace.env,
        agents=places.agents,
        budget_s=FIND_BUDGET_S,
    )


def _events(found: FoundSession) -> Iterator[Durable]:
    if found.is_ours:
        page = Scrollback(found.path, session_id=found.session_id).page(None, EVENTS)
        yield from (recorded.event for recorded in page.events)
        return
    if found.path.is_file() and found.path.stat().st_size > MAX_FOREIGN_BYTES:
        raise LookupRefused("this session is too long for a preview")
    for entry in open_found(found).entries:
        yield from events_of(entry)


def last_exchange(events: Iterable[Durable]) -> tuple[str, ...]:
    """The last prompt, marked, and the last words of the answer to it."""
    prompt, answer = "", ""
    for event in events:
        if isinstance(event, PromptAccepted) and not event.hidden and is_prompt(text_of(event.content)):
            prompt, answer = text_of(event.content), ""
        elif isinstance(event, PartCompleted) and isinstance(event.part, TextPart) and event.part.text.strip():
            answer = event.part.text
    asked = [f"{'> ' if number == 0 else '  '}{line}" for number, line in enumerate(_lines(prompt))]
    return (*asked, *_lines(answer))


def _lines(text: str) -> list[str]:
    lines = [line[:MAX_LINE_CHARS] for line in text.strip().splitlines()]
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], "…"]
