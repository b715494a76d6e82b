"""Files that hold secrets, by suffix, name, place and the shape of their content; and git's ways to name them."""

import subprocess
from pathlib import Path

import pytest

from clew.text.guarded_names import has_secret_shape, home_credential, secret_name
from clew.text.redact import redact
from unit.permissions.scenes import GIT_ENV
from unit.permissions.world import World

# Written from what public scanners look for: gitleaks, trufflehog, shhgit, gitrob, and the ignore files of GitHub.
SECRET = """
.env prod.env staging.env .env.production .env-local .env_prod secrets.env config/prod.env docker/web.env .envrc
serviceAccountKey.json service-account.json gcp-service_account.json my-app-firebase-adminsdk-x1.json
client_secret_123.apps.json application_default_credentials.json google-credentials.json aws-credentials.json
new_user_credentials.csv db-password.txt api_key.txt api-keys.json private_key.json rootkey.csv accessKeys.csv
.vault_pass .vault_pass.txt vault_pass vault_pass.txt .vault-password .vault_password_file prod.vault_pass
terraform.tfvars prod.tfvars prod.auto.tfvars x.auto.tfvars.json terraform.tfstate terraform.tfstate.backup .terraformrc
terraform.rc credentials.tfrc.json .pypirc .netrc _netrc kubeconfig .kubeconfig kubeconfig.yaml prod.kubeconfig
.dockercfg .dockerconfigjson .docker/config.json .aws/credentials .kube/config .ssh/config .gnupg/secring.gpg
server.pem tls.key cert.p12 bundle.pkcs12 cert.pfx AuthKey_X.p8 debug.keystore upload.jks vpn.ovpn site.tblk
x.kdbx x.kdb x.psafe3 x.agilekeychain login.keychain login.keychain-db x.kwallet x.ppk key.asc secret.gpg krb5.keytab
deploy_rsa github_ed25519 id_ecdsa my_dsa ssh_host_ed25519_key otr.private_key secret_token.rb master.key
wp-config.php LocalSettings.php .htpasswd users.htpasswd .pgpass .my.cnf .mylogin.cnf .s3cfg .boto .passwd-s3fs .trc
.tugboat .muttrc .msmtprc sftp-config.json filezilla.xml recentservers.xml sitemanager.xml credentials.xml
dbeaver-data-sources.xml robomongo.json .bash_history .zsh_history .zhistory .psql_history .mysql_history .irb_history
.python_history .node_repl_history .mongo_history fish_history logins.json key4.db wallet.dat .git-credentials hub
auth.json auth.toml tokens.json .secrets .secrets/db secrets.yml secrets.toml app.secrets.json keystore.properties
key.properties Azure.cscfg x.publishsettings server.rdp disk.bek .databrickscfg .modal.toml .npmrc .yarnrc.yml
.CREDS.json
"""
ORDINARY = """
README.md environment.yml env.py .env.example .env.sample .env.template example.env sample.env template.env .env.test
password-policy.md passwords.py secrets.py secret_manager.ts credentials.ts token.ts tokenizer.json tokens.css auth.py
templates/serviceaccount.yaml templates/secret.yaml app-secret.yaml service-account.md service-account.example.json
credentials.example.json client_secret.sample.json key.py keys.ts keyboard.json keymap.json monkey.txt turkey.csv
.secrets.baseline package.json tsconfig.json config.json settings.py database.yml docker-compose.yml .gitignore
passwd.c history.md rsa.go dsa.py certificate.crt public.der id_rsa.pub known_hosts.md config.ini app.conf hosts.txt
key-bindings.toml apikey.go accesskeys.md test-credentials.json mock_secrets.json
"""


@pytest.mark.parametrize("name", SECRET.split())
def test_names_that_scanners_look_for_are_secrets(name: str) -> None:
    assert secret_name(name)
    assert secret_name(f"a/b/{name}")
    assert secret_name(name.upper())


@pytest.mark.parametrize("name", ORDINARY.split())
def test_ordinary_names_are_not(name: str) -> None:
    assert not secret_name(name)


