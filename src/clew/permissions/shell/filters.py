"""jq and yq filters: no environment, no other files, no modules."""

import re

from clew.permissions.shell.spec import Parsed

_STRING = re.compile(r'"(?:\\[^(]|[^"\\])*"')
_JQ_REACHES_OUT = re.compile(
    r"(?<![.\w$])(?:env|import|include|input_filename|modulemeta|get_search_list|input_line_number|debug|stderr|halt_error)\b"
    r"|\$ENV|\$__prog"
)
_YQ_PLAIN = re.compile(r"[\w.\[\]\"'| ,*-]*")
_YQ_REACHES_OUT = re.compile(r"\b(?:env|strenv|load|load_\w+|envsubst|eval|splitDoc|system)\b")


def check_jq(parsed: Parsed) -> str:
    """The first operand is the filter; the rest are files."""
    if not parsed.operands:
        return "jq has no filter"
    program = parsed.operands[0].text
    if "\\(" not in program:
        # With interpolation a string holds code, and its end cannot be told this simply: then all of it is looked at.
        program = _STRING.sub('""', program)
    if _JQ_REACHES_OUT.search(program):
        return "this jq filter may read more than its input"
    parsed.paths.extend(parsed.operands[1:])
    return ""


def check_yq(parsed: Parsed) -> str:
    """As jq; only plain path filters are proven, because two programs of this name exist."""
    operands = parsed.operands
    if operands and operands[0].text in ("e", "eval"):
        operands = operands[1:]
    if not operands:
        return "yq has no filter"
    if not _YQ_PLAIN.fullmatch(operands[0].text) or _YQ_REACHES_OUT.search(operands[0].text):
        return "only plain path filters of yq are proven harmless"
    parsed.paths.extend(operands[1:])
    return ""
