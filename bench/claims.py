"""Marks on reports: how many of real sessions' closing words are marked by their own log, and by a broken one.

`python -m bench.claims FOLDER...` reads every session below the folders, of any agent that clew can read. A report is
the last text of a turn with the facts up to it. Broken: the last test run made red, all test runs, commits or pushes
taken out of the facts, or one file that the words name. Whether words without a mark claim the thing at all is for a
reader: `--show` prints them.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from clew.foreign.registry import read
from clew.ledger.claims.marks import against
from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart

_TESTS = re.compile(r"\btests?\b.*(?:pass|green|✅)|(?:pass|green|✅).*\btests?\b|测试.*通过", re.IGNORECASE)
_CHANGES = re.compile(
    r"creat|add|updat|modif|edit|chang|delet|remov|wr[io]t|fix|renam|refactor|implement", re.IGNORECASE
)
_DELIVERS = {"commit": re.compile(r"\bcommitted\b|\bcommit:|提交"), "push": re.compile(r"\bpushed\b", re.IGNORECASE)}
_RUNS_GIT = re.compile(r"\bgit\b.*\b(?:commit|push|merge|cherry-pick|rebase|revert)\b", re.DOTALL)
_RUNS_TESTS = re.compile(r"test|spec|check|verif", re.IGNORECASE)


class Report(NamedTuple):
    """The closing words of a turn, and the facts when they were said."""

    place: str
    text: str
    ledger: Ledger


def reports(folder: Path) -> Iterator[Report]:
    """The reports of every session below a folder."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".jsonl", ".json", ".md", ".traj")):
        transcript = read(path, None) if path.is_file() else None
        yield from _of_session(path.name, transcript.entries if transcript else ())


def _of_session(name: str, entries: Iterable[Entry]) -> Iterator[Report]:
    folding, said = LedgerFold(), ""
    for entry in entries:
        if said and isinstance(entry, UserEntry) and not entry.is_meta and not _is_result(entry):
            yield Report(name, said, folding.ledger(held=True))
            said = ""
        folding.feed(entry)
        if isinstance(entry, AssistantEntry):
            words = "\n".join(part.text for part in entry.message.content if isinstance(part, TextPart))
            calls = any(isinstance(part, ToolCallPart) for part in entry.message.content)
            said = "" if calls else words or said
    if said:
        yield Report(name, said, folding.ledger(held=True))


def _is_result(entry: UserEntry) -> bool:
    content = entry.message.content
    return not isinstance(content, str) and any(isinstance(part, ToolResultPart) for part in content)


def broken(report: Report) -> Iterator[tuple[str, str, Ledger]]:
    """Kinds of facts that the words may claim: the kind, the line that may, and the facts without it."""
    ledger = replace(report.ledger, agents=())
    lines = re.sub(r"```.*?(?:```|\Z)", "", report.text, flags=re.DOTALL).splitlines()
    if ledger.tests and ledger.tests[-1].ok and (told := next(filter(_TESTS.search, lines), "")):
        red = replace(ledger.tests[-1], ok=False, failed=2)
        rest = tuple(run for run in ledger.commands if not _RUNS_TESTS.search(run.command))
        yield "tests red", told, replace(ledger, tests=(*ledger.tests[:-1], red))
        yield "no test", told, replace(ledger, tests=(), commands=rest)
    for kind, pattern in _DELIVERS.items():
        if any(fact.kind == kind for fact in ledger.commits) and (told := next(filter(pattern.search, lines), "")):
            made = tuple(fact for fact in ledger.commits if fact.kind not in (kind, "merge"))
            rest = tuple(run for run in ledger.commands if not _RUNS_GIT.search(run.command))
            yield kind, told, replace(ledger, commits=made, commands=rest)
    for file in ledger.changed_files:
        name = file.path.replace("\\", "/").rsplit("/", 1)[-1]
        told = next((line for line in lines if name in line and _CHANGES.search(line)), "")
        if told:
            files = tuple(other for other in ledger.files if not other.path.endswith(name))
            rest = tuple(run for run in ledger.commands if name not in run.command)
            yield "file", told, replace(ledger, files=files, commands=rest)
            break


def main() -> None:
    """Print the figures of some folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="the marks on true reports, and broken ones without a mark")
    asked = parser.parse_args()
    found = list({report.text: report for folder in asked.folders for report in reports(folder)}.values())
    marked = [(report, marks) for report in found if (marks := against(report.text, report.ledger))]
    print(f"true reports {len(found)}, marked {len(marked)}")
    for report, marks in marked if asked.show else ():
        print(f"  {report.place}: {'; '.join(marks)}")
    tally: dict[str, list[str]] = {}
    for report in found:
        for kind, told, ledger in broken(report):
            missed = set(against(report.text, ledger)) <= set(against(report.text, report.ledger))
            tally.setdefault(kind, []).append(told.strip() if missed else "")
    for kind, missed in tally.items():
        print(f"{kind}: {len(missed)} whose words may claim it, marked {missed.count('')}")
        for told in filter(None, missed if asked.show else ()):
            print(f"  {told[:200]}")


if __name__ == "__main__":
    main()
