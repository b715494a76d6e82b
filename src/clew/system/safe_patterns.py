"""Regular expressions of others that cannot run away: all ways are followed at once, none is tried again.

What matchers of hooks and patterns of JSON Schemas are written in: letters, `.`, classes, groups, `|`, `* + ? {m,n}`,
`^ $ \\b`, looking ahead. An expression becomes a list of instructions, and a text is read once, letter by letter, with
the set of instructions in reach.
"""

import re
from collections.abc import Callable
from string import hexdigits
from typing import Literal, NoReturn

from msgspec import Struct

MAX_EXPRESSION_CHARS = 500
MAX_INSTRUCTIONS = 5_000
MAX_NESTING = 40
MAX_STEPS = 20_000_000
"""Some seconds of work at the very most; a text that could take more matches nothing."""

Test = Callable[[str], bool]
_QUANTIFIER = re.compile(r"([*+?])|\{(\d{1,6})(?:(,)(\d{1,6})?)?\}")
_CLASSES: dict[str, Test] = {
    "d": lambda letter: letter in "0123456789",
    "w": lambda letter: letter.isascii() and (letter.isalnum() or letter == "_"),
    "s": str.isspace,
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}


class BadPattern(ValueError):
    """An expression that cannot be understood, and why."""


class _Instruction(Struct):
    kind: Literal["letter", "fork", "check", "look", "end"]
    test: Test | None = None
    check: Callable[[str, int], bool] | None = None
    ways: tuple[int, ...] = ()
    """Where it goes on, counted from here."""
    inner: "list[_Instruction] | None" = None
    wanted: bool = True


Program = list[_Instruction]


