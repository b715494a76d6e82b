"""Where a session stands, as clauses with their sources."""

import re

from msgspec import Struct

from clew.ledger.commands import first_program
from clew.ledger.facts import FileFact, Ledger, Said, Sources
from clew.ledger.language import spoken
from clew.ledger.words import word_cost
from clew.orient.headline import clip, file_name, polished
from clew.orient.phrases import Phrases
from clew.orient.request_patterns import INJECTION


class Clause(Struct, frozen=True, kw_only=True):
    """A piece of a recap and the entries that bear it out."""

    text: str
    source: Sources = ()


_TEST_CLAIM = re.compile(
    r"\b(?:tests?|specs?|suite)\b[^.]{0,40}\b(?:pass|passes|passed|passing|green|succeed)|测试[^。]{0,8}通过|"
    r"測試[^。]{0,8}通過|тест\w*\s+про(?:шли|ходят)",
    re.IGNORECASE,
)
_BUILD_CLAIM = re.compile(
    r"\b(?:build|lint|compil\w+|type.?check\w*)\b[^.]{0,30}\b(?:pass|passes|passed|clean|succe\w+|"
    r"green)",
    re.IGNORECASE,
)
_NOISE_FILE = re.compile(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|Cargo\.lock|uv\.lock|poetry\.lock|go\.sum)$"
)
_ASIDE = re.compile(r"\s*(?:,?\s+and|,|;)\s+let\s+me\s+know\b.*$", re.IGNORECASE)
_SPEAKER = re.compile(
    r"^(?:next\s+steps?|remaining|what(?:'s|\s+is)\s+left|todo)\s*:\s*|^(?:now,?\s+)?(?:i(?:'ve|"
    r"\s+have)\s+(?!to\b|not\b)|"
    r"i(?:'ll|\s+will|'m\s+going\s+to)\s+|let\s+me\s+|let's\s+|i\s+then\s+|you\s+can\s+(?:now\s+)?|"
    r"i\s+(?=(?:\w+ed|made|wrote|split|found|built|ran|put|set|took|cut|kept)\b))(?:now\s+|also\s+|"
    r"successfully\s+|just\s+)*",
    re.IGNORECASE,
)


_MESSAGE = re.compile(r"""["']?message\\?["']?\s*:\s*\\?["']([^"'\\]{8,})""")
_EXCEPTION = re.compile(r"^(?:[\w.]*(?:Error|Exception)\b\s*[:-]\s*)+")


def error_words(text: str) -> str:
    """What an error says, out of the exceptions and the JSON around it."""
    found = _MESSAGE.search(text)
    plain = found.group(1) if found else _EXCEPTION.sub("", text)
    return polished(plain.split("\n", 1)[0].split(". ", 1)[0].strip(" .{}[]\"'"))


def main_files(ledger: Ledger) -> list[FileFact]:
    """Changed files, the most worked-on first, lock files last."""
    changed = [file for file in ledger.changed_files if not file.deleted]
    return sorted(
        changed,
        key=lambda file: (
            bool(_NOISE_FILE.search(file.path)),
            -(file.edits * 5 + file.added + file.removed),
            file.path,
        ),
    )


def contradicted(text: str, ledger: Ledger) -> bool:
    """The sentence claims a success that the latest results deny."""
    if _TEST_CLAIM.search(text) and ledger.tests and ledger.tests[-1].ok is False:
        return True
    return bool(_BUILD_CLAIM.search(text)) and bool(ledger.checks) and ledger.checks[-1].ok is False


def told(said: Said | None, ledger: Ledger, words: int) -> Clause | None:
    """A sentence of the agent as a clause: in the user's language, not contradicted, without "I"."""
    if said is None or INJECTION.search(said.text) or contradicted(said.text, ledger):
        return None
    if not spoken(said.text, ledger.language):
        return None
    plain = _ASIDE.sub("", _SPEAKER.sub("", said.text))
    text = clip(polished(plain), words)
    return Clause(text=text, source=said.source) if word_cost(text) >= 2 else None


