"""Bodies become prompts: arguments, files and commands where the file says so, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.skills.templates import (
    MAX_PIECES,
    TemplateError,
    joined,
    pieces_of,
    takes_arguments,
    with_arguments,
    words_of,
)


def kinds(body: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces_of(body) if piece.kind != "words"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("!`git status`", [("shell", "git status")]),
        (
            "Now: !`git log -1` and @src/a.py, then @b.md.",
            [("shell", "git log -1"), ("file", "src/a.py"), ("file", "b.md")],
        ),
        ('@"two words.md" end', [("file", "two words.md")]),
        ("me@example.com and x!`no`", []),
        ("```sh\n!`git status`\n@file\n```\nafter @file", [("file", "file")]),
        ("`!` is a mark, `!x` too", []),
        ("!`echo @not-a-file`", [("shell", "echo @not-a-file")]),
        ("(@a.md)", [("file", "a.md")]),
    ],
)
def test_what_is_put_in(body: str, found: list[tuple[str, str]]) -> None:
    assert kinds(body) == found


@given(st.text("ab !`@/.\n\"'$1()~", max_size=200))
def test_nothing_is_lost(body: str) -> None:
    assert "".join(piece.written or piece.text for piece in pieces_of(body)) == body


def test_there_is_an_end_to_it() -> None:
    with pytest.raises(TemplateError):
        pieces_of("@a " * (MAX_PIECES + 1))


@pytest.mark.parametrize(
    ("text", "arguments", "filled"),
    [
        ("$ARGUMENTS", "a b", "a b"),
        ("$1-$2-$3", "a 'b c'", "a-b c-"),
        (r"costs \$1", "a", "costs $1"),
        ("$10 and $1st", "a", "$10 and ast"),
        ("${ARGUMENTS}!", "x", "x!"),
        ("$ARGUMENTSX", "x", "$ARGUMENTSX"),
        ("$1", "$2 $ARGUMENTS", "$2"),
    ],
)
def test_arguments(text: str, arguments: str, filled: str) -> None:
    assert with_arguments(text, arguments) == filled


def test_arguments_without_a_place_come_last() -> None:
    assert not takes_arguments(pieces_of(r"words, \$1"))
    assert joined(["words"], "more", placed=False) == "words\n\nARGUMENTS: more"
    assert joined(["words more"], "more", placed=True) == "words more"


def test_words_of_arguments() -> None:
    assert words_of("""a "b c" 'd e' f"g h" it's""") == ["a", "b c", "d e", "fg h", "it's"]
