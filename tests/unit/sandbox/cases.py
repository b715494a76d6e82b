"""What commands try in the sandbox: names to plant, ways to plant them, ways out, secrets to read, and honest work."""

# Missing at the top of the workspace. Every one can run programs, steer tools or configure agents.
NEW_NAMES = (
    ".mcp.json", ".envrc", ".clew", ".claude", ".codex", ".gemini", ".cursor", ".qwen", ".opencode", ".vscode",
    ".idea", ".zed", ".devcontainer", ".husky", ".githooks", ".circleci", ".config", ".direnv", ".hg", ".svn",
    ".windsurf", ".kiro", ".roo", ".cline", ".goose", ".agents", ".aider.conf.yml", ".npmrc", ".yarnrc",
    ".yarnrc.yml", ".pnpmfile.cjs", ".gitmodules", ".gitattributes", ".pre-commit-config.yaml", ".gitlab-ci.yml",
    ".travis.yml", "Jenkinsfile", "mise.toml", ".mise.toml", "lefthook.yml", ".cursorrules", ".clinerules",
    ".env", ".env.local", ".pdbrc", ".gdbinit", "opencode.json", "azure-pipelines.yml", "evil.pth", ".bashrc",
    ".gitconfig", ".ssh", ".aws", ".docker", ".MCP.json", ".Claude", ".VSCODE",
)  # fmt: skip

# How a name can come into being. NAME is replaced; `seed` is a file and `seeds` a directory with a file in it.
WAYS = (
    "echo evil > NAME",
    "mkdir NAME && echo evil > NAME/settings.json",
    "mv src/seed NAME",
    "mv src/seeds NAME",
    "ln -s src NAME",
    "ln src/seed NAME",
    "cp -r src/seeds NAME",
    "cd src && cp seed ../NAME",
    "mkfifo NAME",
    "python3 -c \"import os; os.mknod('NAME', 0o100644)\"",
    "python3 -c \"import os; d = os.open('.', os.O_RDONLY); os.rename('src/seed', 'NAME', dst_dir_fd=d)\"",
    "ln -s .. src/up; echo evil > src/up/NAME",
    "(sleep 0.15; echo evil > NAME) & wait",
    "setsid sh -c 'echo evil > NAME' & sleep 0.2",
    "touch src/x; mv src/x src/y; mv -T src/y NAME; sync",
    "for i in 1 2 3 4 5 6 7 8; do echo evil > NAME; mkdir -p NAME; done",
    "tar -cf - -C src seeds | tar -xf - --transform 's,^seeds,NAME,'",
)  # fmt: skip

# Missing in `.git`, each of which sends git elsewhere.
NEW_IN_GIT = (
    "commondir", "config.worktree", "gitdir", "modules", "worktrees", "remotes", "info/attributes", "info/grafts",
    "objects/info/alternates", "objects/info/http-alternates", "hooks/post-checkout", "hooks/post-index-change",
    "modules/sub/config", "worktrees/w/commondir",
)  # fmt: skip

# Present before, and to be found as they were.
CHANGES = (
    "echo evil > .git/config", "git config core.fsmonitor evil", "git config core.hooksPath src", "rm -f .git/config",
    "mv .git/config .git/old", "echo evil >> .git/hooks/pre-commit.sample", "rm -rf .git/hooks", "mv .git/hooks .git/h",
    "mv .git gone", "rm -rf .git; mkdir .git; echo evil > .git/config", "ln -sf /etc/passwd .git/config",
    "chmod 777 .git/config", "truncate -s 0 .git/config", "rm -rf .git/info .git/objects/info",
    "mv .git/info .git/i && mkdir .git/info && echo evil > .git/info/attributes",
    "mv .git/objects/info x && mkdir .git/objects/info && echo /evil > .git/objects/info/alternates",
    "echo evil > .clew/settings.json", "rm -rf .clew", "mv .clew src/", "touch .clew/new", "chmod 777 .clew",
    "mv .clew/settings.json x", "ln .clew/settings.json src/alias && echo evil > src/alias",
    "python3 -c \"import os; os.rename('.clew', 'x')\"", "echo evil > .github/workflows/ci.yml",
    "rm -rf .github/workflows", "mv .github/workflows .github/w; mkdir .github/workflows",
    "mkdir .github/actions && echo evil > .github/actions/a.yml", "echo evil > package/.vscode/tasks.json",
    "rm -rf package/.vscode", "echo evil > package/.git/config", "mv package/.git package/g",
    "sed -i s/true/false/ .clew/settings.json", "cp src/seed .clew/settings.json", "dd if=src/seed of=.clew/settings.json",
    "git remote add x ext::sh", "git config --worktree core.x y", "git submodule add ./src sub",
    "git update-server-info; echo x > .git/info/grafts",
)  # fmt: skip

