"""Development tools: what prints and ends, what runs the project's code, what asks the network."""

import re

from clew.permissions.shell.programs.program import Program
from clew.permissions.shell.programs.spec import Parsed, Spec
from clew.permissions.shell.programs.tables.everyday import RUSTC
from clew.text.guarded_names import word_set

# The first part of a module's path has a dot; a standard package's has none.
_GO_SYMBOL = re.compile(r"[a-z0-9]+(?:/[a-z0-9]+)*(?:\.[A-Z]\w*){0,2}|[A-Z]\w*")
_CARGO_HELP = word_set(
    """add bench build check clean clippy doc fetch fix fmt init install locate-project metadata new package publish
    remove run search test tree uninstall update vendor verify-project version yank"""
)
_LONG = ("--version", "--help")
_PRINTS = "With --version it prints and ends before it reads any file of the project."
_SHIMMED = (
    "Prints and ends; but where it is the shim of a version manager, a version file of the project or its parents "
    "picks what runs, so such a file must hold plain versions only."
)
_NETWORK = "Talks to the network: never proven. A rule covers its own words and flags that only shape what is printed."
_PROJECT = "Runs the project's own code, tests or plug-ins: always asks, and a rule for it grants exactly that."


def _npm_list(parsed: Parsed) -> str:
    return "" if all(not word.text.startswith(("http", "git")) for word in parsed.operands) else "names another place"


def _npm_get(parsed: Parsed) -> str:
    words = [word.text for word in parsed.operands]
    return "" if words[:1] == ["get"] else "this changes package.json"


def _first_in(*verbs: str):
    def check(parsed: Parsed) -> str:
        first = parsed.operands[0].text if parsed.operands else ""
        return "" if first in verbs else f"{first or 'this form'} may change something"

    return check


def _installed(parsed: Parsed) -> str:
    """The whole list would be fetched."""
    listed = [word.text for word in parsed.operands] == ["list"]
    return "" if listed and "--installed" in parsed.flags else "only what is installed is listed unasked"


def _shows_toolchain(parsed: Parsed) -> str:
    words = [word.text for word in parsed.operands]
    return "" if words in ([], ["active-toolchain"], ["home"], ["profile"]) else "this form is not known to only read"


def _main_module(parsed: Parsed) -> str:
    return "" if "-m" in parsed.flags else "without -m it may fetch packages"


def _standard(parsed: Parsed) -> str:
    """Packages of the standard library: others might be fetched."""
    words = [word.text for word in parsed.operands]
    fine = words and len(words) <= 2 and all(map(_GO_SYMBOL.fullmatch, words))
    return "" if fine else "only the standard library is shown unasked"


def _targets(parsed: Parsed) -> str:
    """Targets only: a setting on the command line can be any command."""
    fine = all(re.fullmatch(r"[\w./%-]+", word.text) for word in parsed.operands)
    return "" if fine else "a setting on its command line could be any command"


def _go_names(parsed: Parsed) -> str:
    """Names of settings only."""
    fine = all(re.fullmatch(r"[A-Z][A-Z0-9_]*", word.text) for word in parsed.operands)
    return "" if fine else "with a value this changes a setting"


def _unconnected(parsed: Parsed) -> str:
    """Otherwise it may fetch packages and write the lock file."""
    fine = "--frozen" in parsed.flags or {"--offline", "--locked"} <= parsed.flags.keys()
    return "" if fine else "without --frozen it may fetch packages"


_CARGO_SHOW = (
    "-d -e: -i: -p: -q -v -F: --all-features --charset= --depth= --duplicates --edges= --features= --format= "
    "--format-version= --frozen --invert= --locked --no-default-features --no-dedupe --no-deps --offline --package= "
    "--prefix= "
    "--prune= --target= --workspace --all --filter-platform="
)
_NPM_LIST = Spec(
    "-a -l -p --all --depth= --json --long --parseable --omit= --include= --prod --production --dev "
    "--link "
    "--unicode=? --only=",
    "text",
    _npm_list,
)
_PIP_LIST = Spec(
    "-l -v -q --format= --local --user --not-required --exclude= --exclude-editable --include-editable --editable -e",
    "none",
)
_PIP_FREEZE = Spec("-l --local --user --all --exclude= --exclude-editable", "none")
_PIP_SHOW = Spec("-f -v --files --verbose", "text")
_PIP = Program(
    audit=f"{_SHIMMED} list, freeze and show read the metadata of installed packages and pip's settings of the user. "
    "Its interpreter imports what its path holds, so that must hold nothing of the workspace; the environment "
    "switches "
    "off the question to the network whether there is a newer pip.",
    version=(*_LONG, "-V", "-h"),
    subcommands={
        "cache": Spec("", "text", _first_in("dir", "list", "info")),
        "help": Spec("", "text"),
        "list": _PIP_LIST,
        "freeze": _PIP_FREEZE,
        "show": _PIP_SHOW,
        "check": Spec("", "none"),
    },
    code_files=("versions",),
    hosted=True,
)
_SCRIPT_RUN = Spec("-s --silent --if-present --workspaces --ws -w: --workspace= --no-color --color=?", "text")
_NPM_TAILS = {"test": _SCRIPT_RUN, "run": _SCRIPT_RUN, "start": _SCRIPT_RUN, "ci": Spec("--silent", "none")}
_PACKAGE_RUNNER_OFFERS = ("test *", "run ? *")
_CARGO_RUN = Spec(
    "-q -v -j: -p: -F: --release --workspace --all --all-targets --all-features --no-default-features --features= "
    "--package= --lib --bins --bin= --tests --test= --examples --example= --benches --doc --locked --offline "
    "--frozen "
    "--no-run --no-fail-fast --quiet --verbose --check --keep-going --profile= --message-format= --fix --allow-dirty",
    "text",
)
_GO_RUN = Spec(
    "-v -race -cover -short -count= -run= -bench= -timeout= -failfast -parallel= -json -x -n -a -benchmem -tags= "
    "-mod= "
    "-run: -count: -timeout: -bench: -tags:",
    "text",
)


