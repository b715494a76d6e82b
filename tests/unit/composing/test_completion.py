"""Completion: what is meant at the caret, which rows fit in which order, what a row puts into the text."""

import pytest

from clew.commands.base import CommandHelp
from clew.commands.registry import COMMANDS
from clew.composing.completion import Candidate, CompletionTarget, accepted, command_rows, file_rows, mention, wanted_at


def at(text: str, *, first_line: bool = True) -> CompletionTarget | None:
    """`|` is the caret."""
    column = text.index("|")
    return wanted_at(text.replace("|", ""), column, first_line=first_line)


@pytest.mark.parametrize(
    ("text", "kind", "query"),
    [
        ("/|", "command", ""),
        ("/he|", "command", "he"),
        ("/h|elp", "command", "h"),
        ("@|", "file", ""),
        ("look at @src/ma|", "file", "src/ma"),
        ("(@a|)", "file", "a"),
        ('see @"my file|', "file", "my file"),
        ("/model @x|", "file", "x"),
    ],
)
def test_something_is_completed(text: str, kind: str, query: str) -> None:
    wanted = at(text)
    assert wanted is not None
    assert (wanted.kind, wanted.query) == (kind, query)


@pytest.mark.parametrize(
    "text", ["hello|", "//he|", "/model o|", "|/help", "me@example.org|", "@a b|", '@"a b"|', "/usr/b|", "|@a"]
)
def test_nothing_is_completed(text: str) -> None:
    assert at(text) is None


def test_a_command_is_completed_on_the_first_line_only() -> None:
    assert at("/he|", first_line=False) is None


def test_a_long_line_costs_no_more_than_a_name() -> None:
    assert at("x" * 100_000 + " @ab|") == CompletionTarget("file", "ab", 100_001, 100_004)
    assert at("@" + "x" * 100_000 + "|") is None


def names(query: str) -> list[str]:
    return [row.text for row in command_rows(query, (command.help for command in COMMANDS))]


def test_commands_by_the_start_of_their_name_first() -> None:
    rows = names("re")
    assert rows[: len([name for name in rows if name.startswith("/re")])] == [
        name for name in rows if name.startswith("/re")
    ]
    assert "/rewind" in rows
    assert "/recap" in rows


def test_an_exact_name_is_the_first() -> None:
    catalogue = [CommandHelp(name=name, usage=name, summary="") for name in ("modelling", "model")]
    assert [row.text for row in command_rows("model", catalogue)] == ["/model", "/modelling"]


def test_other_names_and_what_a_command_is_for_find_it_too() -> None:
    assert names("exit")[0] == "/quit"
    assert "/rewind" in names("back")
    assert names("zzzz") == []


def test_one_letter_looks_at_names_only() -> None:
    known = {command.help.name: (command.help.name, *command.help.aliases) for command in COMMANDS}
    assert names("c")
    assert all(any(name.startswith("c") for name in known[row[1:]]) for row in names("c"))


def test_rows_of_files_come_as_they_were_found() -> None:
    rows = file_rows(["src/", "src/main.py"])
    assert rows == (Candidate("@src/", "src/", more=True), Candidate("@src/main.py", "src/main.py"))


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("see @ma|", "main.py", "see @main.py "),
        ("see @ma| now", "main.py", "see @main.py now"),
        ("@s|", "src/", "@src/"),
        ("@m|", "my file.txt", '@"my file.txt" '),
        ('@"my |', "my file.txt", '@"my file.txt" '),
        ("@m|", "my dir/", '@"my dir/'),
        ("@ma|in.p", "main.py", "@main.py "),
    ],
)
def test_an_accepted_row_stands_in_the_text(text: str, path: str, result: str) -> None:
    line = text.replace("|", "")
    wanted = at(text)
    assert wanted is not None
    insert, start, end = accepted(line, wanted, file_rows([path])[0])
    assert line[:start] + insert + line[end:] == result


def test_mentions_of_paths_with_blanks_are_quoted() -> None:
    assert mention("a b.py") == '@"a b.py"'
    assert mention("a.py") == "@a.py"
