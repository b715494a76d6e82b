"""Commits, tags, pushes and pull requests, from what git and the forges printed."""

import re

from clew.ledger.facts import CommandFact, CommitFact, Sources

KEPT = 60
_COMMITTED = re.compile(r"^\[([^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_DETACHED = re.compile(r"^\[detached HEAD ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_PUSHED = re.compile(
    r"^\s*[ +*=]?\s*(?:[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}|\[new branch\])\s+(\S+)\s+->\s+(\S+)", re.MULTILINE
)
_NEW_TAG = re.compile(r"^\s*\*\s*\[new tag\]\s+(\S+)\s+->", re.MULTILINE)
_TAG = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?tag\s+(?:(?:-a|-s|-f|--annotate|--sign)\s+)*([\w./+-]+)")
_PR = re.compile(r"https?://[\w.-]+/[\w.-]+/[\w./-]+/(?:pull|pulls|merge_requests)/(\d+)")
_CLOSED = re.compile(r"\b(?:pr|mr) close (?:\S+/)?(\d+)\b")
_MERGED = re.compile(r"\bgit\s+(?:merge|rebase)\s+(?:-\S+\s+)*([\w./+-]+)")
_AIDER = re.compile(r"^Commit ([0-9a-f]{7,40}) (.+)$", re.MULTILINE)
MESSAGE = re.compile(
    r"git\s+commit\b.*?(?:-\w*m|--message)[ =](?:\"\$\(cat <<'?EOF'?\n)?[\"']?(?P<subject>[^\"'\n]{3,120})"
)


class CommitsFold:
    """What left the working tree, in order."""

    def __init__(self) -> None:
        self._facts: list[CommitFact] = []
        self._merged: set[str] = set()

    def settle(self, command: CommandFact, output: str, order: int) -> None:
        """Take what a git or forge command reported."""
        if "git" not in command.command and "gh " not in command.command and "glab " not in command.command:
            return
        text = output if len(output) < 20000 else output[:8000] + output[-8000:]
        source = command.source
        if any(word in command.command for word in ("commit", "merge", "cherry-pick", "revert")):
            self._commits(command, text, order)
        if "push" in command.command and not command.failed:
            for local, remote in _PUSHED.findall(text):
                self._add(CommitFact(kind="push", ref=remote, branch=local, order=order, source=source))
            for tag in _NEW_TAG.findall(text):
                self._add(CommitFact(kind="push", ref=tag, branch=tag, order=order, source=source))
        if "tag" in command.command and not command.failed:
            named = _TAG.search(command.command)
            if named and not named.group(1).startswith("-"):
                self._add(CommitFact(kind="tag", ref=named.group(1), order=order, source=source))
        if not command.failed:
            self._merged.update(_MERGED.findall(command.command))
            closed = {"#" + number for number in _CLOSED.findall(command.command)}
            self._facts = [fact for fact in self._facts if fact.kind != "pr" or fact.ref not in closed]
        if "pr create" in command.command or "mr create" in command.command:
            opened = _PR.search(text)
            if opened:
                self._add(
                    CommitFact(kind="pr", ref="#" + opened.group(1), url=opened.group(0), order=order, source=source)
                )

    def note(self, ref: str, subject: str, order: int, source: Sources) -> None:
        """A commit that a program reported in its own line."""
        self._add(CommitFact(kind="commit", ref=ref, subject=subject, order=order, source=source))

    def order(self) -> int:
        """Which changes are committed: all up to this one."""
        return max((fact.order for fact in self._facts if fact.kind == "commit"), default=0)

    def drop(self, count: int, to: str = "") -> None:
        """The last commits are gone: so many, or all after `to`; all that were made here when it is older."""
        made = [fact for fact in self._facts if fact.kind == "commit"]
        if to:
            stays = next((at for at, fact in enumerate(made) if fact.ref and to.startswith(fact.ref[:7])), -1)
            count = len(made) - 1 - stays
        gone = made[len(made) - min(count, len(made)) :]
        self._facts = [fact for fact in self._facts if fact not in gone]

    def drop_branch(self, name: str) -> bool:
        """A branch was deleted, with what was committed there unless it was pushed or merged before."""
        kept = [fact for fact in self._facts if fact.kind != "commit" or fact.branch != name]
        if name in self._merged or any(fact.kind == "push" and fact.branch == name for fact in kept):
            return False
        gone = len(kept) < len(self._facts)
        self._facts = kept
        return gone

    def _commits(self, command: CommandFact, text: str, order: int) -> None:
        if "--amend" in command.command and not command.failed:
            self.drop(1)
        before = len(self._facts)
        for branch, ref, subject in _COMMITTED.findall(text):
            self._add(
                CommitFact(
                    kind="commit", ref=ref, subject=subject[:160], branch=branch, order=order, source=command.source
                )
            )
        for ref, subject in _DETACHED.findall(text):
            self._add(CommitFact(kind="commit", ref=ref, subject=subject[:160], order=order, source=command.source))
        for ref, subject in _AIDER.findall(text):
            self._add(CommitFact(kind="commit", ref=ref, subject=subject[:160], order=order, source=command.source))
        quiet = command.exit_code == 0 and not command.failed and "nothing to commit" not in text
        if len(self._facts) == before and quiet:
            told = MESSAGE.search(command.command)
            if told:
                self._add(
                    CommitFact(
                        kind="commit", ref="", subject=told.group("subject").strip(), order=order, source=command.source
                    )
                )

    def _add(self, fact: CommitFact) -> None:
        last = self._facts[-1] if self._facts else None
        if last and (last.kind, last.ref, last.subject) == (fact.kind, fact.ref, fact.subject):
            return
        self._facts.append(fact)
        if len(self._facts) > KEPT:
            del self._facts[0]

    def facts(self) -> tuple[CommitFact, ...]:
        """All of them, oldest first."""
        return tuple(self._facts)
