"""What the desktop's clipboard holds that a terminal cannot paste: a picture, as the path of a file of ours."""

import asyncio
import os
import time
from pathlib import Path

from clew.composing.images import kept_picture
from clew.system.clipboard import clipboard_commands, clipboard_picture


async def copied_outside(home: Path | None) -> str | None:
    """The path of the picture, kept below `home`; None when there is none. OSError when it cannot be kept."""
    commands = clipboard_commands(os.environ)
    if home is None or not commands:
        return None
    data = await asyncio.to_thread(clipboard_picture, commands)
    return None if data is None else await asyncio.to_thread(kept_picture, data, home, now_s=time.time())
