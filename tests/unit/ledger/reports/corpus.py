"""The corpus of reports: the texts beside this file, each with a session that its words are held against.

A block begins with `%% KIND key=value…`. A false report is so in one kind of fact (tests, file, commit, push, pr,
command); its session did everything that the report says but that. The same words with a session that did it, too, are
a true report. `true.txt` holds reports that claim nothing which their session did not do.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clew.ledger.claims.marks import against
from clew.ledger.facts import Ledger
from unit.ledger.talk import Talk

_HERE = Path(__file__).parent
_SEED = 20261118
_KEY = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")
_RUNS = {
    "pytest": ("pytest -q", "12 passed in 0.41s", "FAILED tests/test_a.py::test_b\n2 failed, 10 passed in 0.44s"),
    "rspec": ("bundle exec rspec", "41 examples, 0 failures", "41 examples, 2 failures"),
    "go": ("go test ./...", "ok  \tpkg/cache\t0.01s", "--- FAIL: TestA\nFAIL\tpkg/cache\t0.01s"),
    "npm": ("npm test", "Tests:       12 passed, 12 total", "Tests:       2 failed, 10 passed, 12 total"),
    "cargo": (
        "cargo test",
        "test result: ok. 33 passed; 0 failed; 0 ignored",
        "test result: FAILED. 31 passed; 2 failed; 0 ignored",
    ),
    "make": ("make check", "16 passed, 0 failed", "14 passed, 2 failed"),
    "mvn": (
        "mvn test",
        "Tests run: 52, Failures: 0, Errors: 0",
        "Tests run: 52, Failures: 2, Errors: 0\nBUILD FAILURE",
    ),
}


class Sample(NamedTuple):
    """One report and the facts of its session."""

    kind: str
    """The kind of fact that it is false in; "true" where it is not false."""
    text: str
    ledger: Ledger
    honest: Ledger | None
    """For a false report: the facts of a session that did what is said."""


def samples() -> list[Sample]:
    """All reports of the corpus, in the order of the files."""
    return [
        _sample(number, head, text) for name in sorted(_HERE.glob("*.txt")) for number, (head, text) in _blocks(name)
    ]


def later(name: str) -> list[Sample]:
    """Reports that were written when the rules had been tuned on all before them: `second`, then `third`."""
    return [_sample(number, head, text) for number, (head, text) in _blocks(_HERE / "later" / f"{name}.txt")]


def halves() -> tuple[list[Sample], list[Sample]]:
    """The reports in two halves by a fixed seed: the first to tune the rules on, the second to measure them."""
    found = samples()
    random.Random(_SEED).shuffle(found)
    return found[0::2], found[1::2]


class Figures(NamedTuple):
    """How the marks fare on some reports."""

    by_kind: dict[str, tuple[int, int]]
    """Marked reports and all, by the kind that they are false in."""
    true: int
    missed: list[str]
    wrong: list[str]
    """True reports with a mark."""

    @property
    def marked(self) -> int:
        """How many false reports are marked."""
        return sum(marked for marked, _ in self.by_kind.values())

    @property
    def false(self) -> int:
        """How many reports are false."""
        return sum(of for _, of in self.by_kind.values())


def measured(some: list[Sample]) -> Figures:
    """The figures of some reports. A false one counts as marked by a mark that it has not where it holds."""
    tally: dict[str, list[bool]] = {}
    missed: list[str] = []
    wrong = [sample.text for sample in some if against(sample.text, sample.honest or sample.ledger)]
    for sample in some:
        if sample.honest is not None:
            found = set(against(sample.text, sample.ledger)) > set(against(sample.text, sample.honest))
            tally.setdefault(sample.kind, []).append(found)
            if not found:
                missed.append(sample.text)
    return Figures({kind: (sum(found), len(found)) for kind, found in tally.items()}, len(some), missed, wrong)


def _blocks(path: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    for number, block in enumerate(path.read_text(encoding="utf-8").split("%% ")[1:]):
        head, _, text = block.partition("\n")
        yield number, (head, text.strip())


def _sample(number: int, head: str, text: str) -> Sample:
    kind, _, rest = head.partition(" ")
    keys: dict[str, list[str]] = {}
    for key, value in _KEY.findall(rest):
        keys.setdefault(key, []).append(value.strip())
    if kind == "true":
        return Sample(kind, text, _true_session(keys), None)
    return Sample(kind, text, _session(kind, keys, number, lies=True), _session(kind, keys, number, lies=False))


def _files(keys: dict[str, list[str]], key: str) -> list[str]:
    return [path for value in keys.get(key, ()) for path in value.split(",")]


def _session(kind: str, keys: dict[str, list[str]], number: int, *, lies: bool) -> Ledger:
    talk = Talk().user("please do the task that is described above")
    for path in _files(keys, "missing"):
        talk.call("Read", file_path=f"/home/ann/parcels/{path}").result("x = 1")
        if not lies:
            talk.edit(f"/home/ann/parcels/{path}")
    _edits(talk, keys)
    for command in keys.get("cmd", ()):
        talk.bash(command, "Exit code 1\nerror" if lies else "done", error=lies)
    if kind == "tests":
        if not lies or number % 2:
            _tests(talk, keys.get("test", ["pytest"])[0], red=lies)
    elif kind not in ("command",):
        _tests(talk, "pytest", red=False)
    order = ("commit", "push", "pr")
    made = order[: order.index(kind) + (not lies)] if kind in order else ()
    _made(talk, made)
    return talk.ledger()


def _true_session(keys: dict[str, list[str]]) -> Ledger:
    talk = Talk().user("please do the task that is described above")
    _edits(talk, keys)
    for run in keys.get("ran", ()):
        command, _, code = run.rpartition(":")
        talk.bash(command, f"Exit code {code}\nerror" if code != "0" else "done", error=code != "0")
    if keys["tests"][0] != "none":
        _tests(talk, "pytest", red=keys["tests"][0] == "red")
    _made(talk, tuple(_files(keys, "made")))
    return talk.ledger()


def _edits(talk: Talk, keys: dict[str, list[str]]) -> None:
    for path in _files(keys, "wrote"):
        talk.edit(path if path.startswith("/") else f"/home/ann/parcels/{path}")


def _tests(talk: Talk, runner: str, *, red: bool) -> None:
    command, green, failed = _RUNS[runner]
    talk.bash(command, f"Exit code 1\n{failed}" if red else green, error=red)


def _made(talk: Talk, made: tuple[str, ...]) -> None:
    if "commit" in made:
        talk.bash("git commit -am guard", "[main 1a2b3c4] guard: refuse empty names\n 1 file changed")
    if "push" in made:
        talk.bash("git push origin main", "To host:r.git\n   0000001..1a2b3c4  main -> main")
    if "pr" in made:
        talk.bash("gh pr create --fill", "https://git.example.org/team/parcels/pull/214")
