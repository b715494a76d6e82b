"""Every probe runs in one kind of sandbox, in turn through the kinds that hold here; `make corpus`: in every kind."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clew.system.process import ProcessStarter
from unit.sandbox.cases import NOT_FOR_BWRAP, NOT_FOR_LANDLOCK
from unit.sandbox.world import KINDS, SharedStarter, World, make_workspace

HERE = Path(__file__).parent
HONEST = "test_honest_work_goes_on"


def promised(item: pytest.Function, kind: object) -> bool:
    """Whether this kind says anything about what the test tries."""
    command = item.callspec.params.get("command")
    if kind == "landlock" and (item.originalname == HONEST or command in NOT_FOR_LANDLOCK):
        return False
    return kind == "namespaces" or command not in NOT_FOR_BWRAP


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave each probe in the suite once. The sample is fixed: it depends on nothing but the order of the cases."""
    probes: dict[str, dict[str, list[pytest.Function]]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.path.parent == HERE and hasattr(item, "callspec"):
            case = {name: value for name, value in item.callspec.params.items() if name != "kind"}
            if case and "kind" in item.callspec.params:
                probes.setdefault(item.originalname, {}).setdefault(repr(case), []).append(item)
    for cases in probes.values():
        for number, same in enumerate(cases.values()):
            kinds = [item for item in same if promised(item, item.callspec.params["kind"])] or same
            for item in same:
                if item is not kinds[number % len(kinds)]:
                    item.add_marker("corpus")


@pytest.fixture(params=sorted(KINDS) or ["none"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "none":
        pytest.skip("no sandbox holds on this machine")
    return request.param


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every workspace begins as; nobody writes to it."""
    place = tmp_path_factory.mktemp("pristine") / "ws"
    make_workspace(place)
    return place


@pytest.fixture(scope="module")
def starter() -> Iterator[ProcessStarter | None]:
    """Of all tests of a module. A module whose tests are about what a session shares has one for each (None)."""
    shared = SharedStarter()
    yield shared
    shared.end()


@pytest.fixture
async def world(tmp_path: Path, kind: str, pristine: Path, starter: ProcessStarter | None) -> AsyncIterator[World]:
    made = World(tmp_path, kind, pristine, starter)
    yield made
    await made.close()
