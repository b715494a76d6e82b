"""Development tools: their versions and lists, never anything that loads a project's code or plugins."""

from clew.permissions.shell.spec import Parsed, Spec
from clew.permissions.word_set import word_set

# Each of these prints and ends, and looks at no project file that could name a program. Left out on purpose: yarn,
# pnpm and corepack (run the version or the plugins the project names), pytest, mypy, eslint (load project plugins),
# mvn and gradle (read project launch options), terraform and gh (ask the network).
_PRINTS_VERSION = word_set(
    """python python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy3 ruby php node deno
    bun npm pip pip3 uv ruff rustc cargo rustup gcc g++ clang clang++ cc c++ make gmake cmake ninja ld as gdb
    lldb tar gzip zip unzip bash sh zsh curl wget rsync docker podman gpg sqlite3 psql mysql redis-cli vim
    nvim tmux perl javac kotlin scala swift dotnet ghc stack cabal elixir opam julia R Rscript jq yq rg fd fzf
    bat tree shellcheck shfmt pandoc ffmpeg convert magick env sudo xargs find sed awk gawk grep helm kubectl
    poetry pipx conda mamba protoc git java"""
)
VERSION_FLAGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_PRINTS_VERSION, ("--version", "--help")),
    # Not python -v: that talks more and runs what it reads.
    **dict.fromkeys(("python", "python3"), ("--version", "-V", "-VV", "--help", "-h")),
    "perl": ("--version", "-V", "--help", "-h", "-v"),
    **dict.fromkeys(("docker", "podman"), ("--version", "-v", "--help")),
    **dict.fromkeys(("node", "ruby", "php", "npm", "deno", "bun"), ("--version", "-v", "--help", "-h")),
    **dict.fromkeys(
        ("gcc", "g++", "clang", "clang++", "cc", "c++"), ("--version", "-v", "--help", "-dumpversion", "-dumpmachine")
    ),
    **dict.fromkeys(("java", "javac", "kotlin", "scala"), ("-version", "--version", "-help", "--help")),
    **dict.fromkeys(("cargo", "rustc", "rustup", "pip", "pip3", "uv", "ruff"), ("--version", "-V", "--help", "-h")),
    "go": ("version",),
    "ssh": ("-V",),
    "openssl": ("version",),
    "unzip": ("-v",),
    "git": ("--version", "version"),
}


def _npm_list(parsed: Parsed) -> str:
    return "" if all(not word.text.startswith(("http", "git")) for word in parsed.operands) else "names another place"


_NPM_LIST = Spec(
    "-a -l -p --all --depth= --json --long --parseable --omit= --include= --prod --dev --link --unicode=?",
    "text",
    _npm_list,
)
_PIP_LIST = Spec(
    "-l -v -q --format= --local --user --not-required --exclude= --exclude-editable --include-editable --editable -e",
    "none",
)

# `program subcommand` rows.
SUBCOMMANDS: dict[str, Spec] = {
    "npm ls": _NPM_LIST,
    "npm list": _NPM_LIST,
    "npm root": Spec("", "none"),
    "npm prefix": Spec("", "none"),
    "pip list": _PIP_LIST,
    "pip3 list": _PIP_LIST,
    "pip freeze": Spec("-l --local --user --all --exclude= --exclude-editable", "none"),
    "pip3 freeze": Spec("-l --local --user --all --exclude= --exclude-editable", "none"),
    "pip show": Spec("-f -v --files --verbose", "text"),
    "pip3 show": Spec("-f -v --files --verbose", "text"),
    "pip check": Spec("", "none"),
    "rustup show": Spec("", "none"),
    "dpkg -l": Spec("", "text"),
    "dpkg -s": Spec("", "text"),
    "dpkg -L": Spec("", "text"),
}

# Rows that only bound what a user's own allow rule covers after its prefix.
RULE_ONLY: dict[str, Spec] = {
    "curl": Spec(
        "-s -S -f -i -I -v --silent --show-error --fail --include --head --verbose --compressed -m: --max-time=",
        "none",
        network=True,
    ),
    "wget": Spec("-q -nv --quiet --no-verbose -T: --timeout= -t: --tries=", "none", network=True),
}
# Flags of other programs that hand control to something else; an allow rule for a prefix does not reach them.
RULE_TAIL_REFUSED: dict[str, tuple[str, ...]] = {
    "git": (
        "-c",
        "--config-env",
        "--exec-path",
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "-x",
        "-u=",
        "--output",
        "--ext-diff",
        "--textconv",
        "-O",
        "--open-files-in-pager",
        "--edit-description",
        "--template",
        "--git-dir",
        "--work-tree",
        "--no-index",
    ),
    "tar": (
        "--checkpoint-action",
        "--to-command",
        "-I",
        "--use-compress-program",
        "--rsh-command",
        "-F",
        "--info-script",
        "--new-volume-script",
    ),
    "ssh": ("-o", "-F", "-J"),
    "scp": ("-o", "-F", "-J", "-S"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "zip": ("-T", "-TT", "--unzip-command"),
    "man": ("-H", "-P", "--pager", "--html"),
    "make": ("-f", "--file", "--makefile", "-C", "--directory", "--eval", "-I", "--include-dir"),
    "pip": ("--index-url", "-i", "--extra-index-url", "--trusted-host", "--find-links", "-f"),
    "pip3": ("--index-url", "-i", "--extra-index-url", "--trusted-host", "--find-links", "-f"),
    "npm": ("--prefix", "-C", "--registry", "--script-shell", "--node-options", "--userconfig", "--globalconfig"),
    "docker": ("-v", "--volume", "--mount", "--privileged", "--pid", "-H", "--host"),
    "go": ("-exec", "-toolexec", "-overlay", "-modfile", "-C"),
    "cargo": ("--config", "-Z", "--manifest-path", "-C"),
    "python": ("-c",),
    "python3": ("-c",),
    "node": ("-e", "-r", "--require", "--eval", "-p", "--import", "--loader"),
}
