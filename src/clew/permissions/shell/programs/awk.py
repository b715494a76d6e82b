"""awk programs: arithmetic and printing; no files, no commands, no environment."""

import re

from clew.permissions.shell.programs.spec import Parsed
from clew.text.guarded_names import word_set

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*|\\\n)
    |(?P<string>"(?:\\.|[^"\\\n])*")
    |(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<op>\*\*=?|\+\+|--|&&|\|\||[-+*/%^!=<>]=|>>|!~|[-+*%^!=<>~?:,;(){}\[\]$/|])""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?=[^/\n])[^/\\\n]*+(?:\\[^\n][^/\\\n]*+)*/")
_OPEN_BRACKET = re.compile(r"\[[^\]]*$")

_WORDS = word_set(
    """BEGIN END if else while for do in next nextfile exit break continue delete return function print printf"""
)
_CALLS = word_set(
    """length substr split gsub sub match sprintf index tolower toupper int sqrt exp log sin cos atan2 rand srand
    strftime systime mktime gensub asort asorti patsplit and or xor lshift rshift compl isarray typeof"""
)
_FORBIDDEN = word_set(
    """system getline close fflush ENVIRON PROCINFO ARGV ARGC FUNCTAB SYMTAB include load namespace extension"""
)
# After these a slash may divide or start a pattern, and versions of awk differ; a wrong guess could hide a command.
_UNCLEAR = frozenset({")", "regex", "++", "--"}) | _CALLS
_MAX_PROGRAM = 2000


def check_awk(parsed: Parsed) -> str:
    """With -e its text, otherwise the first operand is the program; the rest are files."""
    files = parsed.operands
    programs = parsed.flags.get("-e", [])
    if not programs:
        if not files:
            return "awk has no program"
        programs, files = [files[0].text], files[1:]
    for setting in (*parsed.flags.get("-v", ()), *parsed.flags.get("--assign", ())):
        if setting.partition("=")[0] in _FORBIDDEN:
            return "awk may not set its own file list"
    if any(file.text.partition("=")[0] in _FORBIDDEN for file in files):
        return "awk may not set its own file list"
    refused = next((why for why in map(refuse_program, programs) if why), "")
    if not refused:
        parsed.paths.extend(files)
    return refused


def refuse_program(program: str) -> str:
    """Why this program is not proven harmless, or an empty string."""
    if len(program) > _MAX_PROGRAM:
        return "awk program is too long to prove"
    at, braces, parens, brackets = 0, 0, 0, 0
    before = ""
    while at < len(program):
        if program[at] == "/" and before in _UNCLEAR:
            return "awk program could be read in two ways"
        if program[at] == "/" and not _ends_value(before):
            regex = _REGEX.match(program, at)
            if regex is None or _OPEN_BRACKET.search(regex[0].replace("\\[", "")):
                return "awk program could not be read"
            before, at = "regex", regex.end()
            continue
        token = _TOKEN.match(program, at)
        if token is None:
            return "awk program could not be read"
        at = token.end()
        if token.lastgroup == "space":
            continue
        text = token[0]
        if refused := _refuse_token(
            text, token.lastgroup or "", program, at, inside=braces > 0 and parens + brackets == 0
        ):
            return refused
        braces += (text == "{") - (text == "}")
        parens += (text == "(") - (text == ")")
        brackets += (text == "[") - (text == "]")
        before = text if token.lastgroup != "string" else "string"
    return "" if braces == parens == brackets == 0 else "awk program could not be read"


def _refuse_token(text: str, group: str, program: str, at: int, *, inside: bool) -> str:
    if text == "|":
        return "awk program runs a command"
    if text in (">", ">>") and (inside or text == ">>"):
        return "awk program may write a file"
    if group != "name":
        return ""
    if text in _FORBIDDEN:
        return f"awk program uses {text}"
    called = program[at : at + 1] == "("
    if called and text not in _CALLS and text not in _WORDS:
        return f"awk program calls {text}"
    return ""


def _ends_value(before: str) -> bool:
    """After a value a slash divides; anywhere else it starts a pattern."""
    if before in ("]", "string"):
        return True
    return bool(before) and (before[0].isalnum() or before[0] in "_.") and before not in _WORDS
