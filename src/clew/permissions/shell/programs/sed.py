"""sed scripts: print, delete, quit, line numbers and plain substitution; nothing that writes, reads or runs."""

import re

from clew.permissions.shell.programs.spec import Parsed

# No whitespace is matched twice and every group begins with a letter of its own, so reading stays linear. No group is
# possessive: Python before 3.11.5 loses its way in one that holds a choice, and would take more than it may.
_TEXT = r"[^\\/\n]*+(?:\\[^\n][^\\/\n]*+)*"
_ADDRESS = rf"(?:\d+~\d+|\d+|\$|/{_TEXT}/I?)"
_RANGE = rf"(?:{_ADDRESS}(?:[ \t]*+,[ \t]*+(?:{_ADDRESS}|[+~]\d+))?[ \t]*+!?[ \t]*+)?"
# Another delimiter: no escapes, and no delimiter inside brackets, where versions of sed differ on whether it ends them.
_OTHER = "|".join(
    rf"s{mark}[^{mark}\\\n\[]*+(?:\[[^\]{mark}\\\n]*+\][^{mark}\\\n\[]*+)*{mark}"
    rf"[^{mark}\\\n]*+(?:\\\d[^{mark}\\\n]*+)*{mark}[gpiI0-9]*+"
    for mark in ("\\|", "\\#", ",", "@", ":", "%", "~", "_", "!", "=")
)
_ACTION = rf"(?:q\d+|[pdqQ=lnNgGhHxD]|s/{_TEXT}/{_TEXT}/[gpiI0-9]*+|{_OTHER}|y/{_TEXT}/{_TEXT}/)"
_COMMAND = rf"[ \t]*+{_RANGE}{_ACTION}[ \t]*+"
_SCRIPT = re.compile(rf"{_COMMAND}(?:[;\n]++{_COMMAND})*[;\n]*+")
# Whether a slash inside brackets ends the pattern differs between versions of sed.
_SLASH_IN_BRACKETS = re.compile(r"\[[^\]]*/")
_MAX_SCRIPT = 400


def safe_script(script: str) -> bool:
    """The whole script lies inside the accepted grammar."""
    if len(script) > _MAX_SCRIPT or _SLASH_IN_BRACKETS.search(script):
        return False
    return _SCRIPT.fullmatch(script) is not None


def check_sed(parsed: Parsed) -> str:
    """With -e, its script; otherwise the first operand. The rest are files."""
    files = parsed.operands
    scripts = [*parsed.flags.get("-e", ()), *parsed.flags.get("--expression", ())]
    if not scripts:
        if not files:
            return "sed has no script"
        scripts, files = [files[0].text], files[1:]
    if not all(safe_script(script) for script in scripts):
        return "this sed script is not proven to only print"
    parsed.paths.extend(files)
    return ""
