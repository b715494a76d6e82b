"""Read: every kind of file has a defined result, and nothing hangs."""

import asyncio
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.permissions.access import FileAccess
from clew.protocol.display import FileBlock
from clew.protocol.messages import ImagePart
from clew.tools.base import Tool, ToolContext
from clew.tools.schema import decode_arguments
from fakes.effort import HANG_S

from .conftest import Caller

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


async def test_text_has_line_numbers_and_a_display_block(call: Caller, workspace: Path):
    (workspace / "a.py").write_text("one\ntwo\nthree\n")
    result = await call("Read", file_path="a.py")
    assert result.text == "     1\tone\n     2\ttwo\n     3\tthree"
    assert result.display == (FileBlock(path=str(workspace / "a.py"), first_line=1, lines=3, total_lines=3),)


async def test_a_range_says_how_to_go_on(call: Caller, workspace: Path):
    (workspace / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    result = await call("Read", file_path="a.txt", offset="10", limit=2)
    assert result.text == "    10\t10\n    11\t11\n\n(Lines 10-11 of 100; continue with offset=12.)"
    beyond = await call("Read", file_path="a.txt", offset=500)
    assert beyond.is_error
    assert "has only 100 lines" in beyond.text


async def test_long_lines_and_long_files_are_cut_with_a_note(call: Caller, workspace: Path):
    (workspace / "a.txt").write_text("x" * 5_000 + "\n" + ("y" * 1_000 + "\n") * 3_000)
    result = await call("Read", file_path="a.txt")
    assert len(result.text) < 50_000
    assert "1 long lines were cut" in result.text
    assert "continue with offset=" in result.text


async def test_a_huge_file_is_read_by_pieces(call: Caller, workspace: Path):
    with (workspace / "huge.txt").open("w") as file:
        for number in range(700_000):
            file.write(f"line {number}\n")
        file.write("z" * 3_000_000)
    result = await call("Read", file_path="huge.txt", offset=600_001, limit=1)
    assert result.text.startswith("600001\tline 600000\n")
    last = await call("Read", file_path="huge.txt", offset=700_001)
    assert last.text.startswith("700001\tzzz")
    assert len(last.text) < 3_000
    assert (await call("Read", file_path="huge.txt", offset=700_002)).is_error


async def test_a_missing_file_names_the_nearest(call: Caller, workspace: Path):
    (workspace / "src").mkdir()
    (workspace / "src" / "settings.py").write_text("x")
    result = await call("Read", file_path="src/setings.py")
    assert result.is_error
    assert f"Did you mean {workspace}/src/settings.py?" in result.text
    assert "nearest existing directory" in (await call("Read", file_path="nowhere/at/all.py")).text


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket", "device", "loop", "binary"])
async def test_what_is_no_text_file_is_named_and_never_hangs(call: Caller, workspace: Path, kind: str):
    path = workspace / "odd"
    listener = socket.socket(socket.AF_UNIX)
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(workspace)  # a socket path is short
        try:
            listener.bind("odd")
        finally:
            os.chdir(here)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "loop":
        path.symlink_to("odd")
    else:
        path.write_bytes(bytes(range(256)) * 10)
    async with asyncio.timeout(HANG_S):
        result = await call("Read", file_path=str(path))
    listener.close()
    words = {"directory": "is a directory", "fifo": "FIFO", "socket": "a socket", "device": "character device"}
    words |= {"loop": "symbolic link", "binary": "binary file"}
    assert result.is_error
    assert words[kind] in result.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_permission_error_is_a_result(call: Caller, workspace: Path):
    (workspace / "secret").write_text("x")
    (workspace / "secret").chmod(0)
    result = await call("Read", file_path="secret")
    assert result.is_error
    assert "Permission denied" in result.text


@pytest.mark.parametrize(
    ("data", "shown", "label"),
    [
        ("grüße\r\n".encode("utf-16"), "grüße", "UTF-16-LE"),
        ("plain ascii text\n".encode("utf-16-be"), "plain ascii text", "UTF-16-BE"),
        ("naïve\n".encode("latin-1"), "naïve", "LATIN-1"),
        (b"\xef\xbb\xbfbom\n", "bom", "UTF-8 with BOM"),
    ],
)
async def test_encodings(call: Caller, workspace: Path, data: bytes, shown: str, label: str):
    (workspace / "a.txt").write_bytes(data)
    result = await call("Read", file_path="a.txt")
    assert result.text.startswith(f"     1\t{shown}\n")
    assert f"Encoding: {label}" in result.text


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="kernel files exist on Linux only")
@pytest.mark.parametrize("path", ["/proc/kmsg", "/proc/self/mem", "/proc/self/pagemap", "/proc/cpuinfo"])
async def test_kernel_files_do_not_hang(call: Caller, path: str):
    async with asyncio.timeout(HANG_S):
        assert (await call("Read", file_path=path)).text


async def test_an_empty_file_says_so(call: Caller, workspace: Path):
    (workspace / "a.txt").touch()
    assert (await call("Read", file_path="a.txt")).text.endswith("is empty.")


async def test_images_go_to_the_model_and_false_ones_do_not(call: Caller, workspace: Path):
    (workspace / "a.png").write_bytes(PNG)
    (workspace / "b.png").write_text("no image")
    result = await call("Read", file_path="a.png")
    (image,) = result.media
    assert isinstance(image, ImagePart)
    assert image.source.media_type == "image/png"
    assert (await call("Read", file_path="b.png")).is_error


async def test_pdf_pages_as_text(call: Caller, workspace: Path):
    (workspace / "a.pdf").write_bytes(small_pdf("Hello page"))
    result = await call("Read", file_path="a.pdf")
    assert "--- page 1 of 1 ---\nHello page" in result.text
    assert "no page 4" in (await call("Read", file_path="a.pdf", pages="4")).text
    assert (await call("Read", file_path="a.pdf", pages="x")).is_error
    (workspace / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert "could not be read as a PDF" in (await call("Read", file_path="bad.pdf")).text


async def test_notebooks_show_cells_and_outputs(call: Caller, workspace: Path):
    cell = {"cell_type": "code", "id": "abc", "source": ["print(1)\n"], "outputs": [{"text": ["1\n"]}]}
    (workspace / "a.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    result = await call("Read", file_path="a.ipynb")
    assert "[cell 0, id abc, code]\nprint(1)" in result.text
    assert "[output] 1" in result.text
    (workspace / "b.ipynb").write_text("[]")
    assert (await call("Read", file_path="b.ipynb")).is_error


async def test_the_judged_target_is_what_is_opened(
    tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext], workspace: Path, tmp_path: Path
):
    inside, outside, link = workspace / "inside", tmp_path / "outside", workspace / "link"
    inside.write_text("fine")
    outside.write_text("secret")
    link.symlink_to(inside)
    tool, context = tools["Read"], make_context()
    params = decode_arguments("Read", tool.params, {"file_path": "link"})
    judged = tool.accesses(params, context)
    assert judged == (
        FileAccess(op="read", path="link", cwd=str(workspace)),
        FileAccess(op="read", path=str(inside), cwd=str(workspace)),
    )
    link.unlink()
    link.symlink_to(outside)
    inside.unlink()
    inside.symlink_to(outside)
    result = await tool.run(params, context)
    assert result.is_error
    assert "secret" not in result.text


def small_pdf(text: str) -> bytes:
    """A one-page PDF, written by hand."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return out + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start