def compiled(expression: str) -> Test:
    """Whether some part of a name matches. Raises BadPattern."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise BadPattern(f"longer than {MAX_EXPRESSION_CHARS} characters")
    program = _Reader(expression).whole()
    looks = sum(len(step.inner) for step in program if step.inner is not None)

    def found(name: str) -> bool:
        steps = (len(name) + 1) * (len(program) + (len(name) + 1) * looks)
        return steps <= MAX_STEPS and _found(program, name, 0, {}, anywhere=True)

    return found


def _found(program: Program, name: str, start: int, known: dict[tuple[int, int], bool], *, anywhere: bool) -> bool:
    """Whether the program can reach its end from `start`, or from any later place."""
    here: set[int] = set()
    for at in range(start, len(name) + 1):
        waiting = [*here, 0] if anywhere or at == start else [*here]
        reached: set[int] = set()
        after: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            step = program[number]
            if step.kind == "end":
                return True
            if step.kind == "letter":
                if step.test is not None and at < len(name) and step.test(name[at]):
                    after.add(number + 1)
            elif step.kind == "fork":
                waiting += [number + way for way in step.ways]
            elif _holds(step, name, at, known):
                waiting.append(number + 1)
        here = after
        if not here and not anywhere:
            break
    return False


def _holds(step: _Instruction, name: str, at: int, known: dict[tuple[int, int], bool]) -> bool:
    if step.inner is None:
        return step.check is not None and step.check(name, at)
    key = (id(step), at)
    if key not in known:
        known[key] = _found(step.inner, name, at, known, anywhere=False) is step.wanted
    return known[key]


class _Reader:
    """Reads an expression from left to right and writes its instructions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def whole(self) -> Program:
        program = self._alternatives(0)
        if self._at < len(self._text):
            self._fail("a ) without its (")
        return [*program, _Instruction("end")]

    def _alternatives(self, depth: int) -> Program:
        if depth > MAX_NESTING:
            self._fail("nested too deeply")
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        program = branches.pop()
        for branch in reversed(branches):
            skip = _Instruction("fork", ways=(len(program) + 1,))
            program = [_Instruction("fork", ways=(1, len(branch) + 2)), *branch, skip, *program]
        return program

    def _sequence(self, depth: int) -> Program:
        program: Program = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            atom = self._atom(depth)
            bounds = self._quantifier()
            program += atom if bounds is None else self._repeated(atom, *bounds)
            if len(program) > MAX_INSTRUCTIONS:
                self._fail("repeats too often")
        return program

    def _repeated(self, atom: Program, low: int, high: int | None) -> Program:
        if len(atom) * max(low, high or 0) > MAX_INSTRUCTIONS:
            self._fail("repeats too often")
        program = atom * low
        if high is None:
            return [*program, _Instruction("fork", ways=(1, len(atom) + 2)), *atom, _loop(len(atom))]
        for _ in range(high - low):
            program += [_Instruction("fork", ways=(1, len(atom) + 1)), *atom]
        return program

    def _atom(self, depth: int) -> Program:
        letter = self._next()
        if letter == "(":
            return self._group(depth)
        if letter == "[":
            return [_Instruction("letter", test=self._letters())]
        if letter == ".":
            return [_Instruction("letter", test=lambda found: found != "\n")]
        if letter == "^":
            return [_Instruction("check", check=lambda name, at: at == 0)]
        if letter == "$":
            return [_Instruction("check", check=lambda name, at: at == len(name))]
        if letter == "\\":
            return [self._escaped()]
        if letter in "*+?":
            self._fail(f"nothing before {letter}")
        return [_Instruction("letter", test=letter.__eq__)]

    def _group(self, depth: int) -> Program:
        kind = ""
        if self._take("?"):
            kind = self._next()
            if kind == "<" and self._text[self._at : self._at + 1] not in ("=", "!", ""):
                while self._next() != ">":
                    pass
            elif kind not in (":", "=", "!"):
                self._fail(f"(?{kind} is not understood")
        inner = self._alternatives(depth + 1)
        if not self._take(")"):
            self._fail("a ( without its )")
        if kind in ("=", "!"):
            return [_Instruction("look", inner=[*inner, _Instruction("end")], wanted=kind == "=")]
        return inner

    def _escaped(self) -> _Instruction:
        letter = self._next()
        if letter in "bB":
            wanted = letter == "b"
            return _Instruction("check", check=lambda name, at: _is_border(name, at) is wanted)
        if letter in "123456789k":
            self._fail("references to groups are not understood")
        return _Instruction("letter", test=self._class_of(letter))

    def _class_of(self, letter: str) -> Test:
        if letter.lower() in _CLASSES:
            inside = _CLASSES[letter.lower()]
            return inside if letter.islower() else lambda found: not inside(found)
        return self._meant(letter).__eq__

    def _meant(self, letter: str) -> str:
        """The one letter that an escaped one stands for."""
        if digits := {"x": 2, "u": 4}.get(letter):
            code = "".join(self._next() for _ in range(digits))
            if not set(code) <= set(hexdigits):
                self._fail(f"\\{letter} without its {digits} digits")
            return chr(int(code, 16))
        if letter.isalpha() and letter not in _CONTROLS:
            self._fail(f"\\{letter} is not understood")
        return _CONTROLS.get(letter, letter)

    def _letters(self) -> Test:
        """Inside [ ]."""
        negated = self._take("^")
        tests: list[Test] = []
        while not self._take("]"):
            test, low = self._letter()
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._next()
                _, high = self._letter()
                if not low or not high or low > high:
                    self._fail("a range that is none")
                test = _between(low, high)
            tests.append(test)
        return lambda found: any(test(found) for test in tests) is not negated

    def _letter(self) -> tuple[Test, str]:
        """A test, and the one letter it is for, if it is for one."""
        letter = self._next()
        if letter != "\\":
            return letter.__eq__, letter
        escaped = self._next()
        if escaped == "b":
            return "\b".__eq__, "\b"
        if escaped.lower() in _CLASSES:
            return self._class_of(escaped), ""
        meant = self._meant(escaped)
        return meant.__eq__, meant

    def _quantifier(self) -> tuple[int, int | None] | None:
        found = _QUANTIFIER.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        self._take("?")
        if _QUANTIFIER.match(self._text, self._at):
            self._fail("one repetition upon another")
        if found[1]:
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
        low = int(found[2])
        high = int(found[4]) if found[4] else None if found[3] else low
        if high is not None and high < low:
            self._fail("{m,n} the wrong way round")
        return low, high

    def _take(self, letter: str) -> bool:
        taken = self._text[self._at : self._at + 1] == letter
        self._at += taken
        return taken

    def _next(self) -> str:
        if self._at >= len(self._text):
            self._fail("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _fail(self, why: str) -> NoReturn:
        raise BadPattern(why)


def _loop(length: int) -> _Instruction:
    return _Instruction("fork", ways=(-length - 1,))


def _between(low: str, high: str) -> Test:
    return lambda found: low <= found <= high


def _is_border(name: str, at: int) -> bool:
    word = _CLASSES["w"]
    return (at > 0 and word(name[at - 1])) is not (at < len(name) and word(name[at]))