def _runner(audit: str = _PROJECT, *, tail: Spec | None = None, offers: tuple[str, ...] = ("*",)) -> Program:
    return Program(audit=audit, runs_project=True, tail=tail, offers=offers)


_PYTHON = Program(
    audit=f"{_SHIMMED} A script or module is project code.",
    # Not -v: that talks more and runs what it reads.
    version=(*_LONG, "-V", "-VV", "-h"),
    code_files=("versions",),
    runs_project=True,
    tail=Spec("-u -B -E -s -I -O -OO -q -b -W: -X: -m:", "script"),
    offers=("script",),
)
_SCRIPT_RUNNER = _PYTHON._replace(version=(*_LONG, "-v", "-h"), tail=Spec("--test --watch", "script"))

PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("python", "python3"), _PYTHON),
    **{f"python3.{minor}": _PYTHON for minor in range(8, 16)},
    "pypy3": _PYTHON,
    "node": _SCRIPT_RUNNER,
    "ruby": _SCRIPT_RUNNER,
    "php": _SCRIPT_RUNNER._replace(version=(*_LONG, "-v", "-h", "-m")),
    "perl": _SCRIPT_RUNNER,
    "deno": Program(audit=_SHIMMED, version=(*_LONG, "-V", "-h"), code_files=("versions",)),
    "bun": Program(
        audit=_SHIMMED,
        version=(*_LONG, "-v", "-h"),
        code_files=("versions",),
        tails=_NPM_TAILS,
        offers=_PACKAGE_RUNNER_OFFERS,
        runs_project=True,
    ),
    "npm": Program(
        audit=f"{_SHIMMED} It reads .npmrc of the project and its parents at every start, and old versions load a "
        "script that it names; ls, root and prefix read package files and run none of them.",
        version=(*_LONG, "-v", "-h"),
        subcommands={
            **dict.fromkeys(("ls", "list", "ll", "la"), _NPM_LIST),
            **dict.fromkeys(("root", "prefix", "bin"), Spec("-g --global", "none")),
            **dict.fromkeys(("explain", "why"), Spec("--json", "text", _npm_list)),
            "version": Spec("--json", "none"),
            "pkg": Spec("--json", "text", _npm_get),
            "query": Spec("-g --global", "text"),
        },
        code_files=("npmrc", "versions"),
        tails=_NPM_TAILS,
        offers=_PACKAGE_RUNNER_OFFERS,
        runs_project=True,
    ),
    "pnpm": Program(
        audit="Runs the version and the hooks that the project names, at every start.",
        tails=_NPM_TAILS,
        offers=_PACKAGE_RUNNER_OFFERS,
        runs_project=True,
    ),
    "yarn": Program(
        audit="Runs the version and the plug-ins that the project names, at every start.",
        tails=_NPM_TAILS,
        offers=_PACKAGE_RUNNER_OFFERS,
        runs_project=True,
    ),
    "pip": _PIP,
    "pip3": _PIP,
    "ruff": _runner(f"{_PRINTS} Otherwise it reads and changes files of the project by its settings.")._replace(
        version=(*_LONG, "-V", "-h")
    ),
    "uv": _runner(f"{_PRINTS} Otherwise it runs project code.", offers=("run ? *",))._replace(
        version=(*_LONG, "-V", "-h")
    ),
    "cargo": Program(
        audit="As rustup's proxy it runs the toolchain that rust-toolchain of the project or its parents names, and it "
        "reads .cargo/config there.",
        version=(*_LONG, "-V", "-h", "--list", "version", "locate-project"),
        subcommands={
            **dict.fromkeys(("tree", "metadata"), Spec(_CARGO_SHOW, "none", _unconnected)),
            "locate-project": Spec("--workspace --message-format=", "none"),
            "help": Spec("", "text", _first_in(*_CARGO_HELP)),
        },
        code_files=("rust", "cargo"),
        tails=dict.fromkeys(("build", "check", "test", "clippy", "fmt", "run", "bench", "doc"), _CARGO_RUN),
        offers=("build *", "check *", "test *", "clippy *", "fmt *", "run *"),
        runs_project=True,
    ),
    "rustc": Program(
        audit="As rustup's proxy it runs the toolchain that rust-toolchain of the project or its parents names.",
        version=(*_LONG, "-V", "-h"),
        reads=RUSTC,
        code_files=("rust",),
    ),
    "rustup": Program(
        audit="Asks the active compiler for its version: the one that rust-toolchain names.",
        version=(*_LONG, "-V", "-h"),
        subcommands={
            "show": Spec("-v --verbose", "text", _shows_toolchain),
            "toolchain": Spec("-v -q --verbose --quiet", "text", _first_in("list")),
            **dict.fromkeys(("target", "component"), Spec("-q --installed --quiet", "text", _installed)),
            "which": Spec("", "text"),
        },
        code_files=("rust",),
    ),
    "go": Program(
        audit="go.mod and go.work pick the toolchain that runs, which may be fetched first.",
        version=("version", "help", "env"),
        subcommands={
            "env": Spec("-json", "text", _go_names),
            "help": Spec("", "text"),
            "doc": Spec("-all -short -src -u -c", "text", _standard),
            "list": Spec("-m -json", "none", _main_module),
        },
        code_files=("go",),
        tails=dict.fromkeys(("build", "test", "vet", "run"), _GO_RUN),
        offers=("build *", "test *", "vet *", "run ? *"),
        runs_project=True,
    ),
    "dotnet": Program(
        audit="global.json picks the SDK that runs, by path too.",
        version=(*_LONG, "--info", "--list-sdks", "--list-runtimes"),
        code_files=("dotnet",),
        tails={"test": Spec("-v: --no-build --nologo", "text"), "build": Spec("-v: --nologo", "text")},
        offers=("test *", "build *"),
        runs_project=True,
    ),
    "poetry": Program(
        audit="Loads plug-ins of the project from .poetry at every start, and reads poetry.toml. Python hosts it.",
        version=_LONG,
        hosted=True,
        code_files=("poetry",),
        runs_project=True,
        offers=("run ? *",),
    ),
    "make": _runner(
        f"{_PRINTS} Otherwise it runs what the Makefile says.",
        tail=Spec(
            "-j=? -k -s -B -n -i -r -w --jobs=? --silent --keep-going --dry-run --always-make -O=?", "text", _targets
        ),
        offers=("? *",),
    )._replace(version=(*_LONG, "-v")),
    "gmake": Program(audit=_PRINTS, version=_LONG),
    **{
        name: _runner()
        for name in sorted(word_set("pytest py.test tox nox vitest jest mocha ctest just rspec phpunit"))
    },
    **{name: _runner(offers=("? *",)) for name in sorted(word_set("npx bunx pnpx uvx pipx rake invoke"))},
    **{name: _runner(offers=("run ? *",)) for name in sorted(word_set("mise pdm hatch rye pixi"))},
    **{name: _runner() for name in sorted(word_set("mypy pyright tsc eslint prettier isort flake8 pylint"))},
    **{
        name: Program(audit=_PRINTS, version=(*_LONG, "-v", "-dumpversion", "-dumpmachine"))
        for name in ("gcc", "g++", "clang", "clang++", "cc", "c++")
    },
    **{
        name: Program(audit=_SHIMMED, version=("-version", *_LONG), code_files=("versions",))
        for name in ("java", "javac", "swift")
    },
    **{
        name: Program(audit=_PRINTS, version=_LONG)
        for name in sorted(
            word_set("cmake ninja ld as gpg sqlite3 psql mysql redis-cli protoc fzf bat shellcheck shfmt pandoc ffmpeg")
        )
    },
    "podman": Program(audit=_PRINTS, version=(*_LONG, "-v")),
    "ssh": Program(audit=_NETWORK, version=("-V",)),
    "openssl": Program(audit=_PRINTS, version=("version",)),
    "curl": Program(
        audit=_NETWORK,
        version=_LONG,
        tail=Spec(
            "-s -S -f -i -I -v --silent --show-error --fail --include --head --verbose --compressed -m: --max-time=",
            "none",
        ),
    ),
    "wget": Program(
        audit=_NETWORK, version=_LONG, tail=Spec("-q -nv --quiet --no-verbose -T: --timeout= -t: --tries=", "none")
    ),
    "scp": Program(audit=_NETWORK, tail=Spec("", "none")),
    "dpkg": Program(
        audit="Reads the package database of the system.",
        subcommands=dict.fromkeys(
            ("-l", "-s", "-L", "-S", "--list", "--status", "--listfiles", "--search"), Spec("", "text")
        ),
    ),
}
