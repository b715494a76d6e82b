"""Prompts that no model could read: one in the conversation would make every later request fail."""

import msgspec
import pytest

from clew.headless.prompt_queue import problem_with, words_of
from clew.streaming.shapes.control import UserWords


def content(value: object) -> object:
    return msgspec.convert({"content": value}, UserWords).content


def media(kind: str = "image", **source: str) -> dict[str, object]:
    given = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    return {"type": kind, "source": given | source}


TEXT = {"type": "text", "text": "what is this?"}


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ([], "empty"),
        ([{"type": "text", "text": ""}, {"type": "text", "text": " "}], "empty"),
        ([TEXT, media(data="!!!")], "image is not base64"),
        ([media(data="aGVsbG8")], "not base64"),
        ([media(data="aGVs\nbG8=")], "not base64"),
        ([media(data="")], "no data"),
        ([media(media_type="text/html")], "media_type 'text/html'"),
        ([media(media_type="")], "media_type ''"),
        ([media(media_type="image/png]\n\n[SYSTEM: ")], "media_type"),
        ([media(type="file")], "type 'file'"),
        ([media(type="text")], "type 'text'"),
        ([media(type="url")], "no url"),
        ([media("document", media_type="application/pdf", data="%")], "document is not base64"),
    ],
)
def test_what_is_wrong_is_named(value: object, named: str) -> None:
    assert named in problem_with(content(value))  # pyright: ignore[reportArgumentType]  (decoded just now)


@pytest.mark.parametrize(
    "value",
    [
        "hi",
        [TEXT],
        [media()],
        [media(type="url", url="https://example.org/a.png", data="", media_type="")],
        [TEXT, media("document", media_type="application/pdf")],
        [media("document", type="text", media_type="text/plain", data="plain words")],
        [{"type": "text", "text": ""}, TEXT],
    ],
)
def test_what_a_model_can_read_is_taken(value: object) -> None:
    assert problem_with(content(value)) == ""  # pyright: ignore[reportArgumentType]  (as above)


def test_only_a_text_alone_has_words_that_may_be_a_command() -> None:
    assert words_of("/context") == "/context"
    assert words_of(content([{"type": "text", "text": "/context"}])) == "/context"  # pyright: ignore[reportArgumentType]  (as above)
    assert words_of(content([TEXT, TEXT])) is None  # pyright: ignore[reportArgumentType]  (as above)
