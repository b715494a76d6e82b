"""What only the running program knows and a compaction must carry: ports, and the safe way to read a file again."""

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from clew.system.files import read_regular
from clew.text.encoding import sniff
from clew.text.guarded_names import secret_name

_SNIFF_BYTES = 512
_BYTES_PER_TOKEN = 6
"""No text has more bytes for a token than this, but for long runs of one letter."""


class RunningShell(Struct, frozen=True, kw_only=True):
    """A command that runs in the background."""

    id: str
    command: str


class RunningAgent(Struct, frozen=True, kw_only=True):
    """An agent that is at work, or paused."""

    id: str
    task: str


class FileLook(Struct, frozen=True, kw_only=True):
    """A file as it is now. `large`: it exists and is too long to repeat; `gone`: there is nothing to show."""

    state: Literal["text", "large", "gone"]
    text: str = ""


class LiveState(Protocol):
    """Asked once, when a summary is put together."""

    @property
    def permission_mode(self) -> str:
        """The mode in force: default, plan, acceptEdits, bypassPermissions; "" when it is unknown."""
        ...

    @property
    def plan(self) -> str:
        """The plan of the session; "" when there is none but what the log tells."""
        ...

    def running_shells(self) -> Sequence[RunningShell]:
        """Oldest first."""
        ...

    def running_agents(self) -> Sequence[RunningAgent]:
        """Oldest first."""
        ...

    def discovered_tools(self) -> Sequence[str]:
        """Names of tools that were looked up and are on offer since."""
        ...

    async def read_file(self, path: str, max_tokens: int) -> FileLook:
        """A file as it is now. Never raises."""
        ...


class NothingLive:
    """A session of which nothing runs and whose files are not looked at."""

    permission_mode = ""
    plan = ""

    def running_shells(self) -> Sequence[RunningShell]:
        """None."""
        return ()

    def running_agents(self) -> Sequence[RunningAgent]:
        """None."""
        return ()

    def discovered_tools(self) -> Sequence[str]:
        """None."""
        return ()

    async def read_file(self, path: str, max_tokens: int) -> FileLook:
        """Nothing."""
        return FileLook(state="gone")


def is_plain_name(target: str) -> bool:
    """Not the name of a file that holds secrets."""
    return not secret_name(target)


def look_at(
    path: str,
    *,
    cwd: str,
    roots: Sequence[str],
    max_tokens: int,
    may_read: Callable[[str], bool] = is_plain_name,
) -> FileLook:
    """A file of the workspace, for the model to read. What lies outside, by its real path, is not opened; neither is
    what may not be read, what is no regular file, and what is no text."""
    try:
        target = os.path.realpath(os.path.join(cwd, path))
        inside = any(os.path.commonpath((target, os.path.realpath(root))) == os.path.realpath(root) for root in roots)
        if not inside or not may_read(target):
            return FileLook(state="gone")
        data = read_regular(target, max_bytes=max_tokens * _BYTES_PER_TOKEN).data
    except (OSError, ValueError) as error:
        too_large = isinstance(error, OSError) and error.errno == errno.EFBIG
        return FileLook(state="large" if too_large else "gone")
    encoding = sniff(data[:_SNIFF_BYTES], whole=len(data) <= _SNIFF_BYTES)
    if encoding is None:
        return FileLook(state="gone")
    text = data.removeprefix(encoding.bom).decode(encoding.name, errors="replace")
    return FileLook(state="text", text=text)


async def look_at_in_thread(
    path: str, *, cwd: str, roots: Sequence[str], max_tokens: int, may_read: Callable[[str], bool] = is_plain_name
) -> FileLook:
    """`look_at`, without holding up anything else: a slow disk is no reason to stop."""
    return await asyncio.to_thread(look_at, path, cwd=cwd, roots=roots, max_tokens=max_tokens, may_read=may_read)
