"""Files by which a tool is steered: which tool, which file, what runs by itself and when. Standard library only.

This table is the list of protected names, for tools, shell rules and sandbox. A row is for what runs without anybody
naming it: when a directory is entered or opened, at a commit, at a push, at the start of a shell, a debugger or an
agent. Scripts that people start by name (package.json, Makefile, gradlew) are the project's own code and have no row.
"""

from typing import NamedTuple


class SteeringRow(NamedTuple):
    """One tool. `files`: names as they are; with a slash at the end a directory and all below it; with one in the
    middle a name in a directory of that name."""

    tool: str
    files: str
    runs: str


STEERING = (
    SteeringRow(
        "git",
        ".git/ .gitmodules .gitattributes .gitconfig",
        "hooks, filters and monitors at every git command",
    ),
    SteeringRow(
        "other version control",
        ".hg/ .svn/ .jj/ .sl/ .gclient .reviewboardrc .arcconfig",
        "hooks, extensions",
    ),
    SteeringRow(
        "hooks of git",
        """.husky/ .githooks/ .overcommit.yml .simple-git-hooks.json .simple-git-hooks.cjs .simple-git-hooks.js
        lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml lefthook.toml .lefthook.toml lefthook.json
        .lefthook.json lefthook-local.yml .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml""",
        "programs at a commit or a push",
    ),
    SteeringRow(
        "agents",
        """.clew/ .claude/ .codex/ .cursor/ .gemini/ .qwen/ .opencode/ .continue/ .windsurf/ .kiro/ .amazonq/ .roo/
        .cline/ .zed/ .junie/ .goose/ .kilocode/ .trae/ .crush/ .factory/ .augment/ .copilot/ .aider/ .kimi/
        .vibe/ .agents/ .agent/ .antigravity/ .openhands/ .amp/ .pi/ .warp/ .void/ .gptme/ .plandex/ .rovodev/
        .mcp.json mcp.json opencode.json opencode.jsonc crush.json .crush.json .aider.conf.yml .cursorrules
        .windsurfrules .clinerules .roomodes .goosehints .github/agents .github/hooks .github/instructions
        .github/prompts .github/chatmodes .github/copilot-instructions.md""",
        "servers, hooks and orders when an agent starts",
    ),
    SteeringRow(
        "editors",
        """.vscode/ .idea/ .fleet/ .nova/ .helix/ .vim/ .nvim/ .emacs.d/ .vimrc .exrc .gvimrc .nvimrc .nvim.lua
        .lvimrc .local.vimrc .emacs .dir-locals.el .dir-locals-2.el""",
        "tasks and code when a file is opened",
    ),
    SteeringRow(
        "development containers",
        """.devcontainer/ .devcontainer.json .gitpod.yml .gitpod.dockerfile .idx/ .replit replit.nix devfile.yaml
        .devfile.yaml .stackblitzrc""",
        "commands when the project is opened",
    ),
    SteeringRow(
        "continuous integration",
        """.github/workflows .github/actions .gitlab-ci.yml .gitlab-ci.yaml .gitlab/ci .circleci/ .travis.yml
        .appveyor.yml appveyor.yml azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml
        bitbucket-pipelines.yaml jenkinsfile .drone.yml .drone.yaml .drone.star .woodpecker/ .woodpecker.yml
        .woodpecker.yaml .buildkite/ .cirrus.yml .cirrus.star .semaphore/ .teamcity/ .tekton/ .gitea/workflows
        .forgejo/workflows .builds/ .build.yml cloudbuild.yaml cloudbuild.yml buildspec.yml buildspec.yaml
        codemagic.yaml bitrise.yml wercker.yml screwdriver.yaml""",
        "jobs at a push, with the secrets of the project",
    ),
    SteeringRow(
        "environments of a directory",
        """.envrc .direnv/ .mise/ .mise.toml mise.toml mise.local.toml .mise.local.toml .rtx.toml .tool-versions
        .prototools .sdkmanrc .env""",
        "programs when the directory is entered",
    ),
    SteeringRow(
        "shells",
        """.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
        .zlogout .kshrc .cshrc .tcshrc .login .xonshrc .inputrc .xinitrc .xsession .xprofile .config/
        fish/config.fish fish/conf.d""",
        "code at every start",
    ),
    SteeringRow(
        "terminal programs",
        ".tmux.conf .screenrc .lesskey .wgetrc .curlrc .mailcap .ackrc .ripgreprc",
        "programs that filter or show",
    ),
    SteeringRow(
        "interpreters",
        """.pdbrc .gdbinit .lldbinit .irbrc .pryrc .rdbgrc .byebugrc .pythonrc .pth .ghci .ocamlinit .iex.exs
        .erlang .rprofile .renviron .guile .psqlrc .sqliterc .valgrindrc .ipython/ .htaccess .user.ini
        sitecustomize.py usercustomize.py""",
        "code when an interpreter or debugger starts here",
    ),
    SteeringRow(
        "package managers",
        """.npmrc .yarnrc .yarnrc.yml .yarn/releases .yarn/plugins .yarn/sdks .pnpmfile.cjs .pnpmfile.mjs
        bunfig.toml .pypirc .gemrc .bundle/config .netrc""",
        "programs and hosts at every install",
    ),
    SteeringRow(
        "build tools",
        """.cargo/config.toml .cargo/config rust-toolchain rust-toolchain.toml .mvn/ .bazelrc .bazeliskrc
        .buckconfig .plzconfig .pants.rc .jvmopts .sbtopts ansible.cfg""",
        "other compilers, wrappers and plugins at every command, in editors too",
    ),
    SteeringRow(
        "keys and clouds",
        ".ssh/ .gnupg/ .aws/ .azure/ .kube/ .docker/",
        "logins and the programs that give them",
    ),
)

MEMORY_FILES = frozenset(
    {
        "agents.md", "agents.override.md", "agents.local.md", "claude.md", "claude.local.md", "clew.md", "gemini.md",
        "qwen.md", "kimi.md", "iflow.md", "crush.md", "warp.md", "opencode.md", "copilot-instructions.md",
    }
)  # fmt: skip
"""What agents read as orders, in any directory (folded names). Changed by a command, they are shown before they are
believed."""


def protected_directories() -> frozenset[str]:
    """Directories in which everything is protected."""
    return frozenset(name.rstrip("/") for name in _names() if name.endswith("/"))


def protected_files() -> frozenset[str]:
    """Files that are protected wherever they lie."""
    return frozenset(name for name in _names() if "/" not in name)


def protected_pairs() -> frozenset[tuple[str, str]]:
    """Directories and the names in them that are protected."""
    inner = (name.split("/") for name in _names() if "/" in name.rstrip("/"))
    return frozenset((parts[0], parts[1]) for parts in inner)


def _names() -> list[str]:
    return [name for row in STEERING for name in row.files.split()]
