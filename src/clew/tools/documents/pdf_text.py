"""A process of its own that turns pages of the PDF on stdin into text: `pdf_text FIRST LAST`."""

import io
import json
import resource
import sys

from pypdf import PdfReader

MAX_MEMORY_BYTES = 2_000_000_000


def main() -> int:
    """Prints `{"total": N, "pages": [text, ...]}`."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    first, last = int(sys.argv[1]), int(sys.argv[2])
    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    total = len(reader.pages)
    pages = [reader.pages[index].extract_text() for index in range(first - 1, min(last, total))]
    sys.stdout.write(json.dumps({"total": total, "pages": pages}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
