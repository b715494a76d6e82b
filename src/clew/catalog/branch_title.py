"""The title of a branch: that of its source with `(Branch)`, and of no other session of ours."""

from clew.catalog.found_session import OWN
from clew.catalog.listing import Catalog
from clew.transcript.index.digest import Digest
from clew.transcript.log.store import SessionStore
from clew.transcript.past.fork import branch_title
from clew.transcript.past.reader import LoadedLog

LOOK_S = 2.0
"""How long titles may be looked for that the index does not know yet; the newest sessions come first."""


def title_of_branch(loaded: LoadedLog, store: SessionStore) -> str:
    """Its title among those of all our sessions. The index knows the first prompt of a file that was not read whole."""
    with Catalog(store) as catalog:
        catalog.refresh(agents=(OWN,), budget_s=LOOK_S)
        titles = {row.session_id: row.title or row.first_prompt for row in catalog.rows(agents=(OWN,))}
    here = Digest()
    for entry in loaded.entries:
        here.feed(entry)
    return branch_title(here.own_title or titles.get(loaded.session_id) or here.title, titles.values())
