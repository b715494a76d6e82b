"""The clipboard: text goes to the desktop's program, tmux, the terminal itself (OSC 52), or a file where none is.

A program and tmux say whether they took the text; a terminal never answers. So a copy counts as made when one of the
former took it, or when the terminal is known to take OSC 52; otherwise the text is kept in a file too, and its path is
named. A picture is asked for the other way: a terminal itself pastes only text.
"""

import base64
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from clew.system.environment import own_program
from clew.system.private_files import replace_private

MAX_TERMINAL_BYTES = 74_000
"""Terminals take no more than 100,000 letters of base64."""
SCREEN_CHUNK = 76
"""GNU screen passes a string on only in pieces of so many letters."""
TIMEOUT_S = 3.0
KEPT_NAME = "copied.txt"
MAX_PICTURE_BYTES = 20_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
TAKES = ("foot", "xterm-kitty", "alacritty", "xterm-ghostty", "contour", "rio", "wezterm")
"""Names in TERM of terminals that take OSC 52 without being told to."""
TAKES_PROGRAMS = ("wezterm", "ghostty", "rio", "contour", "vscode", "kitty")
"""The same in TERM_PROGRAM."""
TAKES_VARIABLES = ("KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID", "WT_SESSION", "WEZTERM_PANE")
IGNORES = ("linux", "dumb", "vt", "ansi", "cons25", "unknown")
"""Names in TERM of terminals that have no clipboard."""

Terminal = Literal["takes", "maybe", "ignores"]


class Copy(Struct, frozen=True, kw_only=True):
    """What came of a copy."""

    way: str = ""
    """Who took it, in words; empty: nobody is known to have."""
    file: str = ""
    """Where the text was put because nobody is known to have taken it."""
    sent: bool = False
    """The terminal was sent it and says nothing to that."""
    advice: str = ""
    """What to set so that it arrives, or arrives further."""


class Way(Struct, frozen=True):
    """A program that takes text on its standard input."""

    name: str
    command: tuple[str, ...]


def copy_ways(env: Mapping[str, str], platform: str = sys.platform) -> list[Way]:
    """The programs that could take text here, the best first. Over ssh a desktop's program would serve the desktop of
    the other machine, so tmux comes before it there."""
    asked: list[Way] = []
    if platform == "darwin":
        asked.append(Way("pbcopy", ("pbcopy",)))
    if env.get("WAYLAND_DISPLAY"):
        asked.append(Way("wl-copy", ("wl-copy",)))
    if env.get("DISPLAY"):
        asked.append(Way("xclip", ("xclip", "-selection", "clipboard", "-in")))
        asked.append(Way("xsel", ("xsel", "--clipboard", "--input")))
    if env.get("WSL_DISTRO_NAME"):
        asked.append(Way("clip.exe", ("clip.exe",)))
    tmux = [Way("tmux", ("tmux", "load-buffer", "-w", "-"))] if env.get("TMUX") else []
    ordered = [*tmux, *asked] if env.get("SSH_CONNECTION") or env.get("SSH_TTY") else [*asked, *tmux]
    return [Way(way.name, (found, *way.command[1:])) for way in ordered if (found := own_program(way.command[0], env))]


def terminal_takes(env: Mapping[str, str]) -> Terminal:
    """Whether the terminal takes OSC 52, as far as its names tell."""
    term = env.get("TERM", "")
    if env.get("TMUX") or env.get("STY"):
        return "maybe"  # what stands outside is not known in here
    if term.startswith(TAKES) or env.get("TERM_PROGRAM", "").lower() in TAKES_PROGRAMS:
        return "takes"
    if any(env.get(name) for name in TAKES_VARIABLES):
        return "takes"
    if term.startswith(IGNORES) or not term or env.get("TERM_PROGRAM") == "Apple_Terminal":
        return "ignores"
    return "maybe"


def terminal_sequence(text: str, env: Mapping[str, str]) -> str:
    """What the terminal is sent; empty when the text is longer than terminals take."""
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_TERMINAL_BYTES:
        return ""
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if not env.get("STY"):
        return sequence
    pieces = [sequence[at : at + SCREEN_CHUNK] for at in range(0, len(sequence), SCREEN_CHUNK)]
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)


