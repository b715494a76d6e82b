"""jq and yq filters: no environment, no other files, no modules; strings and comments are read as they are."""

import re

from clew.permissions.shell.programs.spec import Parsed
from clew.text.guarded_names import word_set

_MAX_FILTER = 4000
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<comment>\#[^\n]*)
    |(?P<format>@[A-Za-z0-9_]+)
    |(?P<variable>\$\s*(?:[A-Za-z_]\w*(?:::\w+)*|__loc__))
    |(?P<field>\.[A-Za-z_]\w*)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_]\w*(?:::\w+)*)
    |(?P<quote>")
    |(?P<op>\?//=?|[|/]=|//=?|[-+*%!=<>]=|\.\.|[-+*/%|,:;.?=<>()\[\]{}])""",
    re.VERBOSE,
)
_TEXT = re.compile(r'[^"\\]+|\\[^(\n]')
_KEYWORDS = word_set(
    """if then elif else end as and or not reduce foreach try catch label break def null true false __loc__"""
)
_PURE = word_set(
    """length utf8bytelength keys keys_unsorted values has in map map_values path paths leaf_paths del getpath
    setpath delpaths to_entries from_entries with_entries select empty error add any all flatten range floor
    sqrt pow log log2 log10 exp exp2 exp10 ceil round trunc fabs abs tostring tonumber type infinite nan
    isinfinite isnan isnormal isvalid sort sort_by group_by min max min_by max_by unique unique_by reverse
    contains inside startswith endswith combinations ltrimstr rtrimstr trimstr trim ltrim rtrim explode implode
    split splits join ascii ascii_downcase ascii_upcase recurse recurse_down walk transpose first last nth until
    while repeat inputs input limit skip indices index rindex test match capture scan sub gsub tojson fromjson
    todate fromdate now mktime gmtime localtime strftime strptime strflocaltime dateadd datesub date
    todateiso8601 fromdateiso8601 dateiso8601 bsearch tostream fromstream truncate_stream halt arrays objects
    iterables booleans numbers normals finites strings nulls scalars input_line_number pick toarray have_decnum
    have_literal_numbers significand drem ldexp scalb scalbln nearbyint cbrt sin cos tan asin acos atan tobool
    INDEX GROUP_BY UNIQUE_BY IN"""
)
_REACHES_OUT = word_set("env import include input_filename modulemeta get_search_list debug stderr halt_error")
_YQ_PLAIN = re.compile(r"[\w.\[\]\"'| ,*-]*")
_YQ_REACHES_OUT = re.compile(r"\b(?:env|strenv|load|load_\w+|envsubst|eval|splitDoc|system)\b")


def check_jq(parsed: Parsed) -> str:
    """The first operand is the filter; the rest are files."""
    if not parsed.operands:
        return "jq has no filter"
    if why := refuse_filter(parsed.operands[0].text):
        return why
    parsed.paths.extend(parsed.operands[1:])
    return ""


def refuse_filter(program: str) -> str:
    """Why this filter may read more than its input, or an empty string."""
    if len(program) > _MAX_FILTER:
        return "the jq filter is too long to be proven"
    defined: set[str] = set()
    closers: list[str] = []
    before = ""
    at = 0
    while at < len(program):
        if closers and closers[-1] == '"':
            at, inside = _string(program, at)
            if inside == "(":
                closers.append("\\)")
            elif inside == '"':
                closers.pop()
                before = "string"
            else:
                return "the jq filter could not be read"
            continue
        token = _TOKEN.match(program, at)
        if token is None:
            return "the jq filter could not be read"
        at = token.end()
        kind, text = token.lastgroup or "", token[0]
        if kind == "space":
            continue
        if kind == "comment":
            # Newer versions read on behind a backslash at the end of a comment, older ones do not.
            if text.rstrip("\r").endswith("\\"):
                return "the jq filter could be read in two ways"
            continue
        if why := _refuse_token(kind, text, before, program[at:].lstrip()[:1], closers, defined):
            return why
        if kind == "quote":
            closers.append('"')
        elif text in "([{":
            closers.append(text)
        elif text in ")]}" and not _close(text, closers):
            return "the jq filter could not be read"
        before = text
    return "the jq filter could not be read" if closers else ""


def _string(program: str, at: int) -> tuple[int, str]:
    """Where a string stops, and at what: its quote, an interpolation `(`, or nothing."""
    while at < len(program):
        if program[at] == '"':
            return at + 1, '"'
        if program.startswith("\\(", at):
            return at + 2, "("
        found = _TEXT.match(program, at)
        if found is None:
            break
        at = found.end()
    return at, ""


def _close(text: str, closers: list[str]) -> bool:
    opened = closers.pop() if closers else ""
    if text == ")" and opened == "\\)":
        return True
    return opened == {")": "(", "]": "[", "}": "{"}[text]


def _refuse_token(kind: str, text: str, before: str, following: str, closers: list[str], defined: set[str]) -> str:
    if kind == "variable" and text[1:].strip() in ("ENV", "__prog_args"):
        return "this jq filter may read more than its input"
    if kind != "name":
        return ""
    if before == "def" and text in _REACHES_OUT:
        # Outside the definition's scope, or with other arguments, the name still means what jq brings.
        return f"the jq filter gives {text} another meaning"
    if before in ("def", "label", "break"):
        defined.add(text)
        return ""
    is_key = bool(closers) and closers[-1] == "{" and before in ("{", ",") and following in (":", ",", "}")
    is_key = is_key and (following == ":" or text not in _REACHES_OUT)
    if is_key or text in _KEYWORDS or text in _PURE or text in defined:
        return ""
    return f"the jq function {text} is not known to only read its input"


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
