"""Fork bombs: functions that start themselves beside themselves, without end."""

import re

from clew.permissions.shell.reading.lexer import Lexer

_HEAD = re.compile(r"(?:\bfunction\s+)?([^\s(){};&|<>$`'\"]+)\s*(?:\(\s*\)\s*)?([{(])")
_MAX_TEXT = 20_000
_MAX_FUNCTIONS = 16


def is_fork_bomb(text: str, lexer: Lexer) -> bool:
    """Whether the text defines a function that calls itself in a pipe or in the background, or twice at once."""
    for command in lexer.commands:
        source = command.pipe_from
        if source is not None and source.words and command.words:
            name = command.words[0].text
            if name == source.words[0].text and name in lexer.functions:
                return True
    if not lexer.functions or len(text) > _MAX_TEXT:
        return False
    heads = (found for found in _HEAD.finditer(text) if found[1] in lexer.functions)
    for count, head in enumerate(heads):
        if count >= _MAX_FUNCTIONS:
            break
        if _calls_itself_beside(head[1], _body(text, head.end() - 1)):
            return True
    return False


def _body(text: str, at: int) -> str:
    """What stands between the bracket at this place and the one that closes it; quotes are not looked at."""
    opening, closing = text[at], "}" if text[at] == "{" else ")"
    level = 0
    for index in range(at, len(text)):
        level += (text[index] == opening) - (text[index] == closing)
        if level == 0:
            return text[at + 1 : index]
    return text[at + 1 :]


def _calls_itself_beside(name: str, body: str) -> bool:
    calls = [command for command in Lexer(body).commands if command.words and command.words[0].text == name]
    return any(command.background or command.pipe_from is not None for command in calls)
