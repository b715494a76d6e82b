"""Pictures named in a prompt."""

import base64
import os
from pathlib import Path

import pytest

from clew.composing.images import MAX_IMAGE_BYTES, ImageProblem, attach, mentioned_images, pasted_path
from clew.composing.meaning import CommandLine, MemoryLine, PromptWords, ShellLine
from clew.composing.pasted import Pastes
from clew.composing.typed_input import lookup_of, op_of, understood
from clew.protocol.lookups.place import Remember
from clew.protocol.messages import ImagePart, TextPart
from clew.protocol.ops import RunShell, SubmitPrompt

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 30
KINDS = {
    "a.png": (PNG, "image/png"),
    "b.JPG": (b"\xff\xd8\xff\xe0" + b"\0" * 20, "image/jpeg"),
    "c.gif": (b"GIF89a" + b"\0" * 20, "image/gif"),
    "d.webp": (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
}


@pytest.fixture
def project(tmp_path: Path) -> str:
    for name, (data, _) in KINDS.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "my shot.png").write_bytes(PNG)
    return str(tmp_path)


@pytest.mark.parametrize("name", KINDS)
def test_a_named_picture_goes_along(project: str, name: str) -> None:
    content = attach(f"what is in @{name}?", project).content
    assert isinstance(content, tuple)
    words, picture = content
    assert words == TextPart(text=f"what is in @{name}?")
    assert isinstance(picture, ImagePart)
    assert picture.source.media_type == KINDS[name][1]
    assert base64.b64decode(picture.source.data) == KINDS[name][0]


def test_each_picture_once_in_order_also_quoted_and_absolute(project: str) -> None:
    text = f'@"my shot.png" and @c.gif, @{project}/c.gif (@a.png)'
    assert mentioned_images(text) == ["my shot.png", "c.gif", f"{project}/c.gif", "a.png"]
    content = attach(text, project).content
    assert isinstance(content, tuple)
    assert len(content) == 4


def test_words_without_pictures_stay_words(project: str) -> None:
    for text in ("look at @src/x.py", "me@shots.png", "no mention", "a.png"):
        assert attach(text, project).content == text


def test_a_name_with_nothing_behind_it_is_words_and_a_note(project: str) -> None:
    sent = attach("draw @logo.png", project)
    assert sent.content == "draw @logo.png"
    assert "logo.png" in sent.notes[0]


def test_the_content_decides_not_the_name(project: str) -> None:
    (Path(project) / "e.png").write_bytes(b"GIF89a")
    content = attach("@e.png", project).content
    assert isinstance(content, tuple)
    assert isinstance(content[1], ImagePart)
    assert content[1].source.media_type == "image/gif"
    (Path(project) / "f.png").write_text("not a picture")
    with pytest.raises(ImageProblem, match=r"f\.png is named like a picture"):
        attach("@f.png", project)


def test_one_that_is_too_large_is_refused_with_its_name(project: str) -> None:
    (Path(project) / "big.png").write_bytes(PNG + b"\0" * MAX_IMAGE_BYTES)
    with pytest.raises(ImageProblem, match=r"big\.png could not be sent: it is larger"):
        attach("@big.png", project)


def test_a_pipe_or_directory_with_such_a_name_does_not_hang(project: str) -> None:
    os.mkfifo(Path(project) / "pipe.png")
    (Path(project) / "dir.png").mkdir()
    for name in ("pipe.png", "dir.png"):
        with pytest.raises(ImageProblem, match=name):
            attach(f"@{name}", project)


def test_too_many_are_refused(project: str) -> None:
    for number in range(21):
        (Path(project) / f"{number}.png").write_bytes(PNG)
    with pytest.raises(ImageProblem, match="More than 20"):
        attach(" ".join(f"@{number}.png" for number in range(21)), project)


@pytest.mark.parametrize("form", ["{}/my shot.png", "'{}/my shot.png'", '"{}/my shot.png"', "file://{}/my%20shot.png"])
def test_a_dropped_file_becomes_a_mention(project: str, form: str) -> None:
    assert pasted_path(form.format(project) + " ", project) == f'@"{project}/my shot.png"'
    assert pasted_path(f"{project}/my\\ shot.png", project) == f'@"{project}/my shot.png"'


def test_other_pastes_are_not_touched(project: str) -> None:
    for text in ("hello", "missing.png", f"{project}/a.png\nand more", "x" * 10_000 + ".png", ""):
        assert pasted_path(text, project) is None
    assert pasted_path("a.png", project) == "@a.png"


def test_an_input_unfolds_what_is_sent_and_reads_pictures_only_from_what_was_typed(project: str) -> None:
    pastes = Pastes()
    token = pastes.fold("see @a.png\n" * 20)
    typed = understood(f"why? {token} @c.gif", pastes, project)
    assert typed is not None
    assert isinstance(typed.content, tuple)
    assert [type(part) for part in typed.content] == [TextPart, ImagePart]
    assert typed.content[0] == TextPart(text="why? " + "see @a.png\n" * 20 + " @c.gif")
    assert op_of(typed) == SubmitPrompt(content=typed.content)


def test_a_folded_paste_is_never_a_command(project: str) -> None:
    pastes = Pastes()
    for text in ("!rm -rf x\n" * 20, "/quit\n" * 20, "#" + "x" * 2000):
        typed = understood(pastes.fold(text), pastes, project)
        assert typed is not None
        assert typed.meaning == PromptWords(text)


def test_each_meaning_has_its_op(project: str) -> None:
    pastes = Pastes()
    token = pastes.fold("a\n" * 20)

    def entered(text: str) -> object:
        typed = understood(text, pastes, project)
        return None if typed is None else (typed.meaning, op_of(typed) or lookup_of(typed))

    assert entered("//x") == (PromptWords("/x"), SubmitPrompt(content="/x"))
    assert entered("!ls") == (ShellLine("ls"), RunShell(command="ls"))
    assert entered(f"!cat {token}") == (ShellLine("cat " + "a\n" * 20), RunShell(command="cat " + "a\n" * 20))
    assert entered("/help") == (CommandLine("/help"), None)
    assert entered("# tabs") == (MemoryLine("tabs"), Remember(line="tabs"))
    assert entered("  ") is None
