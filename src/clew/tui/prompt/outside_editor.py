"""The person's own editor over the app: the screen is given away and taken back, the session goes on meanwhile."""

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import Any

from textual.app import App, SuspendNotSupported

from clew.composing.outside import EditorProblem, edit_outside, editor_command


async def edited_outside(app: App[Any], text: str, *, cwd: str | None = None) -> str:
    """The text as the editor left it; EditorProblem says why there is none."""
    command = editor_command(os.environ)
    try:
        # Without repaints: the screen belongs to the editor, while events still arrive.
        with app.batch_update(), nullcontext() if app.is_headless else app.suspend(), _interrupts_for_the_editor():
            return await asyncio.to_thread(edit_outside, text, command, cwd=cwd)
    except SuspendNotSupported as error:
        raise EditorProblem("This terminal cannot be given to an editor.") from error
    finally:
        app.refresh(repaint=True, layout=True)


@contextmanager
def _interrupts_for_the_editor() -> Generator[None]:
    """Ctrl-C in the editor reaches us too; it is meant for the editor alone. A handler, not "ignore": that the editor
    would inherit."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
