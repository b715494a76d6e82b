"""An argument parser that says what is wrong in one line, with the nearest right word."""

import argparse
import os
import re
import sys
from typing import NoReturn


class HelpPage(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. argparse would load `shutil` to find out, with each argument that is declared."""

    def __init__(self, prog: str) -> None:
        try:
            columns = os.get_terminal_size().columns
        except OSError:  # not a terminal
            columns = 100
        super().__init__(prog, width=max(40, columns - 2))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`--allowed-tools, --allowedTools RULES ...`: the value once, whatever the spelling."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class OneLineParser(argparse.ArgumentParser):
    """Abbreviated options are refused: a script that works today must mean the same tomorrow."""

    def __init__(self, prog: str, *, description: str = "", epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=HelpPage,
        )

    def one_value_options(self) -> dict[str, bool]:
        """Every option, and whether it takes exactly one value."""
        return {option: action.nargs is None for action in self._actions for option in action.option_strings}

    def error(self, message: str) -> NoReturn:
        """One line on stderr, exit code 2."""
        unknown = re.search(r"unrecognized arguments: (\S+)", message)
        if unknown:
            message = f"unknown argument {unknown[1]}{self._suggestion(unknown[1])}"
        sys.stderr.write(f"{self.prog}: {message}; see {self.prog} --help\n")
        raise SystemExit(2)

    def _suggestion(self, word: str) -> str:
        from difflib import get_close_matches  # only on the way to an error

        options = [option for action in self._actions for option in action.option_strings]
        near = get_close_matches(word.partition("=")[0], options, n=1)
        return f" (did you mean {near[0]}?)" if near else ""