# Ways out of the sandbox; none may leave a trace outside or print ESCAPED.
WAYS_OUT = (
    "echo x > $OUT/new", "echo x > $OUT/old", "rm -f $OUT/old", "mv $OUT/old src/", "mkdir $OUT/d", "chmod 777 $OUT/old",
    "ln $OUT/old src/hard && echo x > src/hard", "ln -s $OUT src/o; echo x > src/o/new", "truncate -s 0 $OUT/old",
    "touch -d 2001-01-01 $OUT/old", "cp src/seed $OUT/old", "setfattr -n user.x -v y $OUT/old && echo ESCAPED",
    "python3 -c \"import os; os.truncate('$OUT/old', 0)\"", "echo x > /usr/local/clew-probe", "echo x > /etc/clew-probe",
    "echo x > $HOME/.bashrc", "mkdir -p $HOME/.config/autostart",
    "umount $PWD && echo ESCAPED", "mount -t tmpfs none /mnt && echo ESCAPED", "mount --bind / src && echo ESCAPED",
    "unshare -rm true && echo ESCAPED", "unshare -r true && echo ESCAPED", "nsenter -t 1 -m true && echo ESCAPED",
    "chroot / true && echo ESCAPED", "mknod src/disk b 254 0 && echo ESCAPED", "mknod src/mem c 1 1 && echo ESCAPED",
    "head -c 1 /dev/vda && echo ESCAPED", "ls /dev/vd* /dev/sd* /dev/nvme* /dev/loop* /dev/dm-* 2>/dev/null && echo ESCAPED",
    "find /dev -type b | grep . && echo ESCAPED", "head -c 1 /dev/mem && echo ESCAPED", "test -w /dev/kmsg && echo x > /dev/kmsg && echo ESCAPED",
    "cat /proc/kcore | head -c 8 | grep . && echo ESCAPED", "echo 1 > /proc/sys/kernel/clew_probe && echo ESCAPED",
    "echo 1 > /proc/sys/vm/drop_caches && echo ESCAPED", "test -w /proc/sysrq-trigger && echo x > /proc/sysrq-trigger && echo ESCAPED",
    "echo x > /sys/kernel/clew_probe && echo ESCAPED", "kill -0 $AGENT && echo ESCAPED", "cat /proc/$AGENT/environ && echo ESCAPED",
    "ls /proc/$AGENT/root/ && echo ESCAPED", "cat /proc/$AGENT/mem && echo ESCAPED", "strace -p $AGENT && echo ESCAPED",
    "exec 3<>/dev/tcp/127.0.0.1/$PORT && echo ESCAPED", "python3 -c \"import socket; socket.create_connection(('::1', $PORT)); print('ESCAPED')\"",
    "python3 -c \"import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print('ESCAPED')\"",
    "python3 -c \"import socket; socket.socket(40, socket.SOCK_STREAM); print('ESCAPED')\"",
    "python3 -c \"import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('ESCAPED')\"",
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$SOCKET'); print('ESCAPED')\"",
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('\\\\0$ABSTRACT'); print('ESCAPED')\"",
    "python3 -c \"import ctypes; print('ESCAPED' if ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0 else '')\"",
    "python3 -c \"import ctypes; print('ESCAPED' if ctypes.CDLL(None).syscall(425, 4, 0) >= 0 else '')\"",
    "sudo -n true && echo ESCAPED", "su -c true && echo ESCAPED", "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo ESCAPED",
    "ipcs -m | grep clew && echo ESCAPED", "dmesg | head -1 | grep . && echo ESCAPED",
)  # fmt: skip

