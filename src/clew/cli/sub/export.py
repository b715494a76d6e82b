"""`clew export`: one session in another format."""

import argparse
import os
import sys
from pathlib import Path

from clew.catalog.exporting import FORMATS, pieces, write_export
from clew.catalog.opening import open_named
from clew.cli.sub.agent_homes import chosen_homes, named_session
from clew.host.workspace import with_saved_keys
from clew.llm.models.connect import key_variables
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.system.environment import secret_values
from clew.system.home import clew_home
from clew.text.redact import register_secrets
from clew.text.terminal_text import sanitize
from clew.transcript.errors import TranscriptError

HELP = "a session in another format"


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
        opened = open_named(named_session(args.session, chosen_homes(args.home)))
        register_secrets(secret_values(os.environ, key_variables=key_variables({})))
        with_saved_keys(os.environ, clew_home(), lenient=True)  # reading them is what makes them known
        if args.output:
            write_export(Path(args.output), opened, args.to, force=args.force, redacted=not args.no_redact)
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
    except LookupRefused as error:
        sys.stderr.write(f"clew export: {sanitize(str(error))}\n")
        return 2 if isinstance(error, LookupMisused) else 1
    if opened.warning:
        sys.stderr.write(f"clew export: {sanitize(opened.warning, one_line=True)}\n")
    return 0