def copy_text(text: str, env: Mapping[str, str], *, home: Path | None, send: Callable[[str], None]) -> Copy:
    """Try one way after the other until somebody took the text. `send` writes to the terminal. It waits for programs:
    call it from a thread."""
    for way in copy_ways(env):
        if way.name == "tmux":
            if (taken := _by_tmux(way, text, env)) is not None:
                return taken
        elif _given(way.command, text, env):
            return Copy(way=way.name)
    takes = terminal_takes(env)
    sequence = terminal_sequence(text, env) if takes != "ignores" else ""
    if sequence:
        send(sequence)
        if takes == "takes":
            return Copy(way="the terminal")
    return Copy(file=_kept(text, home), sent=bool(sequence), advice=advice_for(env))


def advice_for(env: Mapping[str, str]) -> str:
    """What to set or install where no way is known to work."""
    if env.get("TMUX"):
        return "tmux set -s set-clipboard on"
    if env.get("STY"):
        return "copy inside tmux, or with Shift and the mouse: GNU screen has no clipboard"
    if env.get("WAYLAND_DISPLAY"):
        return "install wl-clipboard"
    if env.get("DISPLAY"):
        return "install xclip"
    return "use a terminal that takes OSC 52, or Shift with the mouse"


def _by_tmux(way: Way, text: str, env: Mapping[str, str]) -> Copy | None:
    """Through tmux, which keeps the text and hands it on to the terminal outside; None: it did not take it. Old ones do
    not hand it on."""
    tmux = way.command[0]
    if not _given(way.command, text, env) and not _given((tmux, "load-buffer", "-"), text, env):
        return None
    if _said((tmux, "show-buffer"), env) != text.encode("utf-8", "replace"):
        return None
    if b"clipboard" in (_said((tmux, "display-message", "-p", "#{client_termfeatures}"), env) or b""):
        return Copy(way="tmux and its terminal")
    return Copy(way="tmux alone, prefix ] pastes", advice="tmux set -as terminal-features ',*:clipboard'")


def _given(command: tuple[str, ...], text: str, env: Mapping[str, str]) -> bool:
    """Whether a program took the text. It may stay behind to hold it, so it gets none of our pipes but the first, and a
    session of its own: no key that ends us ends it."""
    try:
        ended = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            timeout=TIMEOUT_S,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _said(command: tuple[str, ...], env: Mapping[str, str]) -> bytes | None:
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout if ended.returncode == 0 else None


def _kept(text: str, home: Path | None) -> str:
    """The file that the text is in now; empty: it could not be written."""
    if home is None:
        return ""
    path = home / KEPT_NAME
    try:
        replace_private(path, text.encode("utf-8", "replace"))
    except OSError:
        return ""
    return str(path)


def way_words(env: Mapping[str, str]) -> tuple[str, str]:
    """How a copy would go here, and what to set where nothing is known to take it."""
    ways = [way.name for way in copy_ways(env)]
    if ways:
        return f"{ways[0]}" + (f", then {', '.join(ways[1:])}" if ways[1:] else ""), ""
    takes = terminal_takes(env)
    if takes == "takes":
        return "the terminal takes it (OSC 52)", ""
    if takes == "maybe":
        return f"sent to the terminal (OSC 52), which may ignore it; also kept in {KEPT_NAME}", advice_for(env)
    return f"none here: what is copied is kept in {KEPT_NAME}", advice_for(env)


def clipboard_commands(env: Mapping[str, str], platform: str = sys.platform) -> list[list[str]]:
    """The programs that could give a picture here, the likeliest first."""
    asked: list[list[str]] = []
    if env.get("WAYLAND_DISPLAY"):
        asked.append(["wl-paste", "--no-newline", "--type", "image/png"])
    if env.get("DISPLAY"):
        asked.append(["xclip", "-selection", "clipboard", "-t", "image/png", "-o"])
    if platform == "darwin":
        asked.append(["pngpaste", "-"])
    return [[found, *rest] for name, *rest in asked if (found := own_program(name, env))]


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
        if ended.returncode == 0 and ended.stdout.startswith(_PNG) and len(ended.stdout) <= MAX_PICTURE_BYTES:
            return ended.stdout
    return None