def commit_clauses(ledger: Ledger, say: Phrases, *, mentioned: str) -> list[Clause]:
    """What left the working tree: the last commit, tag and pull request."""
    found: list[Clause] = []
    commits = [item for item in ledger.commits if item.kind == "commit" and item.ref]
    if commits and commits[-1].ref not in mentioned:
        subject = clip(commits[-1].subject, 7)
        told_too = subject and subject.casefold() not in mentioned.casefold()
        ref = f"{commits[-1].ref} ({subject})" if told_too else commits[-1].ref
        found.append(Clause(text=say.committed.format(ref), source=commits[-1].source))
    tags = [item for item in ledger.commits if item.kind == "tag"]
    if tags and tags[-1].ref not in mentioned:
        found.append(Clause(text=say.tagged.format(tags[-1].ref), source=tags[-1].source))
    last = ledger.commits[-1] if ledger.commits else None
    if last and last.kind == "push" and "push" not in mentioned.casefold():
        found.append(Clause(text=say.pushed.format(last.ref), source=last.source))
    opened = [item for item in ledger.commits if item.kind == "pr"]
    if opened and opened[-1].ref not in mentioned:
        found.append(Clause(text=say.opened.format(opened[-1].ref), source=opened[-1].source))
    return found


def work_clauses(ledger: Ledger, say: Phrases, *, mentioned: str, said: str = "") -> list[Clause]:
    """What was done, from what the tools did: files, tests, checks, commits, tasks."""
    found = commit_clauses(ledger, say, mentioned=mentioned)
    files = main_files(ledger)
    names = [file_name(file.path) for file in files]
    fresh = [file for file in files[:2] if file_name(file.path) not in mentioned]
    if fresh:
        text = say.listed.join(file_name(file.path) for file in fresh)
        if len(names) > 3:
            text = say.more.format(text, len(names) - len(fresh) if say.stop == ". " else len(names))
        template = say.created if all(file.created for file in fresh) else say.changed
        found.append(Clause(text=template.format(text), source=tuple(entry for file in fresh for entry in file.source)))
    gone = [
        file
        for file in ledger.changed_files
        if file.deleted and not file.created and file_name(file.path) not in mentioned
    ]
    if gone and len(gone) <= 3:
        found.append(
            Clause(
                text=say.deleted.format(say.listed.join(file_name(file.path) for file in gone)), source=gone[-1].source
            )
        )
    found.extend(_result_clauses(ledger, say, said))
    found.extend(_open_work(ledger, say))
    return found


def _open_work(ledger: Ledger, say: Phrases) -> list[Clause]:
    """What is not done: a failed edit, open tasks, agents that still run."""
    found: list[Clause] = []
    broken = next(
        (error for error in reversed(ledger.errors) if not error.resolved and error.where.startswith("edit ")), None
    )
    if broken:
        found.append(Clause(text=say.edit_failed.format(file_name(broken.where)), source=broken.source))
    last = ledger.commands[-1] if ledger.commands and ledger.state in ("interrupted", "working") else None
    if last and last.failed:
        error = next((error for error in reversed(ledger.errors) if error.source == last.source), None)
        why = f": {clip(error_words(error.text), 8)}" if error and error.text else ""
        failed = say.check_fail.format(f"`{first_program(last.command)}`") + why
        found.append(Clause(text=failed, source=last.source))
    if ledger.todos and ledger.todos.open_items:
        text = say.todo.format(ledger.todos.done, len(ledger.todos.items))
        found.append(Clause(text=text, source=ledger.todos.source))
    running = [agent for agent in ledger.agents if agent.status == "running"]
    if len(running) > 1:
        found.append(Clause(text=say.agents.format(len(running)), source=running[-1].source))
    return found


def failing(count: int, say: Phrases) -> str:
    """How many tests fail."""
    return say.test_fails if count == 1 else say.tests_fail.format(count)


def _result_clauses(ledger: Ledger, say: Phrases, said: str) -> list[Clause]:
    found: list[Clause] = []
    if ledger.tests and not (_TEST_CLAIM.search(said) and ledger.tests[-1].ok):
        run = ledger.tests[-1]
        if run.failed:
            found.append(Clause(text=failing(run.failed, say), source=run.source))
        elif run.ok and run.order >= ledger.changes:
            text = say.tests_pass.format(run.passed) if run.passed and run.passed > 1 else say.tests_ok
            found.append(Clause(text=text, source=run.source))
        elif run.ok is False:
            found.append(Clause(text=say.check_fail.format(run.runner), source=run.source))
    for kind in ("build", "lint"):
        last = next((check for check in reversed(ledger.checks) if check.kind == kind), None)
        if last and last.order >= ledger.changes and last.ok is not None:
            good = say.build_ok if kind == "build" else say.lint_ok if "lint" in last.command else say.checks_ok
            found.append(Clause(text=good if last.ok else say.check_fail.format(kind), source=last.source))
    return found
