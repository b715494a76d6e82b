"""`--input-format stream-json`: many turns, driven by lines on stdin."""

import argparse

from clew.cli.print_mode import failed


def run_stream(args: argparse.Namespace) -> int:
    """Until the driving program closes stdin."""
    return failed("--input-format stream-json is not there yet", 2)
