"""Names that run programs or hold secrets, compared as lenient file systems would read them (S3, F1)."""

import re
from functools import lru_cache
from unicodedata import normalize

from clew.permissions.word_set import word_set

# A write below one of these always asks: they run programs, configure agents, or steer editors and servers.
_PROTECTED_DIRECTORIES = word_set(
    """.git .hg .svn .clew .claude .codex .cursor .gemini .qwen .opencode .continue .windsurf .kiro .amazonq .roo
    .cline .zed .junie .goose .kilocode .trae .crush .factory .augment .copilot .aider .kimi .vibe .agents
    .vscode .idea .devcontainer .husky .githooks .circleci .direnv .ssh .gnupg .aws .azure .kube .docker
    .config .buildkite .mvn .yarn .fleet"""
)
_PROTECTED_FILES = word_set(
    """.mcp.json mcp.json .envrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc .netrc .gitconfig .gitmodules
    .gitattributes .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml .gitlab-ci.yml
    .travis.yml .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile
    .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .xinitrc .xsession .xprofile .vimrc .exrc .gvimrc
    .nvimrc .emacs .tmux.conf .screenrc .lesskey .wgetrc .curlrc .mailcap lefthook.yml .lefthook.yml
    jenkinsfile .mise.toml mise.toml .aider.conf.yml .cursorrules .windsurfrules .clinerules .roomodes .env
    .pdbrc .gdbinit .lldbinit .irbrc .pythonrc .ackrc .ripgreprc .htaccess azure-pipelines.yml
    bitbucket-pipelines.yml .goosehints opencode.json .pth"""
)
_PROTECTED_PAIRS = ((".github", "workflows"), (".github", "actions"), ("fish", "config.fish"), ("fish", "conf.d"))

_SECRET_FILES = word_set(
    """.netrc _netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials .htpasswd .dockercfg .vault-token .boto
    .s3cfg credentials credentials.json credentials.toml credentials.yml credentials.yaml secrets.json
    secrets.yml secrets.yaml secrets.toml secrets.env secret.key master.key kubeconfig .bash_history
    .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history
    .rediscli_history .lesshst .viminfo id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk shadow
    gshadow sudoers .envrc .yarnrc.yml application_default_credentials.json terraform.tfstate hub gh_token
    .token token.json auth.json .mysql_secret"""
)
_SECRET_DIRECTORIES = word_set(
    """.ssh .gnupg .aws .azure .gcloud .kube .password-store .mozilla .thunderbird keyrings gcloud .docker
    .1password .bitwarden .electrum .oci .terraform.d"""
)
_SECRET_ENDINGS = (
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".ovpn",
    ".tfstate",
    ".asc",
    ".gpg",
)
# Directories that a system or its people cannot lose.
CRITICAL = word_set(
    """/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /usr/bin
    /usr/lib /usr/sbin /usr/local /usr/share /var /var/lib /var/log /Users /System /Library /Applications
    /private /private/etc /private/var /Volumes /cores"""
)
_PUBLIC_ENV = word_set("""example sample template dist defaults schema test""")
_DROPPED = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_SHORT_NAMES = {"git~1": ".git", "claude~1": ".claude", "clew~1": ".clew", "codex~1": ".codex", "vscode~1": ".vscode"}
HIDDEN_IN_NAME = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A component as the most lenient file system sees it: case, accents, trailing dots and blanks, streams."""
    name = normalize("NFKC", name)
    name = _DROPPED.sub("", name).casefold()
    name = name.split(":", 1)[0].rstrip(". ") or name
    return _SHORT_NAMES.get(name, name)


def components(path: str) -> list[str]:
    """Folded components, without empty ones. A backslash separates them too, as it does on other systems."""
    return [folded(part) for part in path.replace("\\", "/").split("/") if part]


def protected_name(path: str) -> str:
    """The component that makes a write to this path ask, or an empty string."""
    parts = components(path)
    for index, part in enumerate(parts):
        if part in _PROTECTED_DIRECTORIES or part.startswith(".aider"):
            return part
        if index + 1 < len(parts) and (part, parts[index + 1]) in _PROTECTED_PAIRS:
            return f"{part}/{parts[index + 1]}"
    if parts and (parts[-1] in _PROTECTED_FILES or _is_env(parts[-1]) or parts[-1].endswith(".pth")):
        return parts[-1]
    return ""


def secret_name(path: str) -> str:
    """The component that makes a read of this path ask, or an empty string."""
    parts = components(path)
    for part in parts:
        if part in _SECRET_DIRECTORIES:
            return part
    if not parts:
        return ""
    last = parts[-1]
    if last in _SECRET_FILES or _is_env(last) or last.endswith(_SECRET_ENDINGS):
        return last
    if len(parts) > 1 and parts[-2] == ".git" and last == "config":
        return ".git/config"
    if last.endswith(".json") and ("service-account" in last or "service_account" in last or "client_secret" in last):
        return last
    return ""


def _is_env(name: str) -> bool:
    if name == ".env":
        return True
    return name.startswith(".env.") and name.rsplit(".", 1)[1] not in _PUBLIC_ENV


def odd_name(path: str) -> str:
    """Why a name must be shown before it is used, or an empty string."""
    if HIDDEN_IN_NAME.search(path):
        return "the name holds control, invisible or direction-changing characters"
    parts = [part for part in path.split("/") if part not in ("", ".", "..") and not part.isascii()]
    if any(read in ("..", ".") or "/" in read or "\\" in read for read in (normalize("NFKC", part) for part in parts)):
        return "the name holds look-alikes of dots or slashes"
    return ""
