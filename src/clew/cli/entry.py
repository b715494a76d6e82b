"""The first code that runs: answers `--version` without importing anything, hands the rest on."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Entry point of the `clew` command."""
    args = sys.argv[1:] if argv is None else argv
    if args in (["--version"], ["-V"]):
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return 0
    from clew.cli.main import run

    return run(args)
