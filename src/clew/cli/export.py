"""`clew export`: one session in another format."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from clew.cli.agent_homes import chosen_homes, named_session
from clew.cli.show import as_json
from clew.orient.opening import Opened, open_found
from clew.system.terminal_text import sanitize
from clew.transcript.claude_shape import claude_lines
from clew.transcript.codec import encode
from clew.transcript.errors import TranscriptError
from clew.transcript.files import write_all
from clew.transcript.render import markdown

HELP = "a session in another format"
FORMATS = ("markdown", "json", "jsonl", "claude-code")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew export SESSION --to FORMAT [-o FILE]`."""
    parser.add_argument("session", metavar="SESSION|FILE", help="an id, the start of one, a title, words, or a path")
    parser.add_argument("--to", choices=FORMATS, default="markdown", help="default: markdown")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: stdout; an existing file is not overwritten")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument(
        "--home", action="append", default=[], metavar="AGENT=DIR", help="where an agent keeps its files"
    )


def run(args: argparse.Namespace) -> int:
    """Write the session."""
    try:
        opened = open_found(named_session(args.session, chosen_homes(args.home)))
        if args.output:
            _to_file(Path(args.output), opened, args.to, force=args.force)
        else:
            for piece in pieces(opened, args.to):
                sys.stdout.buffer.write(piece)
            sys.stdout.flush()
    except FileExistsError:
        sys.stderr.write(f"clew export: {sanitize(args.output)} exists; choose another name or add --force\n")
        return 1
    except (TranscriptError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:
            raise  # about stdout
        words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        sys.stderr.write(f"clew export: {sanitize(words)}\n")
        return 1
    except ValueError as error:
        sys.stderr.write(f"clew export: {sanitize(str(error))}\n")
        return 2
    if opened.warning:
        sys.stderr.write(f"clew export: {sanitize(opened.warning, one_line=True)}\n")
    return 0


def pieces(opened: Opened, to: str) -> Iterator[bytes]:
    """The bytes of the export. Text formats are sanitised, data formats hold what was recorded."""
    if to == "markdown":
        for block in markdown(opened.entries, title=sanitize(opened.title or opened.session_id, one_line=True)):
            yield sanitize(block).encode() + b"\n\n"
    elif to == "json":
        yield as_json(opened).encode() + b"\n"
    elif to == "jsonl":
        yield from (encode(entry) for entry in (*opened.entries, *opened.keyed))
    else:
        yield from claude_lines(opened.entries, opened.keyed)


def _to_file(path: Path, opened: Opened, to: str, *, force: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
    descriptor = os.open(path, flags, 0o600)
    try:
        for piece in pieces(opened, to):
            write_all(descriptor, piece)
    except OSError as error:
        if not force:
            path.unlink()  # we made it, and half an export is worth nothing
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(descriptor)
