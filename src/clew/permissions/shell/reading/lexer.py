"""Finds every simple command in a shell text, at any depth, in one pass; tolerant, so that deny rules see the whole.

The lexer never fails: what bash would reject still yields commands. It follows quotes, substitutions, heredocs and
comments with an explicit stack, so depth costs nothing. Texts that other commands would run (backticks, unquoted
heredoc bodies) are queued and read as well. The allow side only believes it where the grammar (grammar.py) agrees.
"""

import re
from collections import deque

from clew.permissions.shell.reading.ansi_c import decode_ansi_c
from clew.permissions.shell.reading.arithmetic import ARITHMETIC, evaluated
from clew.permissions.shell.reading.frame import LexerFrame, merged, value_of
from clew.permissions.shell.reading.words import Redirect, SimpleCommand, Word, WordPiece

_MAX_WORK = 250_000
_MAX_COMMANDS = 8_000
_LONG_TEXT = 20_000
_PLAIN = re.compile(r"[^\s;&|()<>'\"\\$`#]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_IN_PARAM = re.compile(r"[^}'\"\\$`]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_SIMPLE_PARAM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\}")
_DEFAULT_PARAM = re.compile(r"((?:[A-Za-z_][A-Za-z0-9_]*|[1-9]):?[-=][^}$`'\"\\]*)\}")
_ARRAY_PARAM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[(?:[@*]|\d{1,4})\]\}")
_SPECIAL_PARAM = re.compile(r"([@*]|\d{1,4})\}")
_EDITED_PARAM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*[:%#/^,?+][^{}$`'\"\\]{0,200})\}")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")
_REDIRECT = re.compile(r"&>>|&>|<<<|<<-|<<|<&|>&|<>|>>|>\||<|>")
KEYWORDS = frozenset(
    {
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "do",
        "done",
        "while",
        "until",
        "case",
        "esac",
        "{",
        "}",
        "!",
        "in",
        "function",
    }
)
_TEXT_KINDS = ("double", "param")


class Lexer:
    """One reading of one text. `commands` in order of appearance; `complete` is false when a limit or a cut hit."""

    def __init__(self, text: str) -> None:
        self.commands: list[SimpleCommand] = []
        self.functions: set[str] = set()
        self.complete = True
        self.cut = False
        """A limit was hit: commands may be missing."""
        self.substitutions = 0
        self.max_depth = 0
        self._scopes = 0
        self._work = 0
        self._queue: deque[tuple[str, bool, tuple[int, ...]]] = deque([(text, False, ())])
        while self._queue:
            body, as_string, scope = self._queue.popleft()
            room = _MAX_WORK - self._work
            self._work += len(body)
            self._read(body[:room], as_string=as_string, scope=scope)
            if len(body) > room:
                self.complete, self.cut = False, True
                break
        self.commands = [command for command in self.commands if not command.empty]

    def _read(self, text: str, *, as_string: bool, scope: tuple[int, ...]) -> None:
        self._text = text
        self._at: int = 0
        root = LexerFrame("commands", "", scope, 0)
        self._stack = [root]
        self._owners = [root]
        if as_string:
            root.pieces = []
            self._stack.append(LexerFrame("double", "", scope, 0))
        size = len(text)
        while self._at < size and self._scopes + len(self.commands) < _MAX_COMMANDS:
            frame = self._stack[-1]
            if frame.kind == "commands":
                self._step_commands(frame)
            else:
                self._step_text(frame)
        if self._at < size:
            self.complete, self.cut = False, True
        if len(self._stack) > 1 and not as_string:
            self.complete = False
        while self._stack:
            frame = self._stack.pop()
            if frame.kind == "commands":
                self._end_command(frame, "")
                self._owners.pop()

    # Inside double quotes and ${...}

    def _step_text(self, frame: LexerFrame) -> None:
        text, at = self._text, self._at
        pieces = self._owner().pieces
        run = (_IN_DOUBLE if frame.kind == "double" else _IN_PARAM).match(text, at)
        if run:
            if frame.kind == "double" and pieces is not None:
                pieces.append(WordPiece("quoted", run[0]))
            self._at = run.end()
            return
        char = text[at]
        if char == frame.close:
            self._stack.pop()
            self._at += 1
        elif char == "\\":
            escaped = text[at + 1 : at + 2]
            if pieces is not None and frame.kind == "double" and escaped != "\n":
                pieces.append(WordPiece("quoted", escaped if escaped in '$`"\\' else "\\" + escaped))
            self._at += 2
        elif char in "$`":
            self._expansion(quoted=True)
        elif char == '"':
            self._push("double", '"', at + 1)
        elif char == "'" and frame.kind == "param":
            end = text.find("'", at + 1)
            self._at = end + 1 if end >= 0 else len(text)
        else:
            self._at += 1

    def _owner(self) -> LexerFrame:
        """The command list whose word is being read."""
        return self._owners[-1]

    # In a command list

    def _step_commands(self, frame: LexerFrame) -> None:
        text, at = self._text, self._at
        run = _PLAIN.match(text, at)
        if run:
            self._open_word(frame, at).append(WordPiece("bare", run[0]))
            self._at = run.end()
            return
        char = text[at]
        if char in " \t":
            self._end_word(frame)
            self._at += 1
        elif char == "\n":
            self._end_word(frame)
            self._end_command(frame, "\n")
            self._at += 1
            self._read_heredocs(frame)
        elif char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                self.complete, end = False, len(text)
            self._open_word(frame, at).append(WordPiece("quoted", text[at + 1 : end]))
            self._at = end + 1
        elif char == '"':
            self._open_word(frame, at).append(WordPiece("quoted", ""))
            self._push("double", '"', at + 1)
        elif char == "\\":
            if text[at + 1 : at + 2] != "\n":
                self._open_word(frame, at).append(WordPiece("quoted", text[at + 1 : at + 2]))
            self._at += 2
        elif char in "$`":
            self._open_word(frame, at)
            self._expansion(quoted=False)
        elif char == "#":
            self._hash(frame)
        elif char in "<>" or text.startswith("&>", at):
            self._redirect(frame)
        elif char in ";&|()":
            self._operator(frame, char)
        else:
            self._open_word(frame, at).append(WordPiece("bare", char))
            self._at += 1

    def _hash(self, frame: LexerFrame) -> None:
        if frame.pieces is not None:
            frame.pieces.append(WordPiece("bare", "#"))
            self._at += 1
            return
        end = self._text.find("\n", self._at)
        self._at = end if end >= 0 else len(self._text)

    def _operator(self, frame: LexerFrame, char: str) -> None:
        self._end_word(frame)
        if char == "(":
            if not frame.command.words and frame.command.assigns and self._text[self._at - 1 : self._at] == "=":
                name = frame.command.assigns[-1][0]
                command = frame.command
                self._push("commands", ")", self._at + 1)
                self._stack[-1].array = (command, name, [])
                return
            if frame.command.words:
                # A function definition, a case pattern or an error: whatever follows is a command of its own.
                self.functions.add(frame.command.words[-1].text)
                self._end_command(frame, "(")
            self._push("commands", ")", self._at + 1)
        elif char == ")":
            self._close_list(frame)
        else:
            operator = self._text[self._at : self._at + 2]
            operator = operator if operator in ("&&", "||", ";;", "|&", ";&") else char
            # Only `case` has these, and the grammar does not accept it: nothing is proven where they appear.
            self.complete = self.complete and operator not in (";;", ";&")
            self._end_command(frame, operator)
            self._at += len(operator)

    def _close_list(self, frame: LexerFrame) -> None:
        self._end_command(frame, ")")
        self._at += 1
        if frame.array is not None:
            command, name, words = frame.array
            command.arrays.append((name, words))
        if frame.close == ")" and len(self._stack) > 1:
            self._stack.pop()
            self._owners.pop()
            if self._owner().command.empty:
                self._owner().command.joined = ")"

    def _redirect(self, frame: LexerFrame) -> None:
        text, at = self._text, self._at
        if text[at] in "<>" and text[at + 1 : at + 2] == "(":
            self._open_word(frame, at).append(WordPiece("opaque", ""))
            self.substitutions += 1
            self._push("commands", ")", at + 2)
            return
        found = _REDIRECT.match(text, at)
        assert found is not None
        fd = ""
        if frame.pieces is not None and text[at] != "&":
            raw = text[frame.start : at]
            if raw.isdigit() or (raw.startswith("{") and raw.endswith("}")):
                fd, frame.pieces = raw, None
        self._end_word(frame)
        frame.pending = (fd, found[0])
        self._at = found.end()

    def _open_word(self, frame: LexerFrame, at: int) -> list[WordPiece]:
        if frame.pieces is None:
            frame.pieces, frame.start = [], at
            if frame.command.empty:
                frame.command.start = at
        return frame.pieces

    def _end_word(self, frame: LexerFrame) -> None:
        pieces = frame.pieces
        if pieces is None:
            return
        frame.pieces = None
        # The written form only matters for texts short enough to be allowed; keeping it for all would be quadratic.
        end = self._at if len(self._text) <= _LONG_TEXT else min(self._at, frame.start + 256)
        word = Word(self._text[frame.start : end], merged(pieces))
        command = frame.command
        if frame.pending is not None:
            self._add_redirect(frame, word)
            return
        if frame.naming:
            self.functions.add(word.text)
            frame.naming = False
            return
        assign = _ASSIGN.match(word.raw) if not command.words else None
        if assign:
            command.assigns.append((assign[1], value_of(word, assign.end())))
        elif not command.words and word.raw in KEYWORDS:
            command.conditional = command.conditional or word.raw not in ("{", "}", "!")
            frame.naming = word.raw == "function"
        else:
            command.words.append(word)

    def _add_redirect(self, frame: LexerFrame, word: Word) -> None:
        fd, op = frame.pending or ("", "")
        frame.pending = None
        frame.command.redirects.append(Redirect(fd, op, word))
        if op in ("<<", "<<-"):
            quoted = any(char in word.raw for char in "'\"\\")
            frame.heredocs.append((frame.command, len(frame.command.redirects) - 1, word.text, op == "<<-", quoted))

    def _end_command(self, frame: LexerFrame, operator: str) -> None:
        self._end_word(frame)
        command = frame.command
        frame.pending = None
        if command.empty and operator == "\n" and command.joined in ("&&", "||", "|", "|&"):
            return
        command.background = operator == "&"
        if frame.array is not None:
            frame.array[2].extend(command.words)
        elif not command.empty:
            self.commands.append(command)
        following = SimpleCommand(self._at, frame.scope)
        # What stands empty between two operators (a subshell, a closing brace) hands its own operator on.
        following.joined = operator
        if operator in ("|", "|&"):
            following.pipe_from = command
        frame.command = following

    def _read_heredocs(self, frame: LexerFrame) -> None:
        for command, index, delimiter, dashed, quoted in frame.heredocs:
            lines: list[str] = []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = end if end >= 0 else len(self._text)
                line = self._text[self._at : end]
                self._at = end + 1
                line = line.lstrip("\t") if dashed else line
                if line == delimiter:
                    break
                lines.append(line)
            else:
                self.complete = False
            body = "\n".join(lines)
            old = command.redirects[index]
            command.redirects[index] = Redirect(old.fd, old.op, old.target, body, quoted)
            if not quoted and ("$(" in body or "`" in body):
                self.substitutions += 1
                self._queue.append((body, True, self._new_scope(frame.scope)))
        frame.heredocs = []

    # Expansions

    def _expansion(self, *, quoted: bool) -> None:
        text, at = self._text, self._at
        pieces = self._owner().pieces
        assert pieces is not None
        if text[at] == "`":
            self._backtick()
            pieces.append(WordPiece("opaque", ""))
            return
        following = text[at + 1 : at + 2]
        if following == "(" and (number := ARITHMETIC.match(text, at + 1)) and (value := evaluated(number[1])):
            pieces.append(WordPiece("quoted", value))
            self._at = number.end()
        elif following == "(":
            pieces.append(WordPiece("opaque", ""))
            self.substitutions += 1
            self._push("commands", ")", at + 2)
        elif following == "{":
            simple = _SIMPLE_PARAM.match(text, at + 2)
            if simple:
                pieces.append(WordPiece("var", simple[1]))
                self._at = simple.end()
                return
            if default := _DEFAULT_PARAM.match(text, at + 2):
                pieces.append(WordPiece("var", default[1]))
                self._at = default.end()
                return
            if listed := _ARRAY_PARAM.match(text, at + 2) or _SPECIAL_PARAM.match(text, at + 2):
                pieces.append(WordPiece("var", listed[1]))
                self._at = listed.end()
                return
            if edited := _EDITED_PARAM.match(text, at + 2):
                pieces.append(WordPiece("var", edited[1]))
                self._at = edited.end()
                return
            pieces.append(WordPiece("opaque", ""))
            self._push("param", "}", at + 2)
        elif following == "'" and not quoted:
            decoded, end = decode_ansi_c(text, at + 2)
            pieces.append(WordPiece("quoted", decoded))
            self._at = end
        elif following == '"' and not quoted:
            self._at += 1
        elif name := _NAME.match(text, at + 1):
            pieces.append(WordPiece("var", name[0]))
            self._at = name.end()
        else:
            pieces.append(WordPiece("quoted", "$"))
            self._at += 1

    def _backtick(self) -> None:
        text, at = self._text, self._at + 1
        end = at
        while end < len(text) and text[end] != "`":
            end += 2 if text[end] == "\\" else 1
        body = re.sub(r"\\([`\\$])", r"\1", text[at:end])
        self.substitutions += 1
        self._queue.append((body, False, self._new_scope(self._owner().scope)))
        self._at = end + 1
        if end >= len(text):
            self.complete = False

    def _push(self, kind: str, close: str, at: int) -> None:
        owner = self._owner()
        scope = owner.scope if kind in _TEXT_KINDS else self._new_scope(owner.scope)
        self._stack.append(LexerFrame(kind, close, scope, at))
        if kind not in _TEXT_KINDS:
            self._owners.append(self._stack[-1])
        self.max_depth = max(self.max_depth, len(self._stack))
        self._at = at

    def _new_scope(self, parent: tuple[int, ...]) -> tuple[int, ...]:
        """A subshell's own directory. Very deep nesting shares one scope, so that depth stays cheap."""
        self._scopes += 1
        return (*parent, self._scopes) if len(parent) < 40 else parent