CREDENTIALS = """
.netrc .git-credentials .npmrc .pypirc .pgpass .my.cnf .vault-token .s3cfg .boto .terraformrc .databrickscfg .muttrc
.ssh/id_ed25519 .ssh/config .aws/credentials .aws/config .azure/accessTokens.json .kube/config .docker/config.json
.gnupg/private-keys-v1.d/x.key .password-store/x.gpg .mozilla/firefox/x/logins.json .config/gh/hosts.yml .config/hub
.config/gcloud/credentials.db .config/op/config .config/rclone/rclone.conf .config/doctl/config.yaml
.config/google-chrome/Default/Cookies .local/share/keyrings/login.keyring .cargo/credentials.toml .gem/credentials
.m2/settings.xml .gradle/gradle.properties .composer/auth.json .config/pypoetry/auth.toml .cache/huggingface/token
.claude.json .claude/.credentials.json .claude/projects/x/y.jsonl .codex/auth.json .codex/sessions/x.jsonl
.gemini/oauth_creds.json .gemini/settings.json .qwen/oauth_creds.json .local/share/opencode/auth.json
.local/share/opencode/storage/x .cursor/mcp.json .continue/config.json .config/github-copilot/apps.json
.bash_history .zsh_history .config/anthropic/key .config/solana/id.json .terraform.d/credentials.tfrc.json
.fly/config.yml .config/heroku/x .vercel/auth.json .netlify/config.json .wrangler/config/default.toml
.pulumi/credentials.json .kaggle/kaggle.json .config/stripe/config.toml .snowsql/config .oci/config .password
.config/wandb/x .config/openai/x
"""


@pytest.mark.parametrize("mode", ["default", "plan", "acceptEdits", "bypassPermissions"])
def test_no_credential_of_the_home_is_read_unasked(world: World, mode: str) -> None:
    for name in CREDENTIALS.split():
        path = world.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    read: list[str] = []
    for name in CREDENTIALS.split():
        for command in (f"cat ~/{name}", f"cat {world.home}/{name}", f"cp ~/{name} x", f"base64 < ~/{name}"):
            if world.command(command, mode=mode) == "allow":
                read.append(command)
        if world.check(op="read", path=f"~/{name}", mode=mode)["verdict"] == "allow":
            read.append(name)
    assert read == []


def test_a_place_of_the_home_is_found_by_whole_components() -> None:
    assert home_credential("/h/.claude/x", "/h") == ".claude"
    assert home_credential("/h/.config/gh/hosts.yml", "/h") == ".config/gh"
    assert home_credential("/h/.claude-notes/x", "/h") == ""
    assert home_credential("/w/.claude/x", "/h") == ""
    assert home_credential("/h", "/h") == ""


SHAPES = {
    "DB_PASSWORD=hunter2hunter2\n": True,
    "# settings\nexport API_KEY=abcdef123456\nDEBUG=1\n": True,
    "[section]\naws_secret_access_key = abcd/efgh\n": True,
    "db.password=s3cr3tvalue\nurl=x\n": True,
    "A=1\nB=2\n": False,
    "API_KEY=\nTOKEN=<your token>\nSECRET=changeme\n": False,
    "TOKEN=${TOKEN}\n": False,
    "This is text.\nAPI_KEY=abcdef123456\n": False,
    "": False,
    "apiVersion: v1\nkind: Secret\ndata:\n  a: aGVsbG8=\n": True,
    "kind: Secret\ndata:\n  a: {{ .Values.a }}\n": False,
    "kind: ConfigMap\ndata:\n  a: b\n": False,
}


@pytest.mark.parametrize("text", SHAPES)
def test_the_shape_of_a_file_of_settings(text: str) -> None:
    assert has_secret_shape(text.encode()) is SHAPES[text]


@pytest.mark.parametrize(
    "name", ["settings", "vars.txt", "app.conf", "prod", "start.sh", "local.properties", "app-secret.yaml"]
)
def test_a_file_of_settings_with_a_secret_asks_under_any_name(world: World, name: str) -> None:
    path = world.workspace / name
    path.write_text("MODE=1\n")
    assert world.command(f"cat {name}") == "allow"
    path.write_text("MODE=1\nAPI_KEY=abcdef123456\n")
    for command in (f"cat {name}", f"head -1 {name}", f"grep x {name}", f"sort < {name}"):
        assert world.command(command) == "ask", command
    assert world.command(f"ls -l {name}") != "deny"
    assert world.check(op="read", path=name)["verdict"] == "ask"
    assert world.check(op="read", path=name, rules={"allow": [f"Read({name})"]})["verdict"] == "allow"


