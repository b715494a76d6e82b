"""Writes that can be seen in a command and touch protected names: they ask even in bypass mode and in the sandbox."""

from clew.permissions.files import Places, judge_place
from clew.permissions.shell.scan import Scan
from clew.permissions.word_set import word_set

_OUT = word_set("""> >> >| &> &>> <>""")
_WRITERS = word_set("""tee cp mv ln install touch rm rmdir chmod chown truncate dd sponge""")
_EDITORS = word_set("""sed perl ed ex vim nano""")


def protected_write(scan: Scan, places: Places) -> str:
    """Why a person must answer, or an empty string."""
    for found in scan.effective:
        if found.cwd is None:
            continue
        targets = [value for redirect, values in found.redirects if redirect.op in _OUT for value in values]
        if found.name in _WRITERS or (found.name in _EDITORS and any(one.text.startswith("-") for one in found.argv)):
            targets += [value for value in found.argv[1:] if not value.text.startswith("-")]
        for value in targets:
            text = value.text.removeprefix("of=")
            if not value.known or not text or text == "/dev/null":
                continue
            finding = judge_place("write", text, found.cwd, places)
            if finding.protected:
                return f"{text}: {finding.why}"
    return ""
