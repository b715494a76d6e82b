"""`clew export`: one session in another format."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from clew.catalog.opening import Opened, open_found
from clew.cli.agent_homes import chosen_homes, named_session
from clew.cli.show import as_json
from clew.llm.connect import key_variables
from clew.system.environment import secret_values
from clew.system.redact import redact, register_secrets
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
        "--no-redact", action="store_true", help="keep what looks like a secret; only for a backup that stays with you"
    )
    parser.add_argument(
        "--home", action="append", default=[], metavar="AGENT=DIR", help="where an agent keeps its files"
    )


def run(args: argparse.Namespace) -> int:
    """Write the session."""
    try:
        opened = open_found(named_session(args.session, chosen_homes(args.home)))
        register_secrets(secret_values(os.environ, key_variables=key_variables({})))
        if args.output:
            _to_file(Path(args.output), opened, args.to, force=args.force, redacted=not args.no_redact)
        else:
            for piece in pieces(opened, args.to, redacted=not args.no_redact):
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


def pieces(opened: Opened, to: str, *, redacted: bool) -> Iterator[bytes]:
    """The bytes of the export, without secrets unless asked for. Text formats are sanitised too."""
    if to == "markdown":
        for block in markdown(opened.entries, title=sanitize(opened.title or opened.session_id, one_line=True)):
            text = sanitize(block)
            yield (redact(text) if redacted else text).encode() + b"\n\n"
        return
    if to == "json":
        lines: Iterator[bytes] = iter((as_json(opened).encode() + b"\n",))
    elif to == "jsonl":
        lines = (encode(entry) for entry in (*opened.entries, *opened.keyed))
    else:
        lines = iter(claude_lines(opened.entries, opened.keyed))
    yield from (redacted_json(line) for line in lines) if redacted else lines


def redacted_json(line: bytes) -> bytes:
    """The same value with every text redacted by itself, so that it stays JSON. Unchanged bytes where nothing was."""
    value = msgspec.json.decode(line)
    clean = redacted_value(value)
    return line if clean == value else msgspec.json.encode(clean) + b"\n"


def redacted_value(value: Any) -> Any:
    """A JSON value without secrets; a telling key marks its text too."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redacted_value(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {redact(name): redacted_member(name, item) for name, item in cast("dict[str, Any]", value).items()}
    return value


def redacted_member(name: str, value: Any) -> Any:
    """`{"api_key": "..."}`: the text alone would not show that it is a secret."""
    if not isinstance(value, str):
        return redacted_value(value)
    front = f'"{name}": "'
    whole = redact(f'{front}{value}"')
    return whole[len(front) : -1] if whole.startswith(front) and whole.endswith('"') else redact(value)


def _to_file(path: Path, opened: Opened, to: str, *, force: bool, redacted: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
    descriptor = os.open(path, flags, 0o600)
    try:
        for piece in pieces(opened, to, redacted=redacted):
            write_all(descriptor, piece)
    except OSError as error:
        if not force:
            path.unlink()  # we made it, and half an export is worth nothing
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(descriptor)
