"""The one list of names that run programs or hold secrets, for tools, shell and sandbox. Standard library only.

Names are compared as lenient file systems would read them (S3, F1).

Names as they are written in tables: words in a text.
"""

import re
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

from clew.text.steering_files import protected_directories, protected_files, protected_pairs
from clew.text.unicode_marks import INVISIBLE


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# A write below one of these always asks: they run programs, configure agents, or steer editors and servers.
_PROTECTED_DIRECTORIES = protected_directories()
_PROTECTED_FILES = protected_files()
PROTECTED_PAIRS = protected_pairs()
_ENVIRONMENTS = word_set(".venv venv .env env .virtualenv .tox .nox .pixi")
_PROTECTED_ENDINGS = (".pth", ".code-workspace")

GIT_REDIRECTORS = (
    "config", "config.worktree", "commondir", "gitdir", "hooks", "info", "objects/info", "modules", "worktrees",
    "remotes", "branches",
)  # fmt: skip
"""What in a git directory names code, other repositories or other configuration. `info` holds attributes and grafts,
`objects/info` the alternates. Everything else there is data that git itself checks."""

_SECRET_FILES = word_set(
    """.netrc _netrc .npmrc .pypirc .pgpass .my.cnf .mylogin.cnf .git-credentials .htpasswd .dockercfg .vault-token
    .boto .s3cfg credentials credentials.json credentials.toml credentials.yml credentials.yaml secrets.json
    secrets.yml secrets.yaml secrets.toml secrets.env secret.key master.key kubeconfig .bash_history
    .zsh_history .sh_history .ksh_history .python_history .node_repl_history .psql_history .mysql_history
    .sqlite_history .rediscli_history .irb_history .lesshst .viminfo .wget-hsts id_rsa id_dsa id_ecdsa id_ed25519
    id_ecdsa_sk id_ed25519_sk shadow gshadow sudoers .envrc .yarnrc.yml application_default_credentials.json
    terraform.tfstate terraform.tfvars hub gh_token .token token.json auth.json .mysql_secret .msmtprc .fetchmailrc
    .smbcredentials .databrickscfg .rclone.conf rclone.conf .xauthority .iceauthority .claude.json .credentials.json
    oauth_creds.json .dev.vars"""
)
_SECRET_DIRECTORIES = word_set(
    """.ssh .gnupg .aws .azure .gcloud .kube .password-store .mozilla .thunderbird keyrings gcloud .docker
    .1password .bitwarden .electrum .oci .terraform.d .snowsql .kaggle .fly .pulumi .bitcoin .ethereum"""
)
_SECRET_ENDINGS = (
    ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".tfstate", ".asc", ".gpg",
    ".tfvars", ".mobileprovision",
)  # fmt: skip
_PUBLIC_ENV = word_set("""example sample template dist defaults schema test""")

SOMETIMES_SECRET = word_set(""".npmrc .yarnrc.yml""")
"""Programs cannot work without these; for the sandbox their content decides. Tools ask by the name alone."""