def test_source_and_documents_are_not_looked_into(world: World) -> None:
    for name in ("x.py", "x.md", "x.js", "x.log", ".env.example", "env.sample", ".env.test", "config.template"):
        (world.workspace / name).write_text("API_KEY=abcdef123456\n")
        assert world.command(f"cat {name}") == "allow"


@pytest.fixture
def repository(world: World) -> World:
    for name in ("config/.env", "deploy/prod.pem", "src/app.py", "conf/plain.txt"):
        path = world.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("A=1\n")
    (world.workspace / ".git").rmdir()
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=world.workspace, env={**GIT_ENV, "HOME": str(world.home)}, check=True)
    return world


ASKING = (
    "git show ':*.env'",
    "git show 'HEAD:*.env'",
    "git diff -- '*.pem'",
    "git diff '*.pem'",
    "git log -p -- '*.key'",
    "git grep x -- ':(glob)**/.env'",
    "git grep x -- '*.env'",
    "git diff -- 'config/*'",
    "git diff ':(top)config/*'",
    "git diff -- ':(icase)CONFIG/*'",
    "git log -p -- ':/deploy/*'",
    "git show HEAD -- 'd*/p*'",
    "git diff -- '**/.e*'",
    "git log -L 1,5:config/.env",
    "git log -L :main:deploy/prod.pem",
    "git log -L1,2:config/.env",
    "git blame -L 1,5 config/.env",
    "git blame config/.env",
    "git diff HEAD~1 HEAD -- '*.p?m'",
    "git diff -- '*.[p]em'",
    "git grep x",
    "git grep x -- config",
    "git log -L 1,5:{OUTSIDE}/x",
    "git cat-file -p HEAD:config/.env",
    "git diff -- ':(glob)config/*'",
)
RUNNING = (
    "git diff -- '*.py'",
    "git diff -- 'src/*'",
    "git log -p -- ':(glob)**/*.py'",
    "git grep x -- '*.py'",
    "git grep x -- src",
    "git log -L 1,5:src/app.py",
    "git log -L :main:src/app.py",
    "git blame -L 1,5 src/app.py",
    "git diff -- '*.txt' ':!*.env'",
    "git log -- ':!*.pem' src",
    "git grep -l x",
    "git diff",
    "git log -p -- src",
)


@pytest.mark.parametrize("command", ASKING)
def test_git_asks_for_a_secret_by_pattern_magic_or_line(repository: World, command: str) -> None:
    assert repository.command(command) == "ask"


@pytest.mark.parametrize("command", RUNNING)
def test_git_runs_where_no_secret_is_taken(repository: World, command: str) -> None:
    assert repository.check(command=command)["verdict"] == "allow", repository.check(command=command)


BODY = [f"MIIEpAIBAAKCAQEA{'abcd1234+/' * 4}{number}" for number in range(5)]
KEY = ["-----BEGIN RSA PRIVATE KEY-----", *BODY, "c2hvcnQ=", "-----END RSA PRIVATE KEY-----"]


@pytest.mark.parametrize(
    "line",
    [
        "{n:6}\t{l}",
        "{n}:{l}",
        "src/k.pem:{n}:{l}",
        "   {n}→{l}",
        "{n:4} │ {l}",
        "{n}- {l}",
        "{n:>4}  {l}",
        "{l}",
        "{n}) {l}",
    ],
)
def test_numbered_lines_of_a_private_key_are_redacted(line: str) -> None:
    text = "\n".join(line.format(n=number, l=one) for number, one in enumerate(KEY, 1))
    told = redact(f"before\n{text}\nafter 1\n")
    assert not any(part in told for part in ("MIIE", "c2hvcnQ"))
    assert told.startswith("before\n")
    assert told.endswith("after 1\n")


def test_the_list_and_its_shape_need_no_file(tmp_path: Path) -> None:
    assert secret_name(str(tmp_path / "prod.env")) == "prod.env"
