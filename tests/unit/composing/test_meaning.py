"""What an input means by how it begins."""

import pytest

from clew.composing.meaning import CommandLine, Meaning, MemoryLine, PromptWords, ShellLine, meaning_of, mode_of


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("fix the test", PromptWords("fix the test")),
        ("/help", CommandLine("/help")),
        ("/model opus", CommandLine("/model opus")),
        ("/unknown", CommandLine("/unknown")),
        ("//help", PromptWords("/help")),
        ("/usr/bin/env is missing", PromptWords("/usr/bin/env is missing")),
        ("/etc/hosts", PromptWords("/etc/hosts")),
        (" /help", PromptWords(" /help")),
        ("!ls -l", ShellLine("ls -l")),
        ("! ls", ShellLine("ls")),
        ("!cat <<E\nx\nE", ShellLine("cat <<E\nx\nE")),
        ("!!important", PromptWords("!important")),
        ("# use tabs", MemoryLine("use tabs")),
        ("#use tabs", MemoryLine("use tabs")),
        ("# Title\n\ntext", PromptWords("# Title\n\ntext")),
        ("## Title", PromptWords("## Title")),
        ("/pin a\nb", CommandLine("/pin a\nb")),
        ("", None),
        (" \n ", None),
        ("!", None),
        ("#  ", None),
    ],
)
def test_an_input_means(text: str, meaning: Meaning | None) -> None:
    assert meaning_of(text) == meaning


def test_the_mode_is_seen_from_the_first_line() -> None:
    assert mode_of("!ls", one_line=False) == "shell"
    assert mode_of("#x", one_line=True) == "memory"
    assert mode_of("#x", one_line=False) == "prompt"
    assert mode_of("/x", one_line=True) == "command"
    assert mode_of("", one_line=True) == "prompt"
