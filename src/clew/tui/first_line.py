"""The one line on an empty screen: where one is, what was last done here, where help is."""

from functools import partial

from clew.presentation.status import first_row, last_here
from clew.protocol.lookups.place import ListSessions, SessionsListed
from clew.tui.conversation import ScreenConversation
from clew.tui.reading.transcript import Transcript

LOOKED_AT = 5
"""Sessions among which the last one of this place is looked for."""


def show_first_line(conversation: ScreenConversation, transcript: Transcript) -> None:
    """Show it at once; what was last done here joins it when it is known."""
    facts = conversation.story.facts
    transcript.first_row = partial(first_row, facts, None)

    def known(listed: SessionsListed) -> None:
        transcript.first_row = partial(first_row, facts, last_here(listed.sessions, facts.cwd))
        transcript.refresh()

    conversation.look_up(ListSessions(limit=LOOKED_AT), known, lambda _: None)