HOME_CREDENTIALS = word_set(
    """.config/gcloud .config/gh .config/hub .config/op .config/google-chrome .config/chromium .config/microsoft-edge
    .config/BraveSoftware .config/vivaldi .config/opera .config/rclone .config/doctl .config/heroku .config/netlify
    .config/stripe .config/ngrok .config/flyctl .config/sops .config/age .config/keepassxc .config/Bitwarden
    .config/1Password .config/Slack .config/discord .config/Signal .config/configstore .config/filezilla
    .config/github-copilot .config/goa-1.0 .config/evolution .config/containers/auth.json .config/composer/auth.json
    .config/git/credentials .config/pip/pip.conf .config/pypoetry/auth.toml .config/opencode/auth.json
    .config/anthropic .config/openai .config/huggingface .config/wandb .config/scaleway .config/hcloud .config/glab-cli
    .config/.wrangler .config/vercel .config/atuin .config/fish/fish_history .config/kube .config/helm
    .local/share/keyrings .local/share/kwalletd .local/share/opencode/auth.json .local/share/TelegramDesktop
    .local/share/fish/fish_history .local/share/atuin .local/share/com.vercel.cli .local/share/direnv
    .local/state/gh .cache/huggingface/token .huggingface .cargo/credentials .cargo/credentials.toml
    .gem/credentials .bundle/config .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
    .composer/auth.json .nuget/NuGet/NuGet.Config .pip/pip.conf .dbt/profiles.yml .jupyter/jupyter_server_config.json
    .ngrok2 .netlify .vercel .supabase .railway .heroku .wrangler .minikube .helm .vagrant.d .putty
    .mutt .muttrc .thunderbird .purple .irssi .weechat .filezilla .cloudflared .pulumi .sentryclirc .clasprc.json
    .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json .qwen/oauth_creds.json .aider.conf.yml
    .continue/.env .cursor/mcp.json .config/Code/User/globalStorage .ansible/vault .vault_pass .config/jgit
    .subversion/auth .s3ql .passwd-s3fs .appstoreconnect .android/debug.keystore
    .expo .steam .zoom .lastpass .config/lastpass .local/share/lpass .config/rbw .local/share/rbw"""
)
SYSTEM_CREDENTIALS = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/letsencrypt", "/etc/wireguard",
    "/etc/openvpn", "/etc/NetworkManager/system-connections", "/etc/kubernetes", "/etc/rancher", "/etc/docker/certs.d",
    "/etc/cloudflared", "/etc/tailscale", "/var/lib/tailscale", "/var/lib/kubelet",
    "/run/secrets", "/run/credentials", "/run/user", "/run/dbus", "/run/podman", "/run/containerd",
    "/run/docker.sock",
)  # fmt: skip

_SHORT_NAMES = {"git~1": ".git", "claude~1": ".claude", "clew~1": ".clew", "codex~1": ".codex", "vscode~1": ".vscode"}


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A component as the most lenient file system sees it: case, accents, trailing dots and blanks, streams."""
    name = normalize("NFKC", name)
    name = (name if name.isascii() else INVISIBLE.sub("", name)).casefold()
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
        if index + 1 < len(parts) and (part, parts[index + 1]) in PROTECTED_PAIRS:
            return f"{part}/{parts[index + 1]}"
    last = parts[-1] if parts else ""
    return last if last in _PROTECTED_FILES or _is_env(last) or last.endswith(_PROTECTED_ENDINGS) else ""


def program_place(path: str) -> bool:
    """Whether a file lies where package managers put programs that people start by name."""
    parts = components(path)
    for above, folder in pairwise(parts[:-1]):
        if (above, folder) == ("node_modules", ".bin"):
            return True
        if folder in ("bin", "scripts") and (above in _ENVIRONMENTS or above.startswith(".venv")):
            return True
    return False


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


_PUBLIC_ARMOUR = re.compile(rb"-----BEGIN (?:[A-Z0-9 ]*CERTIFICATE|[A-Z0-9 ]*PUBLIC KEY|PGP SIGNATURE|PGP SIGNED)")
_ASSIGNED_SECRET = re.compile(
    rb"""(?im)^[^#;\n]*(?:auth|token|passw|secret|credential|api_?key)[\w"'-]*\s*[=:]\s*["']?(?![\s"']|\$\{?\w)\S"""
)
SNIFF_BYTES = 262_144


def is_public(name: str, data: bytes) -> bool:
    """Whether the beginning of a file shows that its name promised a secret it does not hold."""
    name = folded(name)
    if name in SOMETIMES_SECRET:
        return len(data) < SNIFF_BYTES and _ASSIGNED_SECRET.search(data) is None
    if name.endswith((".pem", ".asc")):
        return _PUBLIC_ARMOUR.search(data) is not None and b"PRIVATE KEY" not in data and len(data) < SNIFF_BYTES
    return False
