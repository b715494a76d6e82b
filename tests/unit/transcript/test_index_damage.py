"""An index that is damaged in any page is made again by itself: nobody loses a session of the list for it."""

import random
from pathlib import Path

import pytest

from clew.catalog.listing import Catalog
from clew.transcript.log.store import SessionStore
from unit.transcript.test_index import put

PAGE = 4096
SESSIONS = 25
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon")


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A page or three zeroed, overwritten or with other bits; or the end is gone."""
    how = chance.choice(("zeroed", "overwritten", "bits", "cut"))
    if how == "cut":
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) // PAGE) * PAGE
        if how == "bits":
            for _ in range(20):
                changed[at + chance.randrange(PAGE)] ^= 1 << chance.randrange(8)
        else:
            changed[at : at + PAGE] = bytes(PAGE) if how == "zeroed" else chance.randbytes(PAGE)
    return bytes(changed)


def seen(catalog: Catalog) -> tuple[set[str], list[set[str]]]:
    """The list, and what some searches find."""
    catalog.refresh()
    listed = {row.session_id for row in catalog.rows()}
    return listed, [{hit.row.session_id for hit in catalog.search(f"needle{number}x")} for number in (0, 7, 24)]


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_whatever_page_is_damaged_list_and_search_are_whole(tmp_path: Path, start: int) -> None:
    store = SessionStore(tmp_path / "clew")
    for number in range(SESSIONS):
        chance = random.Random(number)
        put(store, f"s{number}", f"needle{number}x " + " ".join(chance.choices(WORDS, k=150)))
    index = store.home / "index.db"
    with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
        whole = seen(catalog)
    assert len(whole[0]) == SESSIONS
    assert all(len(hits) == 1 for hits in whole[1])
    data = index.read_bytes()
    for seed in range(start, start + 20):
        for end in ("-wal", "-shm"):
            index.with_name(f"index.db{end}").unlink(missing_ok=True)
        index.write_bytes(damaged(data, random.Random(seed)))
        with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
            assert seen(catalog) == whole, f"seed {seed}"
