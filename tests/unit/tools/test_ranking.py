"""Finding tools by a few words: 400 tools of 66 servers, 60 questions, 20 of them kept aside while it was made."""

from pathlib import Path

import pytest
from msgspec import Struct

from clew.tools.deferred.ranking import Document, Ranking, words_in

DATA = Path(__file__).parent / "ranking"


class Question(Struct, frozen=True):
    """What somebody looks for, and which tools would be right."""

    group: str
    query: str
    right: frozenset[str]


def documents() -> list[Document]:
    """All tools, as SearchTools sees them."""
    rows = [
        line.split("\t")
        for name in ("tools_en.tsv", "tools_zh.tsv")
        for line in (DATA / name).read_text(encoding="utf-8").splitlines()
    ]
    return [
        Document(name=f"{server}/{tool}", fields=((f"{server}__{tool}", 3.0), (words, 1.0)))
        for server, tool, words in rows
    ]


def questions() -> list[Question]:
    rows = [line.split("\t") for line in (DATA / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    return [Question(group, query, frozenset(right.split(","))) for group, query, right in rows]


def share_found(group: str) -> float:
    """How many questions of a group have a right tool among the first five."""
    ranking = Ranking(documents())
    asked = [question for question in questions() if question.group == group]
    found = [bool(question.right & {hit.name for hit in ranking.search(question.query, limit=5)}) for question in asked]
    return sum(found) / len(found)


def test_the_set_is_what_it_says() -> None:
    tools, asked = documents(), questions()
    assert len(tools) == len({tool.name for tool in tools}) == 400
    assert all(question.right <= {tool.name for tool in tools} for question in asked)
    counted = {group: [q for q in asked if q.group == group] for group in ("tune", "held", "cross")}
    assert {group: len(found) for group, found in counted.items()} == {"tune": 40, "held": 20, "cross": 10}
    chinese = [q for q in (*counted["tune"], *counted["held"]) if not q.query.isascii()]
    assert len(chinese) == 15


@pytest.mark.parametrize("group", ["tune", "held"])
def test_the_right_tool_is_among_the_first_five(group: str) -> None:
    assert share_found(group) >= 0.95


def test_words() -> None:
    assert list(words_in("mcp__slack__send_message")) == ["mcp", "slack", "send", "messag"]
    assert list(words_in("sendMessages")) == ["sendmessag", "send", "messag"]
    assert list(words_in("HTTPServer v2")) == ["httpserver", "http", "server", "v2", "v", "2"]
    assert list(words_in("查询天气 now")) == ["查询", "询天", "天气", "now"]
    assert list(words_in("树")) == ["树"]
    assert list(words_in("\u0000\u202e…!")) == []


def test_a_word_that_only_begins_like_another_is_found_and_counts_less() -> None:
    ranking = Ranking(
        [
            Document(name="exact", fields=(("repo", 1.0),)),
            Document(name="long", fields=(("repository", 1.0),)),
            Document(name="other", fields=(("report", 1.0),)),
        ]
    )
    assert [hit.name for hit in ranking.search("repo", limit=5)] == ["exact"]
    assert [hit.name for hit in ranking.search("reposi", limit=5)] == ["long"]


def test_a_long_description_full_of_words_does_not_win_over_a_name() -> None:
    stuffed = "send message channel user file search list get " * 80
    ranking = Ranking(
        [
            Document(name="right", fields=(("send_message", 3.0), ("Post a message", 1.0))),
            Document(name="stuffed", fields=(("do_it", 3.0), (stuffed, 1.0))),
        ]
    )
    assert ranking.search("send message", limit=1)[0].name == "right"


def test_nothing_to_search_and_nothing_asked() -> None:
    assert Ranking([]).search("anything", limit=5) == []
    assert Ranking(documents()).search("  ", limit=5) == []
    assert len(Ranking(documents()).search("list " * 10_000, limit=5)) == 5
