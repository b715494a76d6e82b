"""Settings say only what is wired: every documented key exists, every key is documented, and something reads it."""

import ast
import re
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from architecture.sources import MODULES, ROOT, text_of, tree_of
from clew.config import schema
from clew.config.load import VARIABLES
from clew.config.schema import Section, Settings
from clew.config.walk import dotted

PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
READERS = [path for path in MODULES if path.parent.name != "config"]
SECTIONS = {name: kind for name, kind in vars(schema).items() if isinstance(kind, type) and issubclass(kind, Section)}

Kind = tuple[type[Section], bool]
"""A section, and whether it stands as the value of a map."""
Read = tuple[type[Section], str]


def section_in(hint: Any) -> Kind | None:
    """The section that a type holds, if any: itself, optional, or as the values of a map."""
    if isinstance(hint, type) and issubclass(hint, Section):
        return hint, False
    inner = [section_in(part) for part in typing.get_args(hint)]
    found = next((kind for kind in inner if kind is not None), None)
    is_map = typing.get_origin(hint) is dict
    return (found[0], is_map or found[1]) if found else None


FIELDS = {kind: {field.name: field for field in msgspec.structs.fields(kind)} for kind in SECTIONS.values()}


def keys(kind: type[Section] = Settings, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Read]]:
    """Every key a user can write, and the field behind it. A map is one key."""
    for name, field in FIELDS[kind].items():
        inner = section_in(field.type)
        if inner is not None and not inner[1]:
            yield from keys(inner[0], (*path, field.encode_name))
        else:
            yield (*path, field.encode_name), (kind, name)


KEYS = dict(keys())
INSIDE_MAPS = {
    (kind, name) for kind in (schema.Provider, schema.ProviderAuth, schema.ModelFacts) for name in FIELDS[kind]
}


