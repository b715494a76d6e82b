"""Reading programs that get file names from find or a pipe: `find -exec grep`, `git ls-files | xargs wc -l`.

The names are not in the command, so the directory tells whether one of them could become a flag, several words or a
place outside. Only programs that show no more than `grep -r` does are proven this way.
"""

import re
from pathlib import Path

from clew.permissions.effort import entries_of, look
from clew.permissions.files import Places
from clew.permissions.paths import real, resolve
from clew.permissions.shell.programs.table import program
from clew.permissions.shell.proof.prove import Proof, prove
from clew.permissions.shell.proof.trees import Wanted, names_wanted, refuse_index, refuse_secrets
from clew.permissions.shell.reading.words import SimpleCommand, Word, literal
from clew.system.git.index import IndexUnclear, index_names
from clew.system.git.layout import find_repository

_ODD = re.compile(r"^-|[\s'\"\\]")
_COUNT = re.compile(r"[1-9]\d{0,4}")
# Letters that never take a value: behind one that does, an `l` would be part of that value.
_LISTS_FILES = {
    "grep": re.compile(r"-[riwEFIs]*l[riwEFIs]*|--files-with-matches"),
    "rg": re.compile(r"-i?li?|--files|--files-with-matches"),
}
_HARMLESS_FLAG = re.compile(
    r"-[iwrEFsI]+|-[gte]|--(?:include|exclude|exclude-dir|glob|type|hidden|no-ignore|ignore-case)(?:=.*)?", re.DOTALL
)
_PASSES_LINES = {
    "grep": re.compile(r"-[viEFP]+"),
    "sort": re.compile(r"-[urn]+"),
    "head": re.compile(r"-(?:n)?\d+"),
    "tail": re.compile(r"-(?:n)?\d+"),
}


def prove_find_exec(words: list[Word], cwd: str, places: Places) -> Proof:
    """find with -exec: the search must be proven without it, and the inner command with any file of the tree."""
    rest: list[Word] = [words[0]]
    inner: list[list[Word]] = []
    at = 1
    while at < len(words):
        if words[at].text != "-exec":
            rest.append(words[at])
            at += 1
            continue
        end = next((index for index in range(at, len(words)) if words[index].text in (";", "+")), 0)
        if not end:
            return Proof("find -exec has no end", "find")
        names = [literal("x"), literal("y")] if words[end].text == "+" else [literal("x")]
        body = words[at + 1 : end]
        if not any(word.text == "{}" for word in body):
            return Proof("find -exec does not use what is found", "find")
        inner.append([one for word in body for one in (names if word.text == "{}" else [word])])
        at = end + 1
    if any(word.text == "-L" for word in rest):
        return Proof("find -L follows links, which may lead anywhere", "find")
    outer = prove(rest, cwd, places)
    if outer.refused:
        return outer
    starts, why = _starts(rest[1:], cwd, places)
    return Proof(why, "find") if why else _each(inner, cwd, places, starts, names_wanted(rest))


def prove_xargs(words: list[Word], command: SimpleCommand, cwd: str, places: Places) -> Proof:
    """xargs behind a program that prints nothing but names of files below this directory."""
    at, marker = 1, ""
    while at < len(words) and words[at].text.startswith("-"):
        flag = words[at].text
        value = words[at + 1].text if at + 1 < len(words) else ""
        if flag in ("-0", "--null", "-r", "--no-run-if-empty"):
            at += 1
        elif flag in ("-n", "-P", "-L") and _COUNT.fullmatch(value):
            at += 2
        elif flag == "-I" and value in ("{}", "%"):
            marker, at = value, at + 2
        elif flag in ("-I{}", "-I%"):
            marker, at = flag[2:], at + 1
        elif re.fullmatch(r"-[nPL][1-9]\d{0,3}", flag):
            at += 1
        else:
            return Proof(f"xargs {flag} is not proven harmless", "xargs")
    body = words[at:]
    if _only_shows(body):
        return Proof("", "xargs echo")
    if _reads_elsewhere(command) or not _names_files(command.pipe_from):
        return Proof("xargs takes its words from something that is not proven to list files", "xargs")
    if marker and any(marker in word.text and word.text != marker for word in body):
        return Proof("xargs puts names inside other words", "xargs")
    body = _with_names(body, marker)
    source = _source(command)
    if source.words[0].text == "git" and (why := _index_hazard(cwd)):
        return Proof(why, "git ls-files")
    starts, wanted = [cwd], names_wanted(source.words)
    if source.words[0].text == "git":
        why = refuse_index(cwd, places) if body and program(body[0].text).shows == "content" else ""
        return Proof(why, "git ls-files") if why else _each([body], cwd, places, starts, None)
    if source.words[0].text == "find":
        starts, why = _starts(source.words[1:], cwd, places)
        if why:
            return Proof(why, "find")
    return _each([body], cwd, places, starts, wanted)


