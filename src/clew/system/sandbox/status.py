"""Which sandbox holds on this machine: tested once per boot and kernel, remembered in a private file."""

import contextlib
import json
import os
import platform
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from clew.system.private_files import replace_private
from clew.system.process import SOURCE_ROOT

BWRAP_PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")
BASH_PLACES = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash")
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from clew.system.sandbox.selftest import main; main()"
TIMEOUT_S = 20


class SandboxTrial(Struct, frozen=True, kw_only=True):
    """One kind of sandbox and what it held."""

    kind: str
    namespaces: bool
    guards: bool = False
    checks: dict[str, bool]

    @property
    def held(self) -> bool:
        return all(self.checks.values())


class SandboxStatus(Struct, frozen=True, kw_only=True):
    """What is enforced. `kind` is empty when nothing is: then commands ask."""

    kind: str = ""
    namespaces: bool = False
    guards: bool = False
    """Protected names are refused before they exist; else they are taken away as they appear."""
    abi: int = 0
    bwrap: str = ""
    why: str = ""
    """Why nothing is enforced, or what is weaker than it could be; one sentence."""
    tried: tuple[SandboxTrial, ...] = ()

    @property
    def enforced(self) -> bool:
        return bool(self.kind)

    @property
    def label(self) -> str:
        """For people."""
        if not self.kind:
            return "none"
        if self.kind == "bwrap":
            return "bubblewrap"
        if not self.namespaces:
            return "Landlock alone"
        return "Landlock with namespaces" if self.guards else "Landlock with namespaces, names taken away"


def find_bash() -> str:
    """The one shell commands run in."""
    return next((path for path in BASH_PLACES if os.access(path, os.X_OK)), "")


def find_bwrap() -> str:
    """From fixed places only, owned by root and writable by nobody else."""
    for path in BWRAP_PLACES:
        try:
            status = os.stat(path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_uid == 0 and not status.st_mode & 0o022:
            return path
    return ""


def probe_now() -> SandboxStatus:
    """Run the self-test."""
    if sys.platform != "linux":
        return SandboxStatus(why="a sandbox exists for Linux only so far; commands ask instead")
    bwrap, bash = find_bwrap(), find_bash()
    if not bash:
        return SandboxStatus(why="no bash found, so no command can run")
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", BOOT, SOURCE_ROOT, bwrap, bash],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return SandboxStatus(why=f"the sandbox self-test failed ({error}); commands ask instead")
    return judge(convert(answer["tried"], tuple[SandboxTrial, ...]), int(answer["abi"]), bwrap)


def judge(tried: tuple[SandboxTrial, ...], abi: int, bwrap: str) -> SandboxStatus:
    """The first kind that held everything."""
    chosen = next((attempt for attempt in tried if attempt.held), None)
    if chosen is None:
        failures = "; ".join(
            f"{attempt.kind}: " + ", ".join(name for name, held in attempt.checks.items() if not held)
            for attempt in tried
        )
        why = f"no sandbox held here ({failures or 'the kernel has none'}); commands ask instead"
        return SandboxStatus(abi=abi, why=why, tried=tried)
    why = ""
    if chosen.kind == "landlock" and not chosen.namespaces:
        why = "there are no user namespaces: new names at the top of the workspace and writes in .git need leaving it"
    return SandboxStatus(
        kind=chosen.kind, namespaces=chosen.namespaces, guards=chosen.guards, abi=abi, bwrap=bwrap, why=why, tried=tried
    )


def current_status(cache_dir: Path | None) -> SandboxStatus:
    """The remembered result of this boot, or a new test. A confinement that later fails to start stops the command."""
    if cache_dir is None:
        return probe_now()
    file = cache_dir / "sandbox.json"
    key = machine_key()
    try:
        saved = json.loads(file.read_bytes())
        if saved["key"] == key:
            return convert(saved["status"], SandboxStatus)
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        pass
    status = probe_now()
    if status.tried:  # a test that could not even run, on a busy machine, says nothing about the next one
        remember(file, key, status)
    return status


def remember(file: Path, key: str, status: SandboxStatus) -> None:
    """Best effort: without it the next start tests again."""
    with contextlib.suppress(OSError):
        replace_private(file, json.dumps({"key": key, "status": to_builtins(status)}).encode())


def machine_key() -> str:
    """Changes with the boot, the kernel, the user, the programs used and our own code."""
    parts = [platform.release(), str(os.getuid()), sys.executable, SOURCE_ROOT]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    except OSError:
        parts.append("?")
    own = [entry.path for entry in os.scandir(os.path.dirname(__file__)) if entry.name.endswith(".py")]
    for path in (find_bwrap(), find_bash(), *sorted(own)):
        parts.append(f"{path}:{os.stat(path).st_mtime_ns if path else 0}")
    return "|".join(parts)
