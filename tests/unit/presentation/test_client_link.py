"""The link to a session, where it ends before it began."""

from clew.presentation.client_link import ClientLink
from tui.screen_lab import PlayedClient


async def test_what_never_started_ends_without_an_error() -> None:
    link = ClientLink(PlayedClient(), on_event=lambda _: None, on_end=lambda: None)
    await link.finish(1.0)
    await link.stop()
