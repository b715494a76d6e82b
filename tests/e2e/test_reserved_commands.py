"""Sub-commands that are reserved and not built: they say so and exit 2, and no model hears of them."""

from pathlib import Path

import pytest

from clew.cli.command_names import COMMANDS, RESERVED
from e2e.command import Place
from fakes.model_server import ModelServer

DESIGNED = """
    board recap sessions show export rewind attach answer start ps logs kill daemon triggers autofix workflow agents
    team mcp plugin vault memory hooks permissions serve acp import replay auth config doctor completion tour
    login update
"""
"""Every sub-command that the design names, and two that people try."""


def test_every_designed_name_is_built_or_reserved_and_none_is_both() -> None:
    assert set(DESIGNED.split()) <= set(COMMANDS) | set(RESERVED)
    assert not set(COMMANDS) & set(RESERVED)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["board"], "clew: clew board is not built yet: `clew sessions` lists all sessions"),
        (["board", "--json"], "clew board is not built yet"),
        (["workflow", "run", "x"], "clew workflow is not built yet"),
        (["Serve"], "clew serve is not built yet"),
        (["help", "replay"], "clew replay is not built yet"),
        (["login"], "there is no clew login: `clew auth` "),
        (["update"], "there is no clew update: "),
        (["--verbose", "board"], "put the command first: clew board"),
        (["--model", "anthropic/claude-sonnet-4-5", "recap"], "put the command first: clew recap"),
    ],
)
def test_a_reserved_name_says_so_and_is_not_sent(place: Place, arguments: list[str], words: str) -> None:
    with ModelServer([{"text": "never"}]) as server:
        place.env["ANTHROPIC_BASE_URL"] = server.url
        done = place.run(*arguments)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert done.err.count("\n") == 1
        assert server.requests == []
        assert place.transcripts() == []


@pytest.mark.parametrize(
    "arguments", [["-p", "board"], ["-p", "--", "login"], ["--", "board"], ["-p", "--verbose", "board"]]
)
def test_the_same_word_is_a_prompt_where_it_is_given_as_one(place: Place, arguments: list[str]) -> None:
    with ModelServer([{"text": "An answer."}]) as server:
        place.env["ANTHROPIC_BASE_URL"] = server.url
        done = place.run(*arguments)
        assert (done.code, done.out) == (0, "An answer.\n")
