"""Arguments in a command are words for it: a real shell is asked what it makes of them."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.skills.shell_words import with_shell_words
from clew.skills.templates import TemplateError, words_of

SHOW = "printf '%s\\n'"


def printed(command: str) -> str:
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, env={}).stdout


@pytest.mark.parametrize("place", ["$1", '"$1"', "'$1'", "x; printf '%s\\n' $1", "$(echo a) $1"])
@pytest.mark.parametrize("word", ["42;id", "$(id)", "`id`", "a'b;id", 'a"b;id', "\\", "a\nid", "*", "-n", "é;id"])
def test_an_argument_is_one_word_wherever_it_stands(place: str, word: str) -> None:
    quoted = '"' + word + '"' if "'" in word else "'" + word + "'"
    given_words = words_of(quoted)
    if given_words != [word]:
        pytest.skip("no one word by our own reading")
    assert printed(with_shell_words(f"{SHOW} {place}", quoted)).endswith(f"{word}\n")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab;$()`\\\"' \n&|<>#*", max_size=8), max_size=3).map(" ".join))
def test_no_argument_becomes_shell(arguments: str) -> None:
    words = words_of(arguments)
    assert printed(with_shell_words("printf '[%s]' x $ARGUMENTS", arguments)) == "".join(
        f"[{word}]" for word in ["x", *words]
    )
    assert printed(with_shell_words("""printf '[%s]' "$ARGUMENTS" '$ARGUMENTS'""", arguments)) == f"[{arguments}]" * 2


def test_plain_arguments_stay_as_they_are_typed() -> None:
    assert with_shell_words("gh issue view $1 # $2", "42 --web") == "gh issue view 42 # --web"
    assert with_shell_words(r"echo \$1 $3", "a;b") == "echo $1 "


@pytest.mark.parametrize("command", ["cat <<E\n$1\nE", '"$(echo $1)"', "${x:-$1}", "$'$1'", "echo # $1"])
def test_where_quoting_cannot_be_told_signs_are_refused(command: str) -> None:
    with pytest.raises(TemplateError, match="plain letters"):
        with_shell_words(command, "a;b")
