"""The marks on a report: what it says and its log speaks against, by kind of fact.

Four kinds are judged: tests said to pass, files said to be changed, commits, pushes and pull requests said to be made,
commands said to succeed. Nothing else is. Where the log cannot know, nothing is marked.
"""

import re
from collections.abc import Iterable, Sequence

from clew.ledger.claims.made import Delivery, checks_went_well, commands_went_well, deliveries
from clew.ledger.claims.passing import tests_fail, tests_pass
from clew.ledger.claims.statements import Statement, statements
from clew.ledger.claims.written import files_written
from clew.ledger.commands import only_looks, purpose_of, segments
from clew.ledger.facts import CommandFact, Ledger, TestResult

MOST = 2
"""Marks of one kind."""
_PARTS = re.compile(r"&&|\|\||[;|\n]")
_NO_TEST = re.compile(r"^\s*(?:git|gh|mkdir|touch|rm|cp|mv|chmod|cd|ls|cat|echo|export|source)\b")
_MAY_TEST = re.compile(r"test|spec|verif|check|assert|\bci\b", re.IGNORECASE)
_NO_WRITER = re.compile(
    r"^\s*(?:cd|ls|cat|head|tail|grep|rg|find|wc|stat|file|diff|echo|which|test|\[|mkdir|sleep|ps|pwd|less|tree|du|"
    r"git\s+(?:-C\s+\S+\s+)?(?:add|commit|status|diff|log|show|push|fetch|branch|blame|ls-files|rev-parse|remote|"
    r"tag|grep)|"
    r"gh\s+(?:pr|issue|run|api))\b"
)
_MESSAGE = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?commit\b.*|\bgh\s+(?:pr|issue|api)\b.*", re.DOTALL)
_WRITES_MANY = re.compile(
    r"(?:\bxargs\b|-exec\b|\bfor\s+\w+\s+in\b).*(?<![$\w/-])(?:sed\s+-\w*i|perl\s+-\w*i|mv|cp|rm|tee)\s|"
    r"\b(?:python3?|node|ruby|perl)\b[^\n]*(?:<<|\s-c\b|\s-e\b|\s-p?i).*(?:write|rename|unlink|remove|copy|s/)|"
    r"\bgit\s+(?:-C\s+\S+\s+)?(?:apply|merge|cherry-pick|revert|am|clone)(?![\w-])|\bgenerate\b|codegen|"
    r"(?<![\w./-])patch\s+(?:-|<)|"
    r"\b(?:prettier|eslint|ruff|biome)\b.*\s--?(?:write|fix|w)\b|\b(?:ruff|cargo|dart|mix|terraform) (?:fmt|format)\b|"
    r"(?<![\w./-])(?:black|isort|gofmt|goimports|rustfmt)\s(?!.*--check)|\bunzip\b|\btar\s|\brsync\b|"
    r"\bcp\s+-\w*[ra]|\b(?:npm|pnpm|yarn|bun)\s+(?:init|create)\b|\bcargo\s+(?:init|new)\b",
    re.DOTALL,
)
_MANIFESTS = re.compile(
    r"(?:package(?:-lock)?\.json|.*\.lock|.*lock\.yaml|go\.(?:mod|sum)|Cargo\.toml|pyproject\.toml|"
    r"requirements.*\.txt)"
)
_INSTALLS = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|go|cargo|uv|poetry|pip|bundle|composer)\s+(?:i|install|add|remove|get|mod|sync|lock|"
    r"update|upgrade|uninstall|tidy)\b"
)
_MAX_NAME = 80
_NOT_FOUND = 127
_RUNNER = re.compile(
    r"^(?:(?:npx|bunx|uvx|uv run|poetry run|pipenv run|bundle exec|python3? -m|sudo|time|env|\w+=\S*)\s+)+"
)
_GENERIC_WORDS = """
    python python3 node bash sh ruby perl php java make npm pnpm yarn bun go cargo docker git gh kubectl uv pip dotnet
    rm mv cp mkdir touch chmod cd ls cat echo test which time env open run task just build
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
"""Programs whose name alone names no command."""
_PROGRAM = re.compile(r"[a-z./][\w./+-]*")
_SCRIPT = re.compile(r"\w\.(?:py|js|mjs|ts|sh|rb|pl|php)$")
_TOOLS_OF_PROGRAMS = frozenset({"clippy", "vet"})
_GIT: dict[Delivery, re.Pattern[str]] = {
    "commit": re.compile(
        r"\bgit\b[^;&|\n]*(?<![\w-])(?:commit|merge|cherry-pick|revert|rebase|am)(?![\w-])|\b(?:jj|gt|hg|svn)\s+\w+|"
        r"\b(?:run|make|just|task)\s+commit\b|/commit\b"
    ),
    "push": re.compile(
        r"\b(?:git|gh|hub|jj|hg)\b[^;&|\n]*(?<![\w-])push(?![\w-])|\bgh\s+pr\s+(?:create|merge)|\bgt\s+\w+|"
        r"\b(?:run|make|just|task)\s+push\b|/push\b"
    ),
    "pr": re.compile(
        r"\b(?:pr|mr)\s+(?:create|edit|new|ready|reopen)\b|pull-request|/pulls\b|pull_requests|\bgt\s+submit"
    ),
}
_SAID: dict[Delivery, tuple[str, str]] = {
    "commit": ("says that it committed", "no commit was made"),
    "push": ("says that it pushed", "nothing was pushed"),
    "pr": ("says that it made a pull request", "none was made"),
}


def against(text: str, ledger: Ledger, *, elsewhere: bool = False) -> tuple[str, ...]:
    """The marks on a report in plain words, at most two of a kind. `elsewhere`: tools that the log does not read into
    facts, or other agents, worked for it as well, so that the absence of a deed shows nothing."""
    told = list(statements(text, _names_of(ledger.commands)))
    blind = elsewhere or bool(ledger.agents)
    kinds = (
        _tests(told, ledger, blind),
        _files(told, ledger, blind),
        _delivered(told, ledger, blind),
        _ended(told, ledger),
    )
    return tuple(mark for kind in kinds for mark in dict.fromkeys(kind[:MOST]))


def _tests(told: Sequence[Statement], ledger: Ledger, blind: bool) -> list[str]:
    if not any(map(tests_pass, told)):
        return []
    if not ledger.tests:
        silent = blind or any(map(_may_have_tested, ledger.commands))
        return [] if silent else ["says that tests pass; no test ran"]
    last = ledger.tests[-1]
    if last.ok is not False or any(map(tests_fail, told)):
        return []
    return [f"says that tests pass; the last run ({last.runner}) {_red(last)}"]


def _red(run: TestResult) -> str:
    return f"had {run.failed} failed" if run.failed else "was red"


def _may_have_tested(command: CommandFact) -> bool:
    """Whether tests may have run in a command whose output tells of none."""
    if only_looks(command.command):
        return False
    parts = (part for part in _PARTS.split(command.command) if not _NO_TEST.match(part))
    return any(map(_MAY_TEST.search, parts))


def _files(told: Sequence[Statement], ledger: Ledger, blind: bool) -> list[str]:
    ran = [command for command in ledger.commands if not command.failed]
    if blind or any(_WRITES_MANY.search(_MESSAGE.sub(" ", command.command)) for command in ran):
        return []
    changed = [_slashed(file.path) for file in ledger.changed_files]
    named = dict.fromkeys(name for statement in told for name in files_written(statement))
    installed = any(_INSTALLS.search(command.command) for command in ran)
    missing = [
        name
        for name in named
        if not _is_among(name, changed)
        and not _may_be_written(name, ran)
        and not (installed and _MANIFESTS.fullmatch(name.rsplit("/", 1)[-1]))
    ]
    return [f"says that {name} was changed; no file of that name was" for name in missing]


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def _is_among(name: str, paths: Iterable[str]) -> bool:
    """Whether a path is, or ends with, the last part of the name."""
    last = _slashed(name).rstrip("/").rsplit("/", 1)[-1].casefold()
    return any(path.casefold().rsplit("/", 1)[-1] == last for path in paths)


def _may_be_written(name: str, ran: Iterable[CommandFact]) -> bool:
    """Whether a command that may write names the file."""
    last = re.escape(_slashed(name).rsplit("/", 1)[-1])
    named = re.compile(rf"(?<![\w.-]){last}(?![\w-])")
    parts = (part for command in ran if named.search(command.command) for part in _PARTS.split(command.command))
    writes = (part for part in parts if not _NO_WRITER.match(part) or ">" in part)
    return any(purpose_of(part) == "other" and named.search(part) for part in writes) or any(
        "<<" in command.command and named.search(command.command) for command in ran
    )


def _delivered(told: Sequence[Statement], ledger: Ledger, blind: bool) -> list[str]:
    if blind:
        return []
    said: list[Delivery] = [kind for statement in told for kind in deliveries(statement)]
    return ["; ".join(_SAID[kind]) for kind in dict.fromkeys(said) if not _is_made(kind, ledger)]


def _is_made(kind: Delivery, ledger: Ledger) -> bool:
    if any(fact.kind == kind or (kind == "commit" and fact.kind == "merge") for fact in ledger.commits):
        return True
    return any(not command.failed and _GIT[kind].search(command.command) for command in ledger.commands)


def _ended(told: Sequence[Statement], ledger: Ledger) -> list[str]:
    marks: list[str] = []
    for name in dict.fromkeys(name for statement in told for name in commands_went_well(statement)):
        run = _last_run(name, ledger.commands)
        if run is not None and run.failed and purpose_of(run.command) != "test":
            marks.append(f"says that `{name}` succeeded; it {_how(run)}")
    for kind in dict.fromkeys(kind for statement in told for kind in checks_went_well(statement)):
        last = next((check for check in reversed(ledger.checks) if check.kind == kind), None)
        if last is not None and last.ok is False and not marks:
            marks.append(f"says that the {kind} succeeded; its last run failed")
    return marks


def _how(run: CommandFact) -> str:
    return f"ended with exit {run.exit_code}" if run.exit_code else "failed"


def _last_run(name: str, commands: Sequence[CommandFact]) -> CommandFact | None:
    """The last command that is the named one or ends with it: only then is its exit code that of the name."""
    wanted = " ".join(name.split()).removeprefix("$ ").casefold()
    for known in reversed(commands):
        parts = [" ".join(part.split()) for part in _PARTS.split(known.command) if part.strip()]
        at = [index for index, part in enumerate(parts) if _is_called(part, wanted)]
        if at:
            plain = at[-1] == len(parts) - 1 and not re.search(r"\|\||(?<!\|)\|(?!\|)", known.command)
            return known if plain else None
    return None


def _is_called(part: str, wanted: str) -> bool:
    lowered = part.casefold()
    return lowered == wanted or lowered.startswith(f"{wanted} ") or wanted in _short_names(part)


def _names_of(commands: Iterable[CommandFact]) -> set[str]:
    """The names by which a report may call the commands that failed."""
    failed = (command for command in commands if command.failed and command.exit_code != _NOT_FOUND)
    parts = (part for command in failed for part in segments(command.command))
    return {name for part in parts if len(part) <= _MAX_NAME for name in _short_names(part)}


def _short_names(part: str) -> set[str]:
    """A command's whole line, its program with its sub-command, and the tool or the script that it runs."""
    words = [word for word in _RUNNER.sub("", part).split() if not word.startswith("-")]
    if not words or only_looks(part) or not _PROGRAM.fullmatch(words[0]):
        return set()
    program, rest = words[0].rsplit("/", 1)[-1].casefold(), words[1:2]
    named = {" ".join((program, *rest)).casefold(), part.casefold()} if rest else set[str]()
    if program in _GENERIC:
        return named | {
            name
            for word in rest
            for name in (word, word.rsplit("/", 1)[-1])
            if _SCRIPT.search(word) or word in _TOOLS_OF_PROGRAMS
        }
    return named | {program}
