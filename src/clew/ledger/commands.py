"""Shell commands and how they ended; what a command is for."""

import re
from collections import deque
from typing import Literal

from msgspec.structs import replace

from clew.ledger.calls import EndedCall, as_object
from clew.ledger.facts import CommandFact

KEPT = 100
_MAX_COMMAND = 2000
Purpose = Literal["test", "build", "lint", "git", "other"]

_EXIT = re.compile(
    r"(?:^|\b)(?:Error: )?(?:Exit code:?|exit code|exited with code|Process exited with code|exit_code\"?:|"
    r"returned non-zero exit status|<returncode>)\s*(-?\d{1,3})",
    re.IGNORECASE,
)
_RUNS_AS = re.compile(r"background (?:with ID:|as) ([\w-]+)", re.IGNORECASE)
_ENDED = re.compile(r"<status>\s*(completed|failed|killed|stopped)")
_ENDED_WITH = re.compile(r"<exit_code>\s*(-?\d+)|\bexit code:? (-?\d+)")
_OPERATOR = re.compile(r"(&&|\|\||[|;\n])")
_SEPARATOR = re.compile(r"&&|\|\||[;\n]")
_PREFIX = re.compile(
    r"^(?:\s*(?:cd\s+\S+|export\s+\S+|[A-Z_][A-Z0-9_]*=\S*|sudo|time|env|timeout\s+\S+|nohup|npx|bunx|uv\s+run|"
    r"poetry\s+run|pipenv\s+run|bundle\s+exec|rtk|command)\s+)*"
)

_TEST = re.compile(
    r"\b(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|karma|cypress\s+run|"
    r"playwright\s+test|go\s+test|gotestsum|aider\s+--test|"
    r"cargo\s+(?:nextest|test|t\b)|mvn\b.*\b(?:test|verify)|gradlew?\b.*\b(?:test|check)|ctest|rspec|phpunit|"
    r"pest|dotnet\s+test|swift\s+test|"
    r"mix\s+test|deno\s+test|bun\s+test|node\s+--test|(?:npm|pnpm|yarn|bun|make|mise|just|task|rake|hatch|pdm|"
    r"invoke|composer|sbt|lein|rails|manage\.py)"
    r"\s+(?:run\s+|-s\s+|--silent\s+)*(?:\S*(?:test|e2e)\S*|spec)|runtests?\S*|run_tests\S*|\S*/tests?\.sh|bin/test)\b",
    re.IGNORECASE,
)
_LINT = re.compile(
    r"\b(?:ruff|flake8|pylint|mypy|pyright|basedpyright|eslint|biome|oxlint|tsc|tslint|prettier|black|isort|"
    r"golangci-lint|go\s+vet|gofmt|staticcheck|"
    r"cargo\s+(?:clippy|fmt|check)|rubocop|phpstan|psalm|ktlint|detekt|swiftlint|shellcheck|hadolint|stylelint|"
    r"dart\s+analyze|aider\s+--lint|"
    r"(?:npm|pnpm|yarn|bun|make|mise|just|task)\s+(?:run\s+)?\S*(?:lint|check|fmt|format)\S*|"
    r"pre-commit\s+run|prek\s+run)\b",
    re.IGNORECASE,
)
_BUILD = re.compile(
    r"\b(?:(?:npm|pnpm|yarn|bun|make|mise|just|task)\s+(?:run\s+)?\S*(?:build|compile)\S*|go\s+build|"
    r"cargo\s+build|mvn\b.*\b(?:package|install|compile)|"
    r"gradlew?\b.*\b(?:build|assemble)|dotnet\s+build|cmake\s+--build|ninja|msbuild|webpack|vite\s+build|"
    r"next\s+build|docker\s+build|"
    r"xcodebuild|swift\s+build|hatch\s+build|python\s+-m\s+build|tsup|rollup|esbuild|flutter\s+build)\b|^\s*make\s*$",
    re.IGNORECASE,
)
_HINT_WORDS = """
    test e2e spec check lint build make git jest mocha ruff mypy pyright tsc vet fmt format compile cargo mvn gradle
    ctest tox nox ava eslint prettier black docker ninja pre-commit prek clippy phpstan rubocop flake8 pylint
    isort biome rake hatch gh hub glab webpack tsup rollup phpunit pest playwright cypress karma ktlint detekt psalm
"""
_HINTS = tuple(_HINT_WORDS.split())


def purpose_of(command: str) -> Purpose:
    """What a command is for; the first purpose of a chain that is told counts."""
    return purposes_of(command)[0]


def purposes_of(command: str) -> list[Purpose]:
    """All that a command is for: a test before a lint before a build."""
    lowered = command[:600].lower()
    if not any(hint in lowered for hint in _HINTS):
        return ["other"]
    bare = _unquoted(command[:600])
    patterns: dict[Purpose, re.Pattern[str]] = {"test": _TEST, "lint": _LINT, "build": _BUILD}
    found: list[Purpose] = [purpose for purpose, pattern in patterns.items() if pattern.search(bare)]
    other: Purpose = "git" if "git" in lowered or "gh " in lowered else "other"
    return found or [other]


_QUOTED = re.compile(r"'[^']{20,}'|\"[^\"]{20,}\"|<<'?(\w+)'?.*?^\1", re.DOTALL | re.MULTILINE)
_ASKING = re.compile(r"^\s*(?:echo|printf|cat|grep|rg|sed|awk|head|tail|less|ls|find|which|man|type|wc|tree)\b")


