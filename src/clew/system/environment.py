"""Facts about the machine for the prompt, and the environment that tool processes get."""

import mmap
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from clew.system.git.layout import find_project_root
from clew.system.home import SYSTEM_DIRS
from clew.text.guarded_names import word_set


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


def own_path(env: Mapping[str, str]) -> str:
    """The user's PATH for programs that clew starts outside the sandbox (editor, pager, clipboard, key commands):
    without relative elements, and without those in the project here, which commands can write."""
    tops = _projects_here()
    kept = absolute_path(env.get("PATH", "")).split(os.pathsep)
    return os.pathsep.join(one for one in kept if not any(_inside(os.path.realpath(one), top) for top in tops))


def own_program(name: str, env: Mapping[str, str]) -> str:
    """The program of this name on that path, or at this path; empty when there is none, or when it lies in the project
    here."""
    if os.sep in name:
        candidates = [os.path.abspath(os.path.expanduser(name))]
    else:
        candidates = [os.path.join(folder, name) for folder in own_path(env).split(os.pathsep)]
    return next((one for one in candidates if _runnable(one) and not in_project_here(one)), "")


def in_project_here(path: str) -> bool:
    """Whether a path, or what it leads to, lies in the project around the current directory."""
    ends = (os.path.abspath(path), os.path.realpath(path))
    return os.sep in path and any(_inside(end, top) for top in _projects_here() for end in ends)


def _projects_here() -> list[str]:
    """The project around the current directory; none where that is the home or holds it, as all programs do then."""
    try:
        top = os.path.realpath(find_project_root(Path.cwd()))
    except OSError:
        return []
    return [] if _inside(os.path.realpath(os.path.expanduser("~")), top) else [top]


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


# What a tool process inherits (D): where things are, which language, which tool chain. Everything else stays with the
# user, because a secret needs no telling name.
INHERITED = word_set(
    """
    PATH HOME USER LOGNAME SHELL PWD TMPDIR TEMP TMP TZ LANG LANGUAGE HOSTNAME HOSTTYPE OSTYPE MACHTYPE SHLVL CI
    DEBIAN_FRONTEND SOURCE_DATE_EPOCH NO_COLOR DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS
    SSH_AUTH_SOCK SSH_AGENT_PID GPG_TTY XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
    XDG_DATA_DIRS XDG_CONFIG_DIRS XDG_SESSION_TYPE WSL_DISTRO_NAME WSLENV MSYSTEM VIRTUAL_ENV CONDA_PREFIX
    CONDA_DEFAULT_ENV CONDA_EXE CONDA_SHLVL MAMBA_ROOT_PREFIX PYENV_ROOT PYENV_VERSION PIPX_HOME PIPX_BIN_DIR
    POETRY_HOME UV_CACHE_DIR UV_PYTHON PIP_CACHE_DIR GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOOS GOARCH CGO_ENABLED
    GOPRIVATE GOPROXY CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN CARGO_TARGET_DIR CARGO_BUILD_JOBS RUST_BACKTRACE
    RUST_LOG JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR KOTLIN_HOME ANDROID_HOME
    ANDROID_SDK_ROOT ANDROID_NDK_HOME SCALA_HOME FLUTTER_ROOT DART_SDK DOTNET_ROOT DOTNET_CLI_TELEMETRY_OPTOUT
    NVM_DIR NVM_BIN NVM_INC FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME N_PREFIX PNPM_HOME BUN_INSTALL DENO_DIR
    DENO_INSTALL COREPACK_HOME NODE_ENV NODE_VERSION RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH
    BUNDLE_GEMFILE MY_RUBY_HOME RUBY_VERSION RAILS_ENV RACK_ENV APP_ENV FLASK_APP FLASK_ENV FLASK_DEBUG
    DJANGO_SETTINGS_MODULE ENVIRONMENT COMPOSER_HOME PHP_INI_SCAN_DIR GHCUP_INSTALL_BASE_PREFIX STACK_ROOT CABAL_DIR
    OPAM_SWITCH_PREFIX OPAMROOT OCAML_TOPLEVEL_PATH CAML_LD_LIBRARY_PATH MIX_ENV MIX_HOME HEX_HOME ERL_AFLAGS
    JULIA_DEPOT_PATH R_HOME R_LIBS_USER ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_SHELL HOMEBREW_PREFIX
    HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE IN_NIX_SHELL GUIX_PROFILE CUDA_HOME
    CUDA_PATH CUDA_VISIBLE_DEVICES ROCM_PATH OMP_NUM_THREADS TOKENIZERS_PARALLELISM HF_HOME TORCH_HOME CC CXX CPP AR
    LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH CMAKE_GENERATOR CMAKE_BUILD_PARALLEL_LEVEL
    CCACHE_DIR SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS AWS_CA_BUNDLE
    HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy
    DOCKER_HOST KUBECONFIG AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION CLOUDSDK_CONFIG PLAYWRIGHT_BROWSERS_PATH
    PUPPETEER_CACHE_DIR CHROME_BIN CYPRESS_CACHE_FOLDER
    """
)
INHERITED_PREFIXES = ("LC_",)

# Variables that not even the user's own wish passes on: the judged text would not be what runs (P6).
NEVER_INHERITED = frozenset(
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
NEVER_INHERITED_PREFIXES = ("GIT_", "LD_", "DYLD_", "PYTHON", "BASH_FUNC_", "CLEW_", "LESS_", "npm_config_")

# What a child needs to behave: no pager, no colours, no prompt that waits for a person.
FIXED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "NO_COLOR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
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
    """The environment of a tool process: names that are known to be harmless, and those the user lets through.

    `key_variables` names the variables that providers read their keys from, whatever they are called; these never
    pass. `keep` names others (`toolEnvironment.keep`); a final `*` stands for the rest of a name.
    """
    keys = frozenset(key_variables)
    wanted = tuple(keep)
    kept = {
        name: value
        for name, value in env.items()
        if name not in keys
        and name not in NEVER_INHERITED
        and not name.startswith(NEVER_INHERITED_PREFIXES)
        and (_is_wanted(name, wanted) or (_is_inherited(name) and not _has_url_password(value)))
    }
    kept["PATH"] = absolute_path(env.get("PATH", ""))
    kept.setdefault("LANG", "C.UTF-8")
    return kept | FIXED | _git_settings()


def _is_inherited(name: str) -> bool:
    return name in INHERITED or name.startswith(INHERITED_PREFIXES)


def _is_wanted(name: str, wanted: tuple[str, ...]) -> bool:
    return any(name == one or (one.endswith("*") and len(one) > 1 and name.startswith(one[:-1])) for one in wanted)


def absolute_path(path: str) -> str:
    """A PATH without relative and empty elements: those would let the current directory choose what runs."""
    kept = [directory for directory in path.split(os.pathsep) if os.path.isabs(directory)]
    return os.pathsep.join(kept) or "/usr/local/bin:/usr/bin:/bin"


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
