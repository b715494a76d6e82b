"""Names that stay read-only inside a writable workspace, and places that stay out of sight."""

import os

PROTECTED_DIRECTORIES = (
    ".clew", ".claude", ".codex", ".gemini", ".cursor", ".qwen", ".opencode", ".vscode", ".idea", ".zed",
    ".devcontainer", ".husky", ".git/hooks",
)  # fmt: skip
PROTECTED_FILES = (".mcp.json", ".envrc")
PROTECTED_AT_HOME = (
    ".gitconfig", ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile",
    ".zlogin",
)  # fmt: skip
"""Start files matter where shells look for them; elsewhere only existing ones are held."""
PROTECTED_IN_GIT = (".git/config", ".git/config.worktree", ".git/modules", ".git/worktrees", ".git/info/attributes")

HIDDEN_IN_HOME = (
    ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/op",
    ".config/google-chrome", ".config/chromium", ".mozilla", ".password-store", ".local/share/keyrings",
    ".terraform.d", ".vault-token", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".claude/.credentials.json", ".codex/auth.json",
    ".gemini/oauth_creds.json", ".local/share/opencode/auth.json", ".qwen/oauth_creds.json", ".bash_history",
    ".zsh_history",
)  # fmt: skip
HIDDEN_ELSEWHERE = (
    "/etc/shadow",
    "/etc/gshadow",
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/user",
    "/run/dbus",
)


def protected_paths(root: str, home: str) -> tuple[list[str], list[str]]:
    """Existing and missing protected paths of one workspace root. A missing `.git` counts as one name."""
    names = [*PROTECTED_DIRECTORIES, *PROTECTED_FILES, *PROTECTED_AT_HOME]
    unguarded = {*PROTECTED_IN_GIT, *(() if root == home else PROTECTED_AT_HOME)}
    existing: list[str] = []
    missing: list[str] = []
    git = os.path.join(root, ".git")
    if os.path.isdir(git) and not os.path.islink(git):
        names += PROTECTED_IN_GIT
    else:
        names = [".git", *(name for name in names if not name.startswith(".git/"))]
    for name in names:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            existing.append(path)
        elif os.path.isdir(os.path.dirname(path)) and name not in unguarded:
            missing.append(path)
    return existing, missing


def hidden_paths(home: str, extra: tuple[str, ...], roots: tuple[str, ...]) -> list[str]:
    """Existing credentials and private state, resolved; none that holds a workspace root."""
    found: list[str] = []
    for path in (*(os.path.join(home, name) for name in HIDDEN_IN_HOME), *HIDDEN_ELSEWHERE, *extra):
        real = os.path.realpath(path)
        if os.path.exists(real) and not any(root == real or root.startswith(real + "/") for root in roots):
            found.append(real)
    return list(dict.fromkeys(found))


def is_file_name(path: str) -> bool:
    """Whether a protected name is usually a file."""
    return os.path.basename(path) in (*PROTECTED_FILES, *PROTECTED_AT_HOME)
