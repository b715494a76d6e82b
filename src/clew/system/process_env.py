"""The environment of tool processes: the user's, without keys and without names that change what programs do."""

import re
from collections.abc import Collection, Mapping

PREFIXES = ("GIT_", "LD_", "DYLD_", "PYTHON", "BASH_FUNC_", "npm_config_", "RUBY", "PERL5", "CLEW_")
NAMES = frozenset(
    (
        "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "LESS", "RIPGREP_CONFIG_PATH", "BASH_ENV", "ENV", "SHELLOPTS",
        "BASHOPTS", "IFS", "CDPATH", "GLOBIGNORE", "PROMPT_COMMAND", "PS4", "EDITOR", "VISUAL", "BROWSER",
        "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "MAKEFLAGS", "GREP_OPTIONS", "FZF_DEFAULT_OPTS", "SSH_ASKPASS",
        "SUDO_ASKPASS", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "OLDPWD", "TMUX", "TMUX_PANE", "STY",
        "NODE_OPTIONS", "NODE_PATH",
    )
)  # fmt: skip
SECRET = re.compile(
    r"(?:^|_)(?:API_?KEYS?|ACCESS_?KEY(?:_ID)?|SECRET\w*|TOKENS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?"
    r"|PRIVATE_KEY|AUTH)(?:_|$)",
    re.IGNORECASE,
)
FIXED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "TERM": "dumb",
    "CLEW": "1",
}


def tool_environment(base: Mapping[str, str], *, keep: Collection[str] = (), tmp: str = "") -> dict[str, str]:
    """For one command. `keep`: names the user's own settings let through, whatever they look like."""
    env = {name: value for name, value in base.items() if name in keep or is_harmless(name)}
    if tmp:
        env["TMPDIR"] = tmp
    return FIXED | {name: value for name, value in env.items() if name not in FIXED or name in keep}


def is_harmless(name: str) -> bool:
    """Neither a secret nor a lever on the programs that run."""
    return name not in NAMES and not name.startswith(PREFIXES) and not SECRET.search(name)