def _unquoted(command: str) -> str:
    """The command without long strings and without segments that only print or look."""
    parts = _SEPARATOR.split(_QUOTED.sub("''", command))
    return " && ".join(part for part in parts if not _ASKING.match(part))


def segments(command: str) -> list[str]:
    """The commands of a chain, without the long strings and documents that are given to them."""
    return [" ".join(part.split()) for part in _SEPARATOR.split(_QUOTED.sub("''", command[:600])) if part.strip()]


def only_looks(command: str) -> bool:
    """Nothing but looking around: that a search finds nothing is no failure."""
    return all(_ASKING.match(part) for part in _SEPARATOR.split(_QUOTED.sub("''", command)) if part.strip())


def tells_its_end(command: str, purpose: Purpose) -> bool:
    """Whether the exit code is that of what the command is for: nothing stands behind it that runs in any case."""
    parts = _OPERATOR.split(_QUOTED.sub("''", command[:600]).strip().rstrip(";"))
    last = max((at for at in range(0, len(parts), 2) if purpose_of(parts[at]) == purpose), default=len(parts) - 1)
    return all(operator == "&&" for operator in parts[last + 1 :: 2])


def first_program(command: str) -> str:
    """A short name for a command: the program, with its sub-command if that says more."""
    segments = [part.strip() for part in _SEPARATOR.split(command) if part.strip()]
    useful = [part for part in segments if not part.startswith(("cd ", "export ", "set ", "#"))]
    words = _PREFIX.sub("", useful[0] if useful else command).split()
    if not words:
        return ""
    program = words[0].rsplit("/", 1)[-1]
    if len(words) > 1 and program in _WITH_SUBCOMMAND and words[1][:1].isalpha():
        program += " " + words[1]
        if words[1] == "run" and len(words) > 2:
            program += " " + words[2]
    return program[:40]


_SUBCOMMAND_WORDS = """
    git npm pnpm yarn bun cargo go docker kubectl make mise just task uv pip poetry gh dotnet mvn gradle
    terraform helm rails mix deno
"""
_WITH_SUBCOMMAND = frozenset(_SUBCOMMAND_WORDS.split())


class CommandsFold:
    """The latest commands, and how many there were."""

    def __init__(self) -> None:
        self._recent: deque[CommandFact] = deque(maxlen=KEPT)
        self._in_background: dict[str, tuple[CommandFact, int]] = {}
        self.count = 0

    def settle(self, outcome: EndedCall, order: int = 0) -> CommandFact:
        """A command ended or went to the background, when so many changes were made."""
        self.count += 1
        code, background = exit_code(outcome)
        failed = outcome.is_error or (code is not None and code != 0)
        fact = CommandFact(
            command=outcome.argument("command", "cmd", "script")[:_MAX_COMMAND],
            exit_code=code,
            failed=failed,
            background=background,
            source=outcome.source,
        )
        self._recent.append(fact)
        if background and (name := _background_id(outcome)):
            self._in_background[name] = fact, order
        return fact

    def named_before(self, path: str) -> bool:
        """Whether a command before the last one that did more than look around names the file."""
        name = re.compile(rf"(?<![\w.-]){re.escape(path.rsplit('/', 1)[-1])}(?![\w-]|\.\w)")
        earlier = list(self._recent)[:-1]
        return any(name.search(fact.command) and not only_looks(fact.command) for fact in earlier)

    def heard(self, name: str, text: str, code: int | None = None) -> tuple[CommandFact, int] | None:
        """What is told of a command in the background: how it ended, and what was changed when it began; None while it
        runs."""
        status, told = _ENDED.search(text), _ENDED_WITH.search(text)
        if name not in self._in_background or (code is None and status is None):
            return None
        command, order = self._in_background.pop(name)
        code = code if code is not None else int(told.group(1) or told.group(2)) if told else None
        failed = bool(code) or (status is not None and status.group(1) != "completed")
        self._recent.append(replace(command, exit_code=code, failed=failed, background=False))
        return self._recent[-1], order

    def facts(self) -> tuple[CommandFact, ...]:
        """The most recent commands, oldest first."""
        return tuple(self._recent)


def _background_id(outcome: EndedCall) -> str:
    extra = as_object(outcome.extra) or {}
    named = (*(block.get("background_id") for block in outcome.blocks("terminal")), extra.get("backgroundTaskId"))
    told = _RUNS_AS.search(outcome.text[:300])
    return next((name for name in named if isinstance(name, str) and name), told.group(1) if told else "")


def tells_exit_code(text: str) -> bool:
    """Whether a result's words say with which code a command ended."""
    return _EXIT.search(text[:300]) is not None or _EXIT.search(text[-300:]) is not None


def exit_code(outcome: EndedCall) -> tuple[int | None, bool]:
    """The exit code, None when it was not told, and whether the command runs on in the background."""
    for block in outcome.blocks("terminal"):
        code = block.get("exit_code")
        return (code if isinstance(code, int) else None), bool(block.get("background_id"))
    extra = as_object(outcome.extra)
    if extra is not None:
        for name in ("exitCode", "exit_code", "code"):
            value = extra.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value, False
        if extra.get("backgroundTaskId") or extra.get("shellId"):
            return None, True
    if outcome.is_error:
        found = _EXIT.search(outcome.text[:300]) or _EXIT.search(outcome.text[-300:])
        return (int(found.group(1)) if found else None), False
    head = outcome.text[:300]
    if "xit" in head or "returncode" in head:
        found = _EXIT.search(head)
        if found:
            return int(found.group(1)), False
    return 0, False
