"""The statements of a report: its clauses that tell something as done, without code, quotations, plans and questions.

Names stand as marks in a statement, so that no word of a name is read as one of the sentence: `⟦F0⟧` a file, `⟦G0⟧` a
file of tests, `⟦T0⟧` a command or a name of tests, `⟦H0⟧` a hash, `⟦U0⟧` an address, `⟦C0⟧` other code.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clew.ledger.commands import purpose_of

MAX_CHARS = 60_000
_MAX_LINE = 4_000
_MAX_SENTENCE = 1_200
_MAX_LEAD = 160
_EXTENSIONS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|go|mod|sum|rs|rb|erb|java|kt|kts|swift|c|h|cc|cpp|cxx|hpp|hh|"
    "cs|csproj|sln|php|sh|bash|zsh|fish|ps1|bat|sql|md|mdx|rst|txt|adoc|tex|json|json5|jsonl|jsonc|yaml|yml|toml|ini|"
    "cfg|conf|env|lock|html|htm|css|scss|sass|less|xml|svg|csv|tsv|proto|graphql|gql|gradle|tf|tfvars|hcl|nix|dart|lua|"
    "ex|exs|erl|hs|ml|scala|clj|r|jl|pl|pm|vim|el|zig|sol|asm|cmake|mk|j2|tmpl|tpl|tcss|snap|log|patch|diff"
)
_BARE = "Makefile|Dockerfile|Justfile|Procfile|Gemfile|Rakefile|Vagrantfile|Jenkinsfile|CODEOWNERS|LICENSE"
_PATH = rf"(?:[\w@.+~-]*/)*(?:\.?[\w@+-][\w@.+-]*\.(?:{_EXTENSIONS})|\.(?:gitignore|dockerignore|env|npmrc)|{_BARE})"
_FILE_SPAN = re.compile(rf"({_PATH})(?::\d+(?:[-:]\d+)*)?")
_FILE = re.compile(rf"(?<![\w/.@:⟦-])({_PATH})(?::\d+(?:[-:]\d+)*)?(?![\w/(⟧-]|\.\w)")
_NO_FILES = frozenset(
    {"next.js", "node.js", "vue.js", "react.js", "nuxt.js", "three.js", "express.js", "d3.js", "chart.js"}
)
_URL = re.compile(r"\w+://[^\s⟦⟧)*]+")
_HASH = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,40}")
_BARE_HASH = re.compile(r"(?<![\w/.⟦#-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w/.-])")
_LEADERS = re.compile(r"\s*(?:\.{3,}|…+)\s*|\s+\.\s+")
_TEST_NAME = re.compile(r"(?:Test[A-Z_]\w*|test_\w+)(?:::\w+|\(\))?|.*::test_\w+")
_TEST_FILE = re.compile(r"(?:^|/)test_[^/]*$|_(?:test|spec)\.\w+$|\.(?:test|spec)\.\w+$")
_SPAN = re.compile(r"`([^`\n]+)`")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"\n]{12,}\"|“[^”\n]{12,}”|„[^“”\n]{12,}[“”]|«[^»\n]{12,}»|「[^」\n]{6,}」")
_LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\n]*)\)")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_NAME_FIRST = re.compile(
    r"^\W*((?:\d+[.)]\s+)?⟦[FGCT]\d+⟧(?:\s*(?:,|and|&|"
    r"/)\s*⟦[FGCT]\d+⟧)*(?:\s*\([^)]*\))?(?:\s+\w+){0,2})\s*(?:[—–-]+|"
    r":|→)\s+"
)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(\[( |x|X)\]\s+)?")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*\s*:?\s*$)")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[)\"'”]*\s+|(?<=[。！？])|(?<=[?!.])(?=\s*$)")
_SAME_THING = re.compile(r"(?:;|\s+[—–-])\s+(?=(?:it|they|no|zero)\b)")
"""What goes on about the thing before it."""
_CLAUSE = re.compile(
    r";\s+|；|\s+(?:[—–-]|--)\s+(?!(?:\w+(?:ed|ote)|no|0|zero|success\w*|ok|clean|"
    r"green)\b)|(?<!\ball)(?<!\beverything),?\s+(?:but|however|although|"
    r"though|while|whereas|aber|jedoch|obwohl|mais|cependant|"
    r"pero|aunque)\s+|，?(?:但是|但|不过|然而)",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"\bnext (?:steps?|up|actions?|tasks?|time|moves?)\b|^\W*next\b\W*$|^\W*next:|\bto[- ]?dos?\b|\bremain\w*|"
    r"\bplan(?:s|ned)?\b|\brecommend\w*|\bsuggest\w*|\bpropos\w+|"
    r"\boptions?\b|\bhow to\b|"
    r"\bwould\b|\bcould\b|\bshould\b|\bwill\b|\bfollow[- ]?ups?\b|\bopen (?:questions?|points?|items?)\b|\bnot done\b|"
    r"\bmissing\b|\busage\b|\bif\b|\bto (?:verify|test|run|fix|try|finish|complete)\b|\bexpected\b|\bacceptance\b|"
    r"\bcriteria\b|\bsteps\b|\bexample\b|\byou can\b|\bprevious(?:ly)?\b|\bbefore\b|\bhistory\b|\bbackground\b|"
    r"\bnächste\w*|\bgeplant\w*|\boffen\w*|\bempf\w+|\bvorschl\w+|\bprochain\w*|\bprévu\w*|\breste\b|"
    r"\bpróxim\w+|\bpendiente\w*|\bsiguiente\w*|下一步|计划|建议|待办|后续|接下来",
    re.IGNORECASE,
)
_LISTS_CHANGES = re.compile(
    r"\b(?:files?|documents?)\b.{0,20}\b(?:changed|modified|created|updated|added|touched|edited|deleted|removed|"
    r"written)\b|"
    r"\b(?:changed|modified|created|updated|added|edited|deleted|removed|new|written) files?\b|"
    r"^\W*(?:code |file )?(?:changes?|edits|modifications)(?: (?:I )?made\b.*|\W*$)|^\W*what (?:I |was |"
    r"has )?changed\W*$|"
    r"\b(?:geänderte|neue|erstellte|gelöschte) dateien\b|\bfichiers? (?:modifiés?|créés?|ajoutés?|supprimés?)\b|"
    r"\barchivos? (?:modificados?|creados?|añadidos?|eliminados?)\b|(?:修改|新增|创建|更新|删除)(?:了|过)?的?文件",
    re.IGNORECASE,
)

_HEADS_CHANGES = re.compile(
    r"\|[^|]*\b(?:changes?|changed|actions?|edits?|modifications?|änderung(?:en)?|modifications?|cambios?)\b|"
    r"变更|改动|修改",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """One clause of a report that is told as a fact."""

    text: str
    names: tuple[str, ...]
    """What the marks in the text stand for, by their number."""
    around: str
    """The line that it is a part of."""
    listed: bool = False
    """It is an item of a list of changed files."""

    def name(self, number: str) -> str:
        """What a mark stands for."""
        return self.names[int(number)]


def statements(text: str, commands: Iterable[str] = ()) -> Iterator[Statement]:
    """The clauses of a report that tell something; what stands under a heading or a line of plans is none. `commands`:
    names of commands that ran, which are read as such without backticks, too."""
    reader = _Reader(_any_of(commands))
    for line in (row[:_MAX_LINE] for row in _FENCE.sub("\n", text[:MAX_CHARS]).splitlines()):
        if line.strip() and not line.lstrip().startswith((">", "<")):
            yield from reader.read(line)


def _any_of(commands: Iterable[str]) -> re.Pattern[str] | None:
    names = "|".join(re.escape(name) for name in sorted(commands, key=len, reverse=True))
    return re.compile(rf"(?<![\w/.⟦-])(?:{names})(?![\w/-]|\.\w)", re.IGNORECASE) if names else None


class _Reader:
    """Reads a report line by line and keeps what the lines above say of the next one."""

    def __init__(self, commands: re.Pattern[str] | None) -> None:
        self._commands = commands
        self._section = self._lead = ""
        self._file = ""
        """The file that is the heading of what follows."""
        self._table = False
        self._rows_listed = False

    def read(self, line: str) -> Iterator[Statement]:
        """The statements of one line."""
        if _ROW.match(line):
            yield from self._row(line)
            return
        self._table = self._rows_listed = False
        item = _ITEM.match(line)
        alone = _FILE_SPAN.fullmatch(line.strip().strip("#*`: "))
        if item is None:
            self._file = alone.group(1) if alone else ""
        if alone is None and _HEADING.match(line):
            self._section, self._lead = _scope(line), ""
        elif item is None and alone is None and not line[0].isspace():
            self._lead = ""
        box = item.group(2) if item else None
        if box == " " or ("plan" in (self._section, self._lead) and box is None):
            return
        words = line[item.end() :] if item else line
        listed = (item is not None or alone is not None) and "list" in (self._section, self._lead)
        yield from self._line(f"{self._file}: {words}" if self._file and item else words, listed=listed)
        if item is None and alone is None and not _HEADING.match(line):
            opens = line.rstrip(" *_").endswith((":", "：")) or _LISTS_CHANGES.search(line) is not None
            self._lead = _scope(line) if opens and len(line) < _MAX_LEAD else self._lead

    def _row(self, line: str) -> Iterator[Statement]:
        """Each cell of a row of a table; those behind one that names files tell of them."""
        if not self._table:
            self._table, self._rows_listed = True, _HEADS_CHANGES.search(line) is not None
        if self._section == "plan":
            return
        cells = [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]
        first = ""
        for cell in cells:
            names = [name.strip("*` ") for name in cell.split(",")]
            if not first and all(map(_FILE_SPAN.fullmatch, names)):
                first = cell
            elif first:
                yield from self._line(f"{first}: {cell}", listed=self._rows_listed)
            else:
                yield from self._line(cell, listed=False)
        if not first and len(cells) > 1:
            yield from self._line(": ".join(cells), listed=False)

    def _line(self, line: str, *, listed: bool) -> Iterator[Statement]:
        names: list[str] = []
        plain = _masked(_QUOTED.sub(" ", _LINK.sub(_linked, line)), names, self._commands)
        plain = _NAME_FIRST.sub(r"\1: ", _EMPHASIS.sub("", _LEADERS.sub(": ", plain.lstrip("# "))).strip())
        for sentence in _SENTENCE.split(_SAME_THING.sub(", ", plain)):
            if sentence.rstrip(" )\"'").endswith(("?", "？")):
                continue
            for clause in _CLAUSE.split(sentence[:_MAX_SENTENCE]):
                if clause and clause.strip():
                    yield Statement(" ".join(clause.split()), tuple(names), plain, listed)
                listed = False


def _scope(line: str) -> str:
    """What a heading or a line with a colon says of what follows it."""
    if _PLANNED.search(line):
        return "plan"
    return "list" if _LISTS_CHANGES.search(line) else ""


def _linked(found: re.Match[str]) -> str:
    """The words of a link, with the address where it leads out of the project."""
    words, address = found.groups()
    return f"{words} {address}" if "://" in address else words


def _masked(line: str, names: list[str], commands: re.Pattern[str] | None) -> str:
    """The line with a mark for each name."""

    def marked(kind: str, name: str) -> str:
        names.append(name)
        return f"⟦{kind}{len(names) - 1}⟧"

    def of_file(path: str) -> str:
        if path.casefold() in _NO_FILES:
            return marked("C", path)
        return marked("G" if _TEST_FILE.search(path) else "F", path)

    def of_span(found: re.Match[str]) -> str:
        name = found.group(1).strip()
        if file := _FILE_SPAN.fullmatch(name):
            return of_file(file.group(1))
        if _HASH.fullmatch(name):
            return marked("H", name)
        if _TEST_NAME.fullmatch(name):
            return marked("T", name)
        return of_command(name)

    def of_command(name: str) -> str:
        return marked("T" if purpose_of(name) == "test" else "C", name)

    line = _SPAN.sub(of_span, line.replace("⟦", "[").replace("⟧", "]"))
    line = _URL.sub(lambda found: marked("U", found.group(0)), line)
    line = _BARE_HASH.sub(lambda found: marked("H", found.group(0)), line)
    if commands is not None:
        line = commands.sub(lambda found: of_command(found.group(0)), line)
    return _FILE.sub(lambda found: of_file(found.group(1)), line)
