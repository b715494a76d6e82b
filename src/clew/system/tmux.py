"""Calls to the user's tmux: panes in a session that is there, or in a detached one on a server of its own."""

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import NamedTuple

TIMEOUT_S = 10.0
OLDEST = (3, 2)
"""The first version that gives a new session variables of its own (`new-session -e`)."""
_SHOWN = "#{pane_id} #{pane_pid} #{socket_path}"


class NoTmux(ValueError):
    """tmux cannot be used; the words say why."""


class Pane(NamedTuple):
    """A pane that was opened: its id, the process in it, and the socket of its server."""

    id: str
    pid: int
    socket: str


async def open_pane(
    argv: Sequence[str],
    *,
    name: str,
    cwd: str,
    env: Mapping[str, str],
    variables: Mapping[str, str],
    server: str,
) -> Pane:
    """Let tmux run a program in a new window: of the session that `env` says we are in, else of a detached one on the
    server `server`. No shell reads `argv`. `variables`: what the program's environment has besides. Raises NoTmux."""
    binary = await usable(env)
    given = [part for key, value in variables.items() for part in ("-e", f"{key}={value}")]
    window = ["-d", "-n", name, "-c", cwd, "-P", "-F", _SHOWN, *given]
    inside = env.get("TMUX", "").rsplit(",", 2)
    if len(inside) == 3 and inside[0]:
        return _pane(await _run([binary, "-S", inside[0], "new-window", "-t", f"${inside[2]}:", *window, *argv], env))
    outside = {key: value for key, value in env.items() if key not in ("TMUX", "TMUX_PANE")}
    own = [binary, "-L", server]
    try:
        return _pane(await _run([*own, "new-window", "-t", f"={server}:", *window, *argv], outside))
    except NoTmux:
        return _pane(await _run([*own, "new-session", "-s", server, *window, *argv], outside))


async def close_pane(socket: str, pane: str, env: Mapping[str, str]) -> None:
    """End a pane and the program in it. Raises NoTmux."""
    await _run([await usable(env), "-S", socket, "kill-pane", "-t", pane], env)


async def usable(env: Mapping[str, str]) -> str:
    """The path of tmux. Raises NoTmux where it is missing or too old."""
    binary = shutil.which("tmux", path=env.get("PATH"))
    if binary is None:
        raise NoTmux("tmux is not installed")
    told = await _run([binary, "-V"], env)
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is not None and (int(found[1]), int(found[2])) < OLDEST:
        raise NoTmux(f"{told.strip()} is too old: panes need tmux {OLDEST[0]}.{OLDEST[1]}")
    return binary


def _pane(told: str) -> Pane:
    parts = told.strip().split(" ", 2)
    if len(parts) != 3 or not parts[1].isdigit():
        raise NoTmux(f"tmux answered what nobody understands: {told.strip()[:80]!r}")
    return Pane(parts[0], int(parts[1]), parts[2])


async def _run(argv: Sequence[str], env: Mapping[str, str]) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise NoTmux(f"tmux cannot be started: {error}") from error
    try:
        out, err = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
    except TimeoutError:
        process.kill()
        raise NoTmux(f"tmux did not answer within {TIMEOUT_S:.0f} s") from None
    if process.returncode:
        why = err.decode("utf-8", "replace").strip() or f"it ended with {process.returncode}"
        raise NoTmux(f"tmux refused: {why[:200]}")
    return out.decode("utf-8", "replace")
