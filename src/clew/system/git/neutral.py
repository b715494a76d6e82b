"""What keeps a call of git from obeying a repository: settings that win over its own, and a scrubbed environment.

Standard library only.
"""

from collections.abc import Sequence

from clew.system.home import SYSTEM_DIRS

# Each of these stops something that a repository's own configuration could make git run or fetch.
OVERRIDES = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "core.sshCommand=false",
    "core.askPass=",
    "core.editor=false",
    "core.gitProxy=",
    "credential.helper=",
    "diff.external=",
    "log.showSignature=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)


def git_environment() -> dict[str, str]:
    """A scrubbed environment: no user or system configuration, no prompts, no lazy fetching, plain messages."""
    return {
        "PATH": ":".join(SYSTEM_DIRS),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PAGER": "cat",
    }


def as_flags(settings: Sequence[str]) -> list[str]:
    """The settings as options of git."""
    return [part for setting in settings for part in ("-c", setting)]
