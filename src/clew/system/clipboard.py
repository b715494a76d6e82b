"""A picture from the clipboard of the desktop, where a program can give it: a terminal itself pastes only text."""

import shutil
import subprocess
import sys
from collections.abc import Mapping

MAX_BYTES = 20_000_000
TIMEOUT_S = 3.0
_PNG = b"\x89PNG\r\n\x1a\n"


def clipboard_commands(env: Mapping[str, str], platform: str = sys.platform) -> list[list[str]]:
    """The programs that could give a picture here, the likeliest first."""
    asked: list[list[str]] = []
    if env.get("WAYLAND_DISPLAY"):
        asked.append(["wl-paste", "--no-newline", "--type", "image/png"])
    if env.get("DISPLAY"):
        asked.append(["xclip", "-selection", "clipboard", "-t", "image/png", "-o"])
    if platform == "darwin":
        asked.append(["pngpaste", "-"])
    return [[found, *rest] for name, *rest in asked if (found := shutil.which(name, path=env.get("PATH")))]


def clipboard_picture(commands: list[list[str]]) -> bytes | None:
    """The picture as PNG; None when there is none. Blocks for a moment: call it from a thread."""
    for command in commands:
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if ended.returncode == 0 and ended.stdout.startswith(_PNG) and len(ended.stdout) <= MAX_BYTES:
            return ended.stdout
    return None
