"""What commands try in the sandbox: names to plant, ways to plant them, ways out, secrets to read, and honest work."""

from pathlib import Path


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in their order."""
    return tuple(text.split())


def lines(name: str) -> tuple[str, ...]:
    """The probes of a file, one on each line."""
    text = (Path(__file__).parent / "probes" / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("# "))


WAYS = lines("ways")
CHANGES = lines("changes")
WAYS_OUT = (*lines("ways_out"), *lines("deeper_ways_out"))
NOT_FOR_LANDLOCK = lines("not_for_landlock")
NOT_FOR_BWRAP = lines("not_for_bwrap")
WORK = lines("work")
READS = lines("reads")

# Missing at the top of the workspace. Every one can run programs, steer tools or configure agents.
NEW_NAMES = words(
    """
    .mcp.json .envrc .clew .claude .codex .gemini .cursor .qwen .opencode .vscode .idea .zed .devcontainer .husky
    .githooks .circleci .config .direnv .hg .svn .windsurf .kiro .roo .cline .goose .agents .aider.conf.yml .npmrc
    .yarnrc .yarnrc.yml .pnpmfile.cjs .gitmodules .gitattributes .pre-commit-config.yaml .gitlab-ci.yml .travis.yml
    Jenkinsfile mise.toml .mise.toml lefthook.yml .cursorrules .clinerules .env .env.local .pdbrc .gdbinit
    opencode.json azure-pipelines.yml evil.pth .bashrc .gitconfig .ssh .aws .docker .MCP.json .Claude .VSCODE
    """
)

# Missing in `.git`, each of which sends git elsewhere.
NEW_IN_GIT = words(
    """
    commondir config.worktree gitdir modules worktrees remotes info/attributes info/grafts objects/info/alternates
    objects/info/http-alternates hooks/post-checkout hooks/post-index-change modules/sub/config
    worktrees/w/commondir
    """
)

# Credential files of the project: every one holds CANARY.
PROJECT_SECRETS = words(
    """
    .env .env.local .env.production package/.env package/deep/er/.env.staging .netrc .pgpass credentials.json
    config/credentials.yml config/master.key secrets.yaml deploy/secrets.toml deploy/id_rsa deploy/id_ed25519
    certs/server.key certs/server.pem certs/store.p12 certs/app.jks infra/terraform.tfstate infra/prod.tfvars
    infra/kubeconfig vault.kdbx app/service-account.json app/client_secret_1.json auth.json token.json .htpasswd
    .aws/credentials .kube/config .docker/config.json keys/.ssh/config .npmrc .yarnrc.yml .pypirc .dev.vars .envrc
    vpn/work.ovpn ENV/.ENV
    """
)

# Credential files of the home directory.
HOME_SECRETS = words(
    """
    .ssh/id_rsa .ssh/config .aws/credentials .gnupg/private-keys-v1.d/k .kube/config .netrc .docker/config.json
    .git-credentials .config/gh/hosts.yml .config/gcloud/credentials.db .npmrc .pypirc .pgpass .my.cnf .vault-token
    .bash_history .zsh_history .psql_history .python_history .cargo/credentials.toml .gem/credentials
    .m2/settings.xml .gradle/gradle.properties .boto .s3cfg .config/rclone/rclone.conf
    .local/share/keyrings/login.keyring .mozilla/firefox/p/logins.json .config/google-chrome/Default/Cookies
    .claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json .local/share/opencode/auth.json
    .config/composer/auth.json .composer/auth.json .config/pip/pip.conf .databrickscfg .snowsql/config
    .kaggle/kaggle.json .cache/huggingface/token .config/op/config .password-store/a.gpg
    .terraform.d/credentials.tfrc.json .oci/config .env .config/git/credentials .msmtprc .fly/config.yml
    .config/doctl/config.yaml .nuget/NuGet/NuGet.Config .config/hub .azure/accessTokens.json .dbt/profiles.yml
    .subversion/auth/x .smbcredentials
    """
)

# Variables with a secret, few of them with a telling name.
SECRET_VARIABLES = words(
    """
    AWS_SECRET_ACCESS_KEY GITHUB_TOKEN DATABASE_URL STRIPE_LIVE SENTRY TWILIO_SID MAILGUN PGPASSFILE REDIS_URI MONGO
    JWT SIGNING ENCRYPTION_SALT SLACK_HOOK DEPLOY_PAT2 FERNET CLOUDFLARE SSH_PRIVATE KEYSTORE_PW LICENSE
    MY_COMPANY_LOGIN OTP_SEED WEBHOOK BEARER KUBE_CONFIG_DATA
    """
)

PUBLIC_FILES = {
    ".env.example": "KEY=CANARY",
    ".env.sample": "KEY=CANARY",
    "certs/ca.pem": "-----BEGIN CERTIFICATE-----\nCANARY\n",
    "certs/site.crt": "CANARY",
    "keys/id_rsa.pub": "CANARY",
    "web/.npmrc": "save-exact=true\n# CANARY\n",
    "web2/.npmrc": "//host/:_authToken=${NPM_TOKEN}\n# CANARY\n",
    "web/.yarnrc.yml": "nodeLinker: node-modules # CANARY\n",
    "src/token.py": "CANARY",
    "src/secrets.py": "CANARY",
    "docs/keys.md": "CANARY",
    "src/env.ts": "CANARY",
}
"""Must stay readable."""