def _with_names(body: list[Word], marker: str) -> list[Word]:
    """The inner command with names where xargs puts them."""
    if not marker:
        return [*body, literal("x"), literal("y")]
    return [literal("x") if word.text == marker else word for word in body]


def _only_shows(body: list[Word]) -> bool:
    """Whatever the words are, echo only shows them; xargs starts it where no program is named."""
    return all(word.known for word in body) and (not body or (body[0].plain and body[0].text == "echo"))


def _each(commands: list[list[Word]], cwd: str, places: Places, starts: list[str], wanted: Wanted | None) -> Proof:
    """`wanted`: which names are handed on; None where their secrets were looked for elsewhere."""
    for words in commands:
        if not words or not words[0].plain or not program(words[0].text).any_file:
            return Proof("this program is not proven harmless for every file", words[0].text if words else "")
        if any(word.text.startswith(("-f", "--file")) for word in words):
            return Proof("names would be read from a file", words[0].text)
        found = prove(words, cwd, places)
        if found.refused:
            return found
        shown = wanted is not None and program(words[0].text).shows == "content"
        if shown and (why := refuse_secrets(starts, cwd, places, wanted or bool, follow=True)):
            return Proof(why, words[0].text)
    return Proof(_hazard(starts, places), commands[0][0].text)


def _names_files(producer: SimpleCommand | None) -> bool:
    """Follow the pipe back through filters of whole lines to a program that lists files below the directory."""
    while producer is not None and producer.words and producer.pipe_from is not None:
        if not _passes_lines(producer):
            return False
        producer = producer.pipe_from
    if producer is None or not producer.words:
        return False
    if _reads_elsewhere(producer):
        return False
    name, *rest = producer.words
    texts = [word.text for word in rest]
    if name.text == "find":
        prints_more = {"-printf", "-ls", "-exec", "-L"} & set(texts)
        return not prints_more
    if name.text == "git":
        plain = {"-m", "-o", "-c", "-d", "-z", "--others", "--modified", "--cached", "--exclude-standard"}
        named = all(text in plain or not text.startswith(("-", ":")) for text in texts[1:])
        return texts[:1] == ["ls-files"] and named and not _beyond(rest)
    lists = _LISTS_FILES.get(name.text)
    if lists is None or not texts or not lists.fullmatch(texts[0]) or _beyond(rest):
        return False
    return all(_HARMLESS_FLAG.fullmatch(text) for text in texts[1:] if text.startswith("-"))


def _passes_lines(filtering: SimpleCommand) -> bool:
    """The program hands on some of the lines it gets from the pipe, unchanged."""
    name, *texts = [word.text for word in filtering.words]
    allowed = _PASSES_LINES.get(name)
    if allowed is None or _reads_elsewhere(filtering):
        return False
    if name in ("head", "tail") and len(texts) == 2 and texts[0] == "-n" and texts[1].isdigit():
        return True
    operands = [text for text in texts if not allowed.fullmatch(text)]
    return len(operands) == (1 if name == "grep" else 0) and not any(text.startswith("-") for text in operands)


def _reads_elsewhere(command: SimpleCommand) -> bool:
    return any(redirect.op.startswith("<") for redirect in command.redirects)


def _beyond(words: list[Word]) -> str:
    """A start that is not written as a place below this directory."""
    for word in words:
        if word.text.startswith(("/", "~")) or ".." in word.text.split("/"):
            return "only files below this directory are proven harmless here"
    return ""


def _source(command: SimpleCommand) -> SimpleCommand:
    while command.pipe_from is not None:
        command = command.pipe_from
    return command


def _index_hazard(cwd: str) -> str:
    """git prints the names of its index, whatever lies in the directory (cases/project_code.txt)."""
    repository = find_repository(Path(cwd))
    if repository is None:
        return ""
    try:
        names = index_names(repository)
    except IndexUnclear as problem:
        return f"the names that git would print cannot be told: {problem}"
    for name in names:
        if any(_ODD.search(part) for part in name.split("/")) or name.startswith("/") or ".." in name:
            return "a name in the index could become a flag, several words or a place outside"
    return ""


def _starts(words: list[Word], cwd: str, places: Places) -> tuple[list[str], str]:
    """Where find would start, and why one of these places is not below the workspace or has an odd name."""
    found: list[str] = []
    for word in words:
        text = word.text
        if text.startswith(("-", "(", "!")):
            break
        place = resolve(text, cwd=cwd, home=places.home)
        if not places.inside(place.target) or any(_ODD.search(part) for part in text.split("/")):
            return [], "only files below the workspace are proven harmless here"
        found.append(place.target)
    return found or [cwd], ""


def _hazard(starts: list[str], places: Places) -> str:
    """What in the tree would make a file name more than the name of a file in the workspace."""
    waiting = [*dict.fromkeys(starts)]
    while waiting:
        for entry in entries_of(waiting.pop()):
            if _ODD.search(entry.name):
                return "a file name here could become a flag or several words"
            if entry.is_symlink():
                look()
                if not places.inside(real(entry.path)):
                    return "a link here leads out of the workspace"
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return ""
