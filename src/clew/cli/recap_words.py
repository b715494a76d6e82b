"""`clew recap --llm`: the fast model's words for a session on disk, or the reason why there are none."""

import os
import sys
from pathlib import Path

from clew.config.load import load_settings
from clew.config.schema import Provider
from clew.llm.connect import connect, default_model, fast_model
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.llm.retry import RetryPolicy
from clew.orient.daily_cap import DailyCap
from clew.orient.dialog import dialog_of
from clew.orient.load import load_session
from clew.orient.opening import open_file
from clew.orient.rephrase import rephrase
from clew.orient.report import Report, make_recap
from clew.orient.side_query import SideQueries, Stamp
from clew.protocol.entries import SideQueryEntry
from clew.system.debug_log import DebugLog, debug_log_path
from clew.system.home import clew_home
from clew.transcript.errors import TranscriptError
from clew.transcript.store import SessionStore


async def rephrased(report: Report) -> str:
    """The rephrased recap; "" when the facts stand as they are."""
    home = clew_home()
    settings = load_settings(home=home, project_root=None, trusted=False, env=os.environ, lenient=True).settings
    log = DebugLog(debug_log_path(home, report.session or "recap"))
    model = _fast(settings.fast_model, settings.model, settings.providers)
    if model is None:
        print("clew recap: no fast model is configured (--llm needs one); shown from facts", file=sys.stderr)
        return ""
    booked: list[SideQueryEntry] = []
    path = Path(report.file)
    wanted = "" if report.agent == "clew" else report.session
    session = load_session(path, agent=report.agent, session_id=wanted)
    stamp = Stamp(session.session_id, session.ledger.last_entry_id)
    queries = SideQueries(
        model,
        cap=DailyCap(home, settings.side_queries.daily_cap_usd),
        current=lambda: stamp,
        book=booked.append,
        log=lambda text: log.write("recap", text),
        enabled=settings.side_queries.enabled,
        timeout_s=settings.side_queries.timeout_s,
    )
    try:
        dialog = dialog_of(open_file(path, SessionStore(home), session_id=wanted).entries)
        words = await rephrase(
            session.ledger, make_recap(session), dialog, queries, lambda text: log.write("recap", text)
        )
    except TranscriptError as error:
        log.write("recap", str(error))
        words = None
    finally:
        await model.close()
    return words or ""


def _fast(fast: str, main: str, providers: dict[str, Provider]) -> Model | None:
    """The fast model in force: the configured one, else the small one of the main model's provider."""
    if fast == "none":
        return None
    try:
        name = fast or fast_model(main or default_model(os.environ, providers) or "", providers)
        return connect(name, providers=providers, env=os.environ, retry=RetryPolicy(max_attempts=1)) if name else None
    except LLMError:
        return None
