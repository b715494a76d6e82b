"""Files that are not plain text: images go to the model as they are, PDF pages and notebooks as text."""

import base64
import json
import os
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from clew.protocol.display import FileBlock
from clew.protocol.messages import ImagePart, MediaSource
from clew.tools.base import ToolResult
from clew.tools.documents.worker import run_worker
from clew.tools.paths import digest_of, problem, state_of
from clew.tools.session import ReadState

MAX_IMAGE_BYTES = 3_750_000
MAX_PDF_BYTES = 100_000_000
MAX_NOTEBOOK_BYTES = 20_000_000
MAX_PAGES = 20
PDF_TIMEOUT_S = 30
MAX_CHARS = 48_000
MAX_OUTPUT_CHARS = 4_000
SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))

Note = Callable[[str, ReadState], None]


async def read_form(form: str, file: BinaryIO, path: str, pages: str | None, note: Note) -> ToolResult:
    """Read an opened file of a known form."""
    if form == "pdf":
        return await read_pdf(file, path, pages)
    limit = MAX_IMAGE_BYTES if form == "image" else MAX_NOTEBOOK_BYTES
    data = file.read(limit + 1)
    if len(data) > limit:
        return problem(f"{path} is larger than {limit:,} bytes, too large to be read as {form}.")
    note(path, state_of(os.fstat(file.fileno()), digest_of(data)))
    return read_image(data, path) if form == "image" else read_notebook(data, path)


def read_image(data: bytes, path: str) -> ToolResult:
    """The content decides what it is, not the name."""
    media_type = next((kind for magic, kind in SIGNATURES if data.startswith(magic)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        media_type = "image/webp"
    if not media_type:
        return problem(f"{path} is named like an image, but its content is no PNG, JPEG, GIF or WebP.")
    source = MediaSource(type="base64", media_type=media_type, data=base64.b64encode(data).decode())
    text = f"Image {path} ({media_type}, {len(data):,} bytes)."
    return ToolResult(text=text, display=(FileBlock(path=path),), media=(ImagePart(source=source),))


def page_range(pages: str | None) -> tuple[int, int] | None:
    """First and last page, from 1; None when the text is no range."""
    if pages is None or not pages.strip():
        return 1, MAX_PAGES
    first, dash, last = pages.strip().partition("-")
    if not first.strip().isdecimal() or (dash and last.strip() and not last.strip().isdecimal()):
        return None
    start = int(first)
    end = int(last) if last.strip() else (start + MAX_PAGES - 1 if dash else start)
    return (start, end) if 1 <= start <= end else None


async def read_pdf(file: BinaryIO, path: str, pages: str | None) -> ToolResult:
    """The parser runs in a process of its own with a time and memory limit: PDF files are hostile input."""
    wanted = page_range(pages)
    if wanted is None:
        return problem(f'pages must be like "3" or "1-5", not {pages!r}.')
    if os.fstat(file.fileno()).st_size > MAX_PDF_BYTES:
        return problem(f"{path} is larger than {MAX_PDF_BYTES:,} bytes.")
    first, last = wanted[0], min(wanted[1], wanted[0] + MAX_PAGES - 1)
    try:
        output = await run_worker(
            "clew.tools.documents.pdf_text", str(first), str(last), given=file.fileno(), timeout_s=PDF_TIMEOUT_S
        )
    except TimeoutError:
        return problem(f"{path} could not be read within {PDF_TIMEOUT_S} s; ask for fewer pages.")
    if output is None:
        return problem(f"{path} could not be read as a PDF (damaged, encrypted, or too large for the reader).")
    answer = cast("dict[str, Any]", json.loads(output))
    return pdf_result(path, first, cast("list[str]", answer["pages"]), int(answer["total"]))


def pdf_result(path: str, first: int, texts: list[str], total: int) -> ToolResult:
    """Pages as text, with what was left out."""
    if not texts:
        return problem(f"{path} has {total} pages; there is no page {first}.")
    shown = [f"--- page {first + index} of {total} ---\n{text.strip()}" for index, text in enumerate(texts)]
    text = "\n\n".join(shown)
    if not any(page.strip() for page in texts):
        text += "\n\n(No text on these pages: they may be scanned images.)"
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS] + "\n… (cut; ask for fewer pages)"
    last = first + len(texts) - 1
    if last < total:
        text += (
            f'\n\n(Pages {first}-{last} of {total}; continue with pages="{last + 1}-{min(last + MAX_PAGES, total)}".)'
        )
    return ToolResult(text=text, display=(FileBlock(path=path, first_line=first, lines=len(texts), total_lines=total),))


def read_notebook(data: bytes, path: str) -> ToolResult:
    """Cells with their ids and the text of their outputs."""
    try:
        notebook = cast("dict[str, Any]", json.loads(data))
        cells = cast("list[dict[str, Any]]", notebook["cells"])
        shown = [show_cell(index, cell) for index, cell in enumerate(cells)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return problem(f"{path} is not a valid notebook: {error}.")
    text = "\n\n".join(shown) or "The notebook has no cells."
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS] + "\n… (cut; the notebook has more)"
    return ToolResult(text=text, display=(FileBlock(path=path, lines=len(cells), total_lines=len(cells)),))


def show_cell(index: int, cell: dict[str, Any]) -> str:
    """One cell for the model."""
    lines = [f"[cell {index}, id {cell.get('id') or index}, {cell.get('cell_type', '?')}]", joined(cell.get("source"))]
    for output in cast("list[dict[str, Any]]", cell.get("outputs") or []):
        text = output_text(output)
        if text:
            lines.append(f"[output] {text[:MAX_OUTPUT_CHARS]}" + ("…" if len(text) > MAX_OUTPUT_CHARS else ""))
    return "\n".join(lines)


def output_text(output: dict[str, Any]) -> str:
    """The words of an output; pictures are only named."""
    if output.get("output_type") == "error":
        return f"{output.get('ename')}: {output.get('evalue')}"
    if "text" in output:
        return joined(output["text"])
    bundle = cast("dict[str, Any]", output.get("data") or {})
    if "text/plain" in bundle:
        return joined(bundle["text/plain"])
    return f"({', '.join(bundle)})" if bundle else ""


def joined(source: Any) -> str:
    """Notebook text is a string or a list of lines."""
    return "".join(cast("list[str]", source)) if isinstance(source, list) else str(source or "")
