"""The one list of names that run programs or hold secrets, for tools, shell and sandbox. Standard library only.

Names are compared as lenient file systems would read them (S3, F1).

Names as they are written in tables: words in a text.
"""

import re
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

from clew.text.steering_files import protected_directories, protected_files, protected_pairs
from clew.text.unicode_marks import HIDDEN, INVISIBLE, WANTED


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
    """.netrc _netrc netrc .npmrc .pypirc .pgpass .my.cnf .mylogin.cnf .git-credentials .htpasswd .dockercfg
    .vault-token .boto .s3cfg s3cfg .passwd-s3fs .b2_account_info credentials credentials.json credentials.toml
    credentials.yml credentials.yaml credentials.xml credentials.ini credentials.csv credentials.properties
    credentials.db credentials-config.json secrets.json secrets.yml secrets.yaml secrets.toml secrets.env
    secrets.ini secrets.properties secrets.txt secrets.xml secrets.tfvars secrets.php secret.key secret.json
    secret.toml secret.txt secret.env secret_token.rb .secret .secrets .secrets.toml .secrets.json .secrets.yaml
    .secrets.yml master.key kubeconfig .kubeconfig kubeconfig.yaml kubeconfig.yml kubeconfig.json .bash_history
    .zsh_history .zhistory .sh_history .ksh_history .histfile .history fish_history .python_history
    .node_repl_history .psql_history .mysql_history .mariadb_history .sqlite_history .rediscli_history
    .irb_history .pry_history .php_history .mongo_history .mongosh_history .dbshell .duckdb_history .rhistory
    .lesshst .viminfo .wget-hsts id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk identity.key
    ssh_host_rsa_key ssh_host_ecdsa_key ssh_host_ed25519_key ssh_host_dsa_key shadow gshadow sudoers .envrc
    .yarnrc.yml application_default_credentials.json terraform.tfstate terraform.tfvars .terraformrc
    terraform.rc credentials.tfrc.json hub gh_token .token token.json token.txt tokens.json auth.json auth.toml
    .mysql_secret .msmtprc .esmtprc .fetchmailrc .offlineimaprc .mbsyncrc .getmailrc .muttrc .smbcredentials
    .databrickscfg .rclone.conf rclone.conf .xauthority .iceauthority .claude.json .credentials.json
    oauth_creds.json .dev.vars .vault_pass .vault_pass.txt vault_pass vault_pass.txt vault_pass.py
    .vault_password .vault_password.txt vault_password vault_password.txt .vault-pass .vault-password
    vault-password vault-password.txt .ansible_vault_pass .vault_password_file .tugboat .trc .cqlshrc .dogrc
    .modal.toml .vast_api_key .comet.config .sentryclirc .clasprc.json .dockerconfigjson sftp-config.json
    sftp.json filezilla.xml recentservers.xml sitemanager.xml otr.private_key proftpdpasswd
    dbeaver-data-sources.xml robomongo.json robo3t.json
    jenkins.plugins.publish_over_ssh.bapsshpublisherplugin.xml wp-config.php localsettings.php key.properties
    keystore.properties signing.properties password.txt passwords.txt passwd.txt .password .passwords
    .pgpass.conf keys.db signons.sqlite key3.db key4.db logins.json wallet.dat .htdigest .remote-sync.json
    .ftpconfig api_key.txt apikey.txt api_keys.json apikeys.json .apikey .api_key"""
)
_SECRET_DIRECTORIES = word_set(
    """.ssh .gnupg .aws .azure .gcloud .kube .password-store .mozilla .thunderbird keyrings gcloud .docker
    .1password .bitwarden .electrum .oci .terraform.d .snowsql .snowflake .kaggle .fly .pulumi .bitcoin .ethereum
    .litecoin .dogecoin .monero .near-credentials .secrets .chef .saml2aws .aws-vault .granted .okta .databricks"""
)
_SECRET_ENDINGS = (
    ".pem", ".key", ".p12", ".pkcs12", ".pfx", ".p8", ".pk8", ".jks", ".bks", ".keystore", ".keyring", ".keypair",
    ".kdb", ".kdbx", ".psafe3", ".agilekeychain", ".opvault", ".keychain", ".keychain-db", ".kwallet", ".ppk", ".ovpn",
    ".tblk", ".tfstate", ".tfstate.backup", ".asc", ".gpg", ".pgp", ".tfvars", ".tfvars.json", ".mobileprovision",
    ".cscfg", ".publishsettings", ".rdp", ".bek", ".fve", ".kubeconfig", ".dockercfg", ".dockerconfigjson", ".netrc",
    ".htpasswd", ".credentials", ".creds", ".secret", ".secrets", ".apikey", ".keytab", ".jwk", "_rsa", "_dsa",
    "_ecdsa", "_ed25519", ".vault_pass", ".vaultpass", ".agekey",
)  # fmt: skip
# What the name of a data file ends with, and what names keys of service accounts.
_SECRET_STEM = re.compile(
    r"(?:^|[-_.])(?:secrets?|credentials?|passwords?|creds|auth-?tokens?|(?:private|api|access|gcp|gcloud)[-_]?keys?|rootkey)\.\w+$"
)
_SERVICE_KEY = re.compile(r"service[-_]?account|client[-_]?secret|firebase-adminsdk")
_DATA_ENDINGS = (".json", ".toml", ".ini", ".csv", ".txt", ".xml", ".properties", ".cfg", ".conf", ".plist")
# Words in such names that say: nothing real.
_PUBLIC_DATA = re.compile(
    r"(?:^|[-_.])(?:example|sample|template|schema|dist|dummy|fake|mock|baseline|test|tests|pub|public|enc|sops)(?:[-_.]|$)"
)
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
    .expo .steam .zoom .lastpass .config/lastpass .local/share/lpass .config/rbw .local/share/rbw
    .claude .codex .gemini .qwen .local/share/opencode .config/opencode .cursor .continue .kimi .copilot
    .config/goose .local/share/goose .factory .augment .windsurf .codeium .roo .cline .kiro .local/share/amazon-q
    .config/crush .local/share/crush .vibe .amp .config/amp .local/share/amp .openhands .trae .junie .grok .aider
    .config/aider .config/io.datasette.llm .config/aichat .config/mods .config/shell_gpt .openai .anthropic
    .config/Cursor/User/globalStorage .config/VSCodium/User/globalStorage .config/kilocode .config/gemini
    .config/claude .config/codex .tabnine .config/TabNine .config/linear .config/tea .config/turso .config/neonctl
    .config/supabase .config/planetscale .config/exercism .config/mc .mc .config/b2 .config/nextcloud
    .config/Nextcloud .config/linode-cli .linode .config/vultr-cli.yaml .vultr-cli.yaml .config/exoscale .ovh.conf
    .config/argocd .argocd .circleci/cli.yml .travis/config.yml .config/datadog .newrelic .config/snowflake .mongodb
    .config/mongocli .config/atlascli .cassandra .influxdbv2 .msf4 .config/shodan .shodan .config/censys
    .config/kaggle .ipython/profile_default/history.sqlite .config/neptune .cache/huggingface/stored_tokens
    .replicate .lambda_cloud .runpod .config/vastai .together .config/cloudflare .now .config/firebase .fastlane
    .android/adbkey .appcenter .ivy2/.credentials .sbt/credentials .sbt/1.0/credentials.sbt .lein/credentials.clj
    .lein/profiles.clj .hex/hex.config .config/uv/credentials .local/share/uv/credentials .age .config/keybase
    .local/share/keybase .config/tailscale .config/protonvpn .config/nordvpn .pki .config/Element .config/Mattermost
    .config/skypeforlinux .config/solana .foundry/keystores .sui .aptos .brownie .config/Exodus .config/stripe
    .config/twilio-cli .twilio-cli .config/sentry .local/share/pass .config/himalaya .config/neomutt .config/aerc
    .config/mutt .config/msmtp .config/isyncrc .config/lab .config/jira .config/.jira .config/acli .config/gcalcli
    .gcalcli_oauth .config/todoist .config/remmina .local/share/remmina .config/dbeaver .local/share/DBeaverData
    .config/beekeeper-studio .config/Insomnia .config/Postman .config/teleport .tsh .config/boundary .vault-token
    .config/infisical .infisical .config/doppler .doppler .ollama/id_ed25519 .config/helm/registry/config.json"""
)
_FOLDED_CREDENTIALS = frozenset(name.casefold() for name in HOME_CREDENTIALS)
_DEEPEST = max(name.count("/") + 1 for name in HOME_CREDENTIALS)
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
    if len(parts) > 1 and parts[-2] == ".git" and parts[-1] == "config":
        return ".git/config"
    return parts[-1] if _is_secret_file(parts[-1]) else ""


@lru_cache(maxsize=4096)
def _is_secret_file(last: str) -> bool:
    """By its folded name alone; a search of a tree asks for the same names again and again."""
    if last in _SECRET_FILES or _is_env(last) or _is_named_env(last) or last.endswith(_SECRET_ENDINGS):
        return True
    if not last.endswith(_DATA_ENDINGS) or _PUBLIC_DATA.search(last):
        return False
    return bool(_SECRET_STEM.search(last) or (last.endswith(".json") and _SERVICE_KEY.search(last)))


def home_credential(path: str, home: str) -> str:
    """The place of the home directory that keeps credentials or another agent's state and holds this path, or an empty
    string. Both paths are resolved."""
    if not path.startswith(home.rstrip("/") + "/"):
        return ""
    parts = components(path[len(home.rstrip("/")) :])
    starts = ("/".join(parts[:count]) for count in range(1, min(len(parts), _DEEPEST) + 1))
    return next((start for start in starts if start in _FOLDED_CREDENTIALS), "")


def _is_env(name: str) -> bool:
    if name == ".env":
        return True
    return name.startswith(".env.") and name.rsplit(".", 1)[1] not in _PUBLIC_ENV


def _is_named_env(name: str) -> bool:
    """`prod.env`, `.env-local`, `.env_prod`; not `example.env`."""
    if name.endswith(".env"):
        return name[:-4].rsplit(".", 1)[-1] not in _PUBLIC_ENV
    return name.startswith((".env-", ".env_")) and name[5:] not in _PUBLIC_ENV


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


_ASSIGNMENT = re.compile(rb"""(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(.*)""")
_SECRET_KEY = re.compile(
    rb"""(?i)(?:^|[_.-])(?:key|token|secret|passwd|password|passphrase|pass|pwd|credentials?|apikey|auth|dsn|pat)(?:$|[_.-])"""
    rb"""|api_?key|secret|password|access_?key|private_?key"""
)
_NO_VALUE = re.compile(
    rb"""(?i)["']?(?:\$\{?\w.*|<.*>|x{3,}.*|\*{3,}|change_?me.*|your[-_ ].*|example.*|todo|none|null|true|false"""
    rb"""|\d{1,5})?["']?"""
)
_CLUSTER_SECRET = re.compile(
    rb"(?ms)^kind:[ \t]*Secret[ \t]*$.*^(?:stringData|data):|^(?:stringData|data):.*^kind:[ \t]*Secret[ \t]*$"
)
_MAX_SHAPE_LINES = 400
_SOURCE_ENDINGS = (
    ".py", ".pyi", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rs", ".go", ".c", ".h", ".cc", ".cpp", ".hpp",
    ".java", ".kt", ".rb", ".php", ".cs", ".swift", ".scala", ".md", ".rst", ".html", ".css", ".scss", ".json", ".lock",
    ".svg", ".yml", ".yaml", ".xml", ".csv", ".sql", ".log", ".toml", ".ipynb", ".lua", ".pl", ".ex", ".exs", ".zig",
    ".vue",
)  # fmt: skip


def may_have_secret_shape(name: str) -> bool:
    """Whether a file of this name may be one of settings: source and documents are never looked into."""
    name = name.lower()
    if _PUBLIC_DATA.search(name):
        return False  # `.env.example` shows how such a file looks
    return not name.endswith(_SOURCE_ENDINGS) or ("secret" in name and name.endswith((".yml", ".yaml")))


def has_secret_shape(data: bytes) -> bool:
    """Whether the text consists of `KEY=value` lines, and one of the names promises a secret and has a value; or it is
    a Secret of Kubernetes that is no template."""
    if _CLUSTER_SECRET.search(data):
        return b"{{" not in data
    lines = [line.strip() for line in data.splitlines()[:_MAX_SHAPE_LINES]]
    kept = [line for line in lines if line and not line.startswith((b"#", b";", b"["))]
    found = [_ASSIGNMENT.fullmatch(line) for line in kept]
    if not found or None in found:
        return False
    return any(one is not None and _SECRET_KEY.search(one[1]) and not _NO_VALUE.fullmatch(one[2]) for one in found)


# Directories that a system or its people cannot lose.
CRITICAL = word_set(
    """/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /usr/bin
    /usr/lib /usr/sbin /usr/local /usr/share /var /var/lib /var/log /Users /System /Library /Applications
    /private /private/etc /private/var /Volumes /cores"""
)


def odd_name(path: str) -> str:
    """Why a name must be shown before it is used, or an empty string."""
    hides = not path.isprintable() if path.isascii() else HIDDEN.search(WANTED.sub("", path))
    if hides:
        return "the name holds control, invisible or direction-changing characters"
    parts = [part for part in path.split("/") if part not in ("", ".", "..") and not part.isascii()]
    if any(read in ("..", ".") or "/" in read or "\\" in read for read in (normalize("NFKC", part) for part in parts)):
        return "the name holds look-alikes of dots or slashes"
    return ""