# Landlock alone has no say over rights and times, and shows the names in /dev; it promises content only.
NOT_FOR_LANDLOCK = (
    "chmod 777 .git/config", "chmod 777 .clew", "touch -d 2001-01-01 $OUT/old", "chmod 777 $OUT/old",
    "find /dev -type b | grep . && echo ESCAPED", "setfattr -n user.x -v y $OUT/old && echo ESCAPED",
    "ls /dev/vd* /dev/sd* /dev/nvme* /dev/loop* /dev/dm-* 2>/dev/null && echo ESCAPED",
)  # fmt: skip

# Honest work that must go on working where mounts hold (bubblewrap, namespaces).
WORK = (
    "touch top.txt && mkdir build && touch build/x", "rm -rf src && mkdir src && touch src/a.py", "mv src lib",
    "sed -i s/a/b/ README.md", "mkdir -p .pytest_cache .venv/bin node_modules/a dist", "echo 3 >> src/a.py && git add -A && git commit -qm x",
    "echo 2 >> src/a.py && git stash -q && git stash pop -q", "git checkout -q -b topic && git checkout -q -",
    "git tag v1 && git tag -d v1", "git log --oneline && git status --porcelain", "git rm -q --cached README.md",
    "git clean -fdq", "git worktree list", "git diff --stat HEAD", "t=$(mktemp) && echo x > $t && cat $t",
    "mkdir -p $TMPDIR/r && cd $TMPDIR/r && git init -q . && git config a.b c && touch f && git add f",
    "python3 -c \"import sqlite3; c = sqlite3.connect('db.sqlite3'); c.execute('create table t(x)'); c.commit()\"",
    "echo x > /dev/null && head -c 4 /dev/urandom | wc -c && echo y > /dev/shm/y", "ls /dev/fd /dev/pts > /dev/null",
    "python3 -c \"import pty; pty.openpty()\"", "python3 -c \"import multiprocessing as m; m.Lock(); print(m.Pool(2).map(abs, [1]))\"",
    "python3 -c \"import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())\"",
    "python3 -c \"import socket; s = socket.create_server(('::1', 0), family=socket.AF_INET6); socket.create_connection(s.getsockname()[:2])\"",
    "python3 -c \"import socket; s = socket.create_server(('localhost', 0)); socket.create_connection(('localhost', s.getsockname()[1]))\"",
    "python3 -c \"import socket; a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(('127.0.0.1', 0)); a.sendto(b'x', a.getsockname()); a.recv(1)\"",
    "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.bind('src/s.sock'); s.listen(); socket.socket(socket.AF_UNIX).connect('src/s.sock')\"",
    "python3 -c \"import socket; socket.if_nameindex()\"", "python3 -c \"import socket; a, b = socket.socketpair()\"",
    "python3 -m http.server --bind 127.0.0.1 8731 >/dev/null 2>&1 & sleep 0.7; python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:8731/')\"; kill %1",
    "cp -r src copy && rm -r copy", "chmod +x src/a.py", "ln -s src/a.py link && rm link", "tar cf t.tar src && rm t.tar",
    "mkdir .github2 && rmdir .github2", "echo ok > .editorconfig", "echo x > .prettierrc && rm .prettierrc",
)  # fmt: skip

# Credential files of the project: every one holds CANARY.
PROJECT_SECRETS = (
    ".env", ".env.local", ".env.production", "package/.env", "package/deep/er/.env.staging", ".netrc", ".pgpass",
    "credentials.json", "config/credentials.yml", "config/master.key", "secrets.yaml", "deploy/secrets.toml",
    "deploy/id_rsa", "deploy/id_ed25519", "certs/server.key", "certs/server.pem", "certs/store.p12", "certs/app.jks",
    "infra/terraform.tfstate", "infra/prod.tfvars", "infra/kubeconfig", "vault.kdbx", "app/service-account.json",
    "app/client_secret_1.json", "auth.json", "token.json", ".htpasswd", ".aws/credentials", ".kube/config",
    ".docker/config.json", "keys/.ssh/config", ".npmrc", ".yarnrc.yml", ".pypirc", ".dev.vars", ".envrc",
    "vpn/work.ovpn", "ENV/.ENV",
)  # fmt: skip