class Reads(ast.NodeVisitor):
    """Which fields of sections a module reads, as far as annotations and assignments tell what a name holds."""

    def __init__(self, tree: ast.Module, attributes: dict[str, Kind], results: dict[str, Kind]) -> None:
        self.found: set[Read] = set()
        self._attributes = attributes
        self._results = results
        self._names: dict[str, Kind] = {}
        self._classes = dict(SECTIONS)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == schema.__name__:
                self._classes |= {
                    alias.asname or alias.name: SECTIONS[alias.name] for alias in node.names if alias.name in SECTIONS
                }
        self._tree = tree

    def read(self) -> set[Read]:
        """Everything the module reads."""
        for _ in range(3):  # a name may be used before the line that says what it holds
            self.visit(self._tree)
        return self.found

    def of_annotation(self, node: ast.expr | None) -> Kind | None:
        for part in ast.walk(node) if node is not None else ():
            name = part.id if isinstance(part, ast.Name) else ""
            if name in self._classes:
                is_map = "Mapping" in ast.dump(node) or "'dict'" in ast.dump(node)  # pyright: ignore[reportArgumentType] (walked above)
                return self._classes[name], is_map
        return None

    def holds(self, node: ast.expr) -> Kind | None:
        """What an expression holds; reading a field on the way is noted."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            return self._field(node)
        if isinstance(node, ast.Call):
            return self._result(node)
        if isinstance(node, ast.Subscript):
            kind = self.holds(node.value)
            return (kind[0], False) if kind else None
        if isinstance(node, ast.BoolOp | ast.IfExp):
            parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            return next((kind for part in parts if (kind := self.holds(part)) is not None), None)
        return None

    def _field(self, node: ast.Attribute) -> Kind | None:
        kind = self.holds(node.value)
        if kind is None or kind[1]:
            return self._attributes.get(node.attr)
        if node.attr in FIELDS[kind[0]]:
            self.found.add((kind[0], node.attr))
            return section_in(FIELDS[kind[0]][node.attr].type)
        self.found |= {(kind[0], name) for name in read_by_method(kind[0], node.attr)}
        return None

    def _result(self, node: ast.Call) -> Kind | None:
        if isinstance(node.func, ast.Name):
            if node.func.id in self._classes:
                return self._classes[node.func.id], False
            return self._results.get(node.func.id)
        if isinstance(node.func, ast.Attribute):
            kind = self.holds(node.func.value)
            if kind is not None and kind[1] and node.func.attr in ("get", "pop", "setdefault"):
                return kind[0], False
            return kind if kind is not None and kind[1] else self._results.get(node.func.attr)
        return None

    def visit_arg(self, node: ast.arg) -> None:
        kind = self.of_annotation(node.annotation)
        if kind is not None:
            self._names[node.arg] = kind

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        kind = self.holds(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and kind is not None:
                self._names[target.id] = kind

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        kind = self.holds(node.value)
        if kind is not None:
            self._names[node.target.id] = kind

    def visit_For(self, node: ast.For) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def _loop(self, target: ast.expr, source: ast.expr) -> None:
        kind = self.holds(source)
        last = target.elts[-1] if isinstance(target, ast.Tuple) else target
        if kind is not None and kind[1] and isinstance(last, ast.Name):
            self._names[last.id] = (kind[0], False)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.holds(node)
        self.generic_visit(node)


@cache
def read_by_method(kind: type[Section], name: str) -> set[str]:
    """The fields a method of a section reads: whoever calls it reads them."""
    for found in ast.walk(tree_of(Path(schema.__file__))):
        if isinstance(found, ast.ClassDef) and found.name == kind.__name__:
            for method in found.body:
                if isinstance(method, ast.FunctionDef) and method.name == name:
                    return {part.attr for part in ast.walk(method) if isinstance(part, ast.Attribute)} & set(
                        FIELDS[kind]
                    )
    return set()


def reads() -> set[Read]:
    """What all of src but `config/` reads."""
    words = {path: set(re.findall(r"\w+", text_of(path))) for path in MODULES}
    attributes: dict[str, Kind] = {}
    results: dict[str, Kind] = {}
    for path in (path for path in MODULES if words[path] & set(SECTIONS)):  # an annotation names what it means
        tree = tree_of(path)
        known = Reads(tree, {}, {})
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign):
                kind = known.of_annotation(node.annotation)
                name = getattr(node.target, "attr", getattr(node.target, "id", ""))
                if kind is not None and name:
                    attributes[name] = kind
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                kind = known.of_annotation(node.returns)
                if kind is not None:
                    results[node.name] = kind
    # Whoever names neither a section nor anything that holds one reads none.
    roots = {*SECTIONS, *attributes, *results}
    near = [path for path in READERS if roots & words[path]]
    return {read for path in near for read in Reads(tree_of(path), attributes, results).read()}


@pytest.fixture(scope="module")
def found() -> set[Read]:
    return reads()


def test_something_reads_every_setting(found: set[Read]) -> None:
    unread = [dotted(path) for path, read in KEYS.items() if read not in found]
    assert unread == [], "wire them, or delete them with their words in docs/"


def test_what_stands_in_a_provider_is_read(found: set[Read]) -> None:
    assert not {f"{kind.__name__}.{name}" for kind, name in INSIDE_MAPS - found}


def test_the_page_lists_exactly_the_keys_that_exist() -> None:
    table = PAGE.partition("## Keys")[2].partition("###")[0]
    assert set(re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)) == {dotted(path) for path in KEYS}


def test_the_page_names_every_key_of_a_provider() -> None:
    words = PAGE.partition("### Providers")[2].partition("## ")[0]
    for kind, name in INSIDE_MAPS:
        assert re.search(rf'[`"]{FIELDS[kind][name].encode_name}[`"]', words), name


def test_the_page_lists_exactly_the_variables_that_set_a_key() -> None:
    table = dict(re.findall(r"^\| `(CLEW_\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert set(table) == {*VARIABLES, "CLEW_HOME"}
    for name, (path, _) in VARIABLES.items():
        assert f"`{dotted(path)}`" in table[name]


def test_every_variable_in_any_page_is_read_and_every_one_that_is_read_is_in_a_page() -> None:
    variable = re.compile(r"\bCLEW_[A-Z_]+[A-Z]\b")
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {name for page in pages for name in variable.findall(page.read_text(encoding="utf-8"))}
    used: set[str] = set()
    for path in (path for path in MODULES if "CLEW_" in text_of(path)):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and variable.fullmatch(node.value):
                used.add(node.value)
    assert named == used


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("def f(settings: Settings): return settings.recap.enabled", (schema.RecapSettings, "enabled")),
        (
            "def f(w):\n    limits = w.settings.limits\n    return limits.max_budget_usd",
            (schema.LimitSettings, "max_budget_usd"),
        ),
        (
            "def f(settings: Settings): return settings.limits.step_limit(headless=True)",
            (schema.LimitSettings, "max_turns"),
        ),
        (
            "def f(given: Mapping[str, Provider]):\n    for name, one in given.items():\n        print(one.key_env)",
            (schema.Provider, "key_env"),
        ),
        (
            "from clew.config.schema import SandboxSettings as Box\ndef f(box: Box): return box.network",
            (schema.SandboxSettings, "network"),
        ),
    ],
)
def test_a_read_is_seen(text: str, read: Read) -> None:
    assert read in Reads(ast.parse(text), {"settings": (Settings, False)}, {}).read()


def test_what_is_not_read_is_not_seen() -> None:
    text = "def f(settings: AwaySettings): return settings.enabled, other.recap, settings.model"
    assert not Reads(ast.parse(text), {}, {}).read()
