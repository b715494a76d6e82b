"""Facts about the machine for the prompt, and the environment that tool processes get."""

import mmap
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

SYSTEM_DIRS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")


class Shell(Struct, frozen=True, kw_only=True):
    """The shell that runs commands: always bash, whatever the login shell."""

    path: str
    version: str
    """`5.2.15`; empty when unknown."""


def find_program(name: str, *, env: Mapping[str, str], outside: Iterable[Path] = ()) -> str:
    """Absolute path of a program: system directories first, then PATH. Empty when there is none.

    PATH entries that are relative or lead into one of the `outside` directories do not count: a project must not
    be able to choose what we run.
    """
    for directory in SYSTEM_DIRS:
        if _runnable(candidate := os.path.join(directory, name)):
            return candidate
    roots = [os.path.realpath(root) for root in outside]
    for directory in env.get("PATH", "").split(os.pathsep):
        candidate = os.path.join(directory, name)
        if not os.path.isabs(directory) or not _runnable(candidate):
            continue
        ends = (os.path.realpath(directory), os.path.realpath(candidate))
        if not any(_inside(end, root) for root in roots for end in ends):
            return candidate
    return ""


def find_shell(env: Mapping[str, str], *, outside: Iterable[Path] = ()) -> Shell | None:
    """The bash that commands run in, with its version."""
    path = find_program("bash", env=env, outside=outside)
    return Shell(path=path, version=bash_version(path)) if path else None


_BASH_MARK = b"@(#)Bash version "


def bash_version(path: str) -> str:
    """The version, read from the mark every bash carries in its binary (no process); else by asking it."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = data.find(_BASH_MARK)
            if start >= 0:
                return _leading_version(data[start + len(_BASH_MARK) : start + 64].decode(errors="replace"))
    except (OSError, ValueError):
        pass  # unreadable or empty: asking may still work
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=2, env={"LC_ALL": "C"}, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return _leading_version(done.stdout.decode(errors="replace").partition(" version ")[2])


def _leading_version(text: str) -> str:
    """`5.2.15` of `5.2.15(1)-release`."""
    end = next((at for at, letter in enumerate(text) if letter not in "0123456789."), len(text))
    return text[:end].strip(".")


def platform_words() -> str:
    """`Linux 6.1.0 x86_64`."""
    system = os.uname()
    name = "macOS (Darwin)" if sys.platform == "darwin" else system.sysname
    return f"{name} {system.release} {system.machine}"


# Variables a tool process never inherits: they make programs run other programs, load other code, or read other
# configuration than the command that was judged shows (P6).
STEERING = frozenset(
    {
        "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "IFS",
        "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "LESS", "EDITOR", "VISUAL", "BROWSER",
        "RIPGREP_CONFIG_PATH", "NODE_OPTIONS", "NODE_PATH", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB",
        "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "SSH_ASKPASS", "SUDO_ASKPASS",
        "GREP_OPTIONS", "TAR_OPTIONS", "ZIPOPT", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "COLUMNS", "LINES",
        "TERM", "COLORTERM", "FORCE_COLOR", "CLICOLOR_FORCE", "TMUX", "TMUX_PANE", "STY", "FZF_DEFAULT_OPTS", "OLDPWD",
        "PWD",
    }
)  # fmt: skip
STEERING_PREFIXES = ("GIT_", "LD_", "DYLD_", "PYTHON", "BASH_FUNC_", "CLEW_", "LESS_", "npm_config_")

# What a child needs to behave: no pager, no colours, no prompt that waits for a person.
FIXED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "NO_COLOR": "1",
    "CLEW": "1",
}

# Settings that win over a repository's own (G1): reading commands must not run what it names. Hooks stay, because
# commands that were approved need them; with optional locks off, reading commands call none. Drivers with free names
# (textconv, filters) cannot be switched off here: the permission engine asks where a repository has them.
GIT_SETTINGS = {
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "log.showSignature": "false",
    "protocol.ext.allow": "never",
    "safe.bareRepository": "explicit",
}

_SECRET_NAME = (
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|ACCESS_KEY_ID|AUTH|PAT|DSN|COOKIE)"
    r"(?:$|_(?:ID|VALUE|BASE64|B64|\d+)$)|(?:API|SECRET|ACCESS|PRIVATE)_?KEY|PASSWORD|_CONNECTION_STRING$"
)
# Names that look like a secret and hold a path or a switch.
_NOT_SECRET = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS"})


def is_secret_name(name: str) -> bool:
    """Does a variable of this name usually hold a secret?"""
    upper = name.upper()
    return upper not in _NOT_SECRET and re.search(_SECRET_NAME, upper) is not None


def tool_environment(
    env: Mapping[str, str], *, key_variables: Iterable[str] = (), keep: Iterable[str] = ()
) -> dict[str, str]:
    """The environment of a tool process: the user's, without secrets and without what steers other programs.

    `key_variables` names the variables that providers read their keys from, whatever they are called; these never
    pass. `keep` names others that the user wants to pass although they look like a secret (`toolEnvironment.keep`).
    """
    keys, wanted = frozenset(key_variables), frozenset(keep)
    kept = {
        name: value
        for name, value in env.items()
        if name not in keys
        and name not in STEERING
        and not name.startswith(STEERING_PREFIXES)
        and (name in wanted or not (is_secret_name(name) or _has_url_password(value)))
    }
    kept["PATH"] = absolute_path(kept.get("PATH", "")) or "/usr/local/bin:/usr/bin:/bin"
    kept.setdefault("LANG", "C.UTF-8")
    return kept | FIXED | _git_settings()


def absolute_path(path: str) -> str:
    """A search path without relative and empty elements: through these a project could choose what a name runs."""
    return os.pathsep.join(place for place in path.split(os.pathsep) if os.path.isabs(place))


def _git_settings() -> dict[str, str]:
    """As variables that git reads like `-c` on its command line."""
    settings = {"GIT_CONFIG_COUNT": str(len(GIT_SETTINGS))}
    for number, (name, value) in enumerate(GIT_SETTINGS.items()):
        settings[f"GIT_CONFIG_KEY_{number}"] = name
        settings[f"GIT_CONFIG_VALUE_{number}"] = value
    return settings


def secret_values(env: Mapping[str, str], *, key_variables: Iterable[str] = ()) -> list[str]:
    """The values that must never be shown, for `redact`: long enough not to be ordinary words."""
    keys = frozenset(key_variables)
    return [value for name, value in env.items() if len(value) >= 8 and (name in keys or is_secret_name(name))]


def _has_url_password(value: str) -> bool:
    return "://" in value and re.search(r"://[^/\s:@]*:[^/\s@]+@", value) is not None


def _runnable(path: str) -> bool:
    return os.access(path, os.X_OK) and os.path.isfile(path)


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