HOME_SECRETS = (
    ".ssh/id_rsa", ".ssh/config", ".aws/credentials", ".gnupg/private-keys-v1.d/k", ".kube/config", ".netrc",
    ".docker/config.json", ".git-credentials", ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".npmrc",
    ".pypirc", ".pgpass", ".my.cnf", ".vault-token", ".bash_history", ".zsh_history", ".psql_history", ".python_history",
    ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".boto", ".s3cfg",
    ".config/rclone/rclone.conf", ".local/share/keyrings/login.keyring", ".mozilla/firefox/p/logins.json",
    ".config/google-chrome/Default/Cookies", ".claude/.credentials.json", ".claude.json", ".codex/auth.json",
    ".gemini/oauth_creds.json", ".local/share/opencode/auth.json", ".config/composer/auth.json", ".composer/auth.json",
    ".config/pip/pip.conf", ".databrickscfg", ".snowsql/config", ".kaggle/kaggle.json", ".cache/huggingface/token",
    ".config/op/config", ".password-store/a.gpg", ".terraform.d/credentials.tfrc.json", ".oci/config", ".env",
    ".config/git/credentials", ".msmtprc", ".fly/config.yml", ".config/doctl/config.yaml", ".nuget/NuGet/NuGet.Config",
    ".config/hub", ".azure/accessTokens.json", ".dbt/profiles.yml", ".subversion/auth/x", ".smbcredentials",
)  # fmt: skip

# How a file may be read; FILE is replaced.
READS = (
    "cat FILE", "cp FILE src/copy; cat src/copy", "ln FILE src/hard; cat src/hard", "ln -s $PWD/FILE src/soft; cat src/soft",
    "mv FILE src/moved; cat src/moved", "python3 -c \"print(open('FILE').read())\"", "grep -r CANARY . /dev/null",
    "tar cf - FILE | tr -d '\\0'", "dd if=FILE 2>/dev/null", "while read -r line; do echo $line; done < FILE",
    "chmod 644 FILE; cat FILE", "find . -type f -exec cat {} +", "cd $(dirname FILE) && cat ./$(basename FILE)",
    "cat /proc/self/cwd/FILE", "cat /proc/1/root$PWD/FILE", "base64 FILE | base64 -d", "git diff --no-index /dev/null FILE",
    "(. ./FILE; set) 2>&1", "python3 -c \"import os; print(os.pread(os.open('FILE', os.O_RDONLY), 99, 0))\"",
)  # fmt: skip

PUBLIC_FILES = {
    ".env.example": "KEY=CANARY", ".env.sample": "KEY=CANARY", "certs/ca.pem": "-----BEGIN CERTIFICATE-----\nCANARY\n",
    "certs/site.crt": "CANARY", "keys/id_rsa.pub": "CANARY", "web/.npmrc": "save-exact=true\n# CANARY\n",
    "web2/.npmrc": "//host/:_authToken=${NPM_TOKEN}\n# CANARY\n", "web/.yarnrc.yml": "nodeLinker: node-modules # CANARY\n",
    "src/token.py": "CANARY", "src/secrets.py": "CANARY", "docs/keys.md": "CANARY", "src/env.ts": "CANARY",
}  # fmt: skip
"""Must stay readable."""

SECRET_VARIABLES = (
    "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DATABASE_URL", "STRIPE_LIVE", "SENTRY", "TWILIO_SID", "MAILGUN",
    "PGPASSFILE", "REDIS_URI", "MONGO", "JWT", "SIGNING", "ENCRYPTION_SALT", "SLACK_HOOK", "DEPLOY_PAT2", "FERNET",
    "CLOUDFLARE", "SSH_PRIVATE", "KEYSTORE_PW", "LICENSE", "MY_COMPANY_LOGIN", "OTP_SEED", "WEBHOOK", "BEARER",
    "KUBE_CONFIG_DATA",
)  # fmt: skip
