"""What the model is told of things that happened beside the conversation."""

from collections.abc import Callable

from clew.engine.middleware.reminders import Reminders
from clew.protocol.events import Event, RecapReady, Rewound

MAX_NAMED = 20


def share_recaps(reminders: Reminders) -> Callable[[Event], None]:
    """The model learns what the user was told about where things stand."""

    def share(event: Event) -> None:
        if isinstance(event, RecapReady):
            reminders.add(f"[The user was shown this recap: {event.text}]")

    return share


def share_restores(reminders: Reminders) -> Callable[[Event], None]:
    """The model learns that files are not as it left them."""

    def share(event: Event) -> None:
        if isinstance(event, Rewound) and (names := [item.path for item in event.files if not item.conflict]):
            more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
            words = "undone changes were made again" if event.direction == "redo" else "changes were taken back"
            reminders.add(f"[The user restored files, {words}: {', '.join(names[:MAX_NAMED])}{more}]")

    return share
