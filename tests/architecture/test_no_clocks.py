"""No test passes or fails by how fast this machine is: measured time belongs to `make bench`."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(TESTS.rglob("*.py"))
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time", "monotonic_s", "wall_s"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS} | {"clock_gettime"}
USED_TIME = {"ru_utime", "ru_stime"}
MENTIONED = re.compile(rf"\b(?:{'|'.join(sorted(CLOCKS))}|sleep)\(|{'|'.join(sorted(USED_TIME))}")
"""Who writes none of this asks no clock and never pauses."""


def called(node: ast.AST) -> str:
    """The last word of what is called; "" for anything but a call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


class Clocked:
    """Which expressions of a module hold a time that was measured."""

    def __init__(self, tree: ast.AST) -> None:
        self._tree = tree
        self.moments: set[str] = set()
        """Names that hold what a clock said, or were made from it."""
        self.spans: set[str] = set()
        """Names, and functions that return one: a difference of two moments, or a moment moved by some seconds."""
        size = -1
        while size != len(self.moments) + len(self.spans):
            size = len(self.moments) + len(self.spans)
            for names, value in self._bindings():
                if self.is_span(value):
                    self.spans |= names
                if self.is_moment(value):
                    self.moments |= names

    def is_moment(self, node: ast.AST) -> bool:
        for part in ast.walk(node):
            if called(part) in CLOCKS:
                return True
            if isinstance(part, ast.Name) and part.id in self.moments:
                return True
            if isinstance(part, ast.Attribute) and part.attr in USED_TIME:
                return True
        return False

    def is_span(self, node: ast.AST) -> bool:
        for part in ast.walk(node):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub | ast.Add) and self.is_moment(part):
                return True
            if isinstance(part, ast.Name) and part.id in self.spans:
                return True
        return False

    def _bindings(self) -> Iterator[tuple[set[str], ast.AST]]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assign):
                yield {name.id for target in node.targets for name in names_in(target)}, node.value
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
                yield {name.id for name in names_in(node.target)}, node.value
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for part in ast.walk(node):
                    if isinstance(part, ast.Return) and part.value is not None:
                        yield {node.name}, part.value


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Name))


def outside_waits(node: ast.AST) -> Iterator[ast.AST]:
    """Everything but the bodies of `while` loops: there a deadline ends a wait, and a pause makes it cheap."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.While):
            yield child
            yield from outside_waits(child)


def measured_asserts(tree: ast.AST) -> list[int]:
    """Lines with an assert that compares a measured time with something."""
    clocked = Clocked(tree)
    found: list[int] = []
    for node in outside_waits(tree):
        if isinstance(node, ast.Assert):
            compared = [part for part in ast.walk(node.test) if isinstance(part, ast.Compare)]
            if any(clocked.is_span(part) for part in compared):
                found.append(node.lineno)
    return found


def lucky_pauses(tree: ast.AST) -> list[int]:
    """Lines that sleep for a fixed time and hope that something has happened by then."""
    return [
        node.lineno
        for node in outside_waits(tree)
        if isinstance(node, ast.Call)
        and called(node) == "sleep"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, int | float)
        and node.args[0].value > 0
    ]


def in_all_tests(find: Callable[[ast.AST], list[int]]) -> list[str]:
    """File and line of everything that is found."""
    found: list[str] = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if MENTIONED.search(text):
            found += [f"{path.relative_to(TESTS)}:{line}" for line in find(ast.parse(text))]
    return found


def test_no_test_asserts_a_measured_time() -> None:
    assert in_all_tests(measured_asserts) == [], "count the work (fakes/effort.py) and put the seconds into bench/"


def test_no_test_sleeps_for_luck() -> None:
    assert in_all_tests(lucky_pauses) == [], "wait for the thing itself, or move the clock (fakes/loop_clock.py)"


@pytest.mark.parametrize(
    "text",
    [
        "started = time.monotonic()\nassert time.monotonic() - started < 2",
        "import time as t\nbegin = t.perf_counter()\nwork()\ntook = t.perf_counter() - begin\nassert took < 1",
        "started = time.monotonic()\nassert time.monotonic() < started + 5",
        "loop = asyncio.get_running_loop()\nfirst = loop.time()\nassert loop.time() - first > 0.4",
        "from time import perf_counter\ndef cost():\n    a = perf_counter()\n    return perf_counter() - a\n"
        "assert cost() < 40 * cost() + 0.2",
        "a = time.process_time_ns()\nb = time.process_time_ns()\nassert (b - a) / 1e6 <= 5",
        "a = resource.getrusage(resource.RUSAGE_SELF).ru_utime\nassert usage().ru_utime - a < 3",
        "def test():\n    for _ in range(3):\n        assert abs(time.time() - 5) < 9",
    ],
)
def test_measured_time_is_seen(text: str) -> None:
    assert MENTIONED.search(text)
    assert measured_asserts(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "deadline = time.monotonic() + 60\nwhile not there():\n    assert time.monotonic() < deadline",
        "before = time.time()\nassert before <= clock.wall_s() <= time.time()",
        "assert count - before < 5",
        "assert (clock.wall_s(), clock.monotonic_s()) == (105.0, 5.0)",
    ],
)
def test_deadlines_and_set_clocks_are_fine(text: str) -> None:
    assert not measured_asserts(ast.parse(text))
    assert lucky_pauses(ast.parse("await asyncio.sleep(0.05)"))
    assert not lucky_pauses(ast.parse("await asyncio.sleep(0)\nwhile not there():\n    time.sleep(0.01)"))
