"""All sessions in one list: ours, archived ones, and other agents', kept up to date in the index."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.catalog.found_session import OWN
from clew.foreign import registry
from clew.foreign.session import ForeignSession
from clew.transcript.index.archive import archived_id
from clew.transcript.index.database import SessionIndex, is_damage
from clew.transcript.index.deep import deep_search
from clew.transcript.index.ingest import ingest_entries, ingest_file
from clew.transcript.index.rows import Hit, IndexRow, SourceFile
from clew.transcript.log.lease import holder_of, lock_path
from clew.transcript.log.store import SessionStore, read_project, session_files

Read = TypeVar("Read")
DAMAGED = "the index of sessions (index.db) was damaged and is made again from the sessions themselves"
_DAY_S = 86_400.0
_QUICK_BYTES = 64 * 1024 * 1024
_BATCH_BYTES = 16 * 1024 * 1024


class Catalog:
    """Refresh, then list or search. The files are the truth; what the index lacks is read on the way."""

    def __init__(
        self,
        store: SessionStore,
        *,
        homes: Mapping[str, Path] | None = None,
        env: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`homes`: where another agent keeps its sessions, instead of its default place."""
        self._store = store
        self._homes = homes
        self._env = env
        self._clock = clock
        self._index = SessionIndex(store.home / "index.db")
        self._waiting: list[SourceFile] = []
        self._asked: tuple[Sequence[str] | None, float | None] = (None, None)

    def __enter__(self) -> "Catalog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def refresh(self, *, agents: Sequence[str] | None = None, budget_s: float | None = None) -> int:
        """Bring the index up to date and return how many sessions still wait because the time was up.

        `agents`: None for all; `clew` is us.
        """
        self._asked = (agents, budget_s)
        try:
            return self._refresh(agents, budget_s)
        except Exception as error:  # whatever damaged bytes bring about when they are read
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                return 0  # another process is at it; its work will serve us too
            self._build_anew(error)
            return self._refresh(agents, budget_s)

    @property
    def note(self) -> str:
        """For the person: the index was damaged and is made again; "" when it was not."""
        return DAMAGED if self._index.was_damaged else ""

    def _read(self, look: Callable[[SessionIndex], Read]) -> Read:
        """What the index says; damage that is met on the way is repaired, and it is asked once more."""
        try:
            return look(self._index)
        except Exception as error:  # whatever damaged bytes bring about when they are read
            self._build_anew(error)
            self._refresh(*self._asked)
            return look(self._index)

    def _build_anew(self, error: Exception) -> None:
        if not is_damage(error):
            raise error
        self._index = self._index.rebuilt()

    def rows(self, *, agents: Sequence[str] = (), project: Path | None = None, limit: int = -1) -> list[IndexRow]:
        """Sessions, newest first. A file dated in the future stands last, not above all that happens from now on."""
        chosen = self._projects_inside(project) if project is not None else ()
        if chosen is None:
            return []
        future = time.time() + _DAY_S
        found = self._read(lambda index: index.rows(agents=agents, projects=chosen, limit=limit, not_after=future))
        waiting = {(source.agent, source.path, source.session_id): source for source in self._waiting}
        if waiting and project is None:
            found = [row for row in found if (row.agent, row.path, row.session_id) not in waiting]
            found += [_unread(source) for source in waiting.values() if not agents or source.agent in agents]
            found.sort(key=lambda row: (-row.activity if row.activity <= future else 0.0, row.path))
        return [self._live(row) for row in (found if limit < 0 else found[:limit])]

    def ids(self) -> list[str]:
        """The ids of all sessions in the list."""
        return [*self._read(SessionIndex.ids), *(source.session_id for source in self._waiting)]

    def _projects_inside(self, project: Path) -> list[str] | None:
        """The projects of the list that lie in this directory; None when there are none."""
        root = os.path.realpath(project)
        return [place for place in self._read(SessionIndex.projects) if is_inside(place, root)] or None

    def search(
        self,
        question: str,
        *,
        agents: Sequence[str] = (),
        project: Path | None = None,
        limit: int = 20,
        deep: bool | None = None,
    ) -> list[Hit]:
        """Sessions that hold the words. When the index has none, the files themselves are looked through: always with
        `deep`, by default when they are few enough not to be waited for."""
        chosen = self._projects_inside(project) if project is not None else ()
        if chosen is None or not question.strip():
            return []
        hits = self._read(lambda index: index.search(question, agents=agents, projects=chosen, limit=limit))
        if hits or deep is False:
            return hits
        rows = {row.path: row for row in self.rows(agents=agents, project=project) if row.path.endswith(".jsonl")}
        if deep is None and sum(row.size for row in rows.values()) > _QUICK_BYTES:
            return []
        return [
            Hit(row=rows[str(hit.path)], role="tool", uuid=hit.uuid, text=hit.text, spans=hit.spans)
            for hit in deep_search((Path(path) for path in rows), question, limit=limit)
        ]

    def _refresh(self, agents: Sequence[str] | None, budget_s: float | None) -> int:
        known = self._index.known()
        changed: list[SourceFile] = []
        seen: set[tuple[str, str, str]] = set()
        names: set[str] = set()
        for source in self._sources(agents, names, known):
            key = (source.agent, source.path, source.session_id)
            seen.add(key)
            before = known.get(key)
            if before is None or before[:2] != (source.size, source.mtime):
                changed.append(source)
        gone = [key for key in known if key not in seen and key[0] in names]
        if gone:
            self._index.forget(gone)
        # With a deadline the newest come first, because they are looked at first.
        changed.sort(key=lambda source: source.mtime, reverse=budget_s is not None)
        changed = _file_by_file(changed)
        deadline = self._clock() + budget_s if budget_s is not None else None
        self._waiting = changed
        while self._waiting and not self._late(deadline):
            self._waiting = self._waiting[self._ingest_some(self._waiting, deadline) :]
        return len(self._waiting)

    def _late(self, deadline: float | None) -> bool:
        return deadline is not None and self._clock() > deadline

    def _ingest_some(self, sources: Sequence[SourceFile], deadline: float | None) -> int:
        """As many files as make a batch: enough to be worth a merge, few enough that others need not wait long."""
        done = size = 0
        with self._index.batch():
            while done < len(sources) and size < _BATCH_BYTES and (not done or not self._late(deadline)):
                together = _of_one_file(sources, done)
                for source in self._ingest(together):
                    size += source.size
                    done += 1
                    if len(together) > 1 and (size >= _BATCH_BYTES or self._late(deadline)):
                        break
        return done

    def _ingest(self, sources: Sequence[SourceFile]) -> Iterator[SourceFile]:
        """The sessions of one file in turn; each is given back when it is in the index."""
        first = sources[0]
        if first.agent == OWN:
            try:
                ingest_file(self._index, first)
            except OSError:
                ingest_entries(self._index, first, (), problems=1)
            yield first
            return
        names = [source.session_id for source in sources]
        transcripts = registry.read_each(Path(first.path), first.agent, names)
        for source, transcript in zip(sources, transcripts, strict=True):
            meta = transcript.meta
            updated = msgspec.structs.replace(
                source, title=meta.title or source.title, cwd=meta.cwd or source.cwd, project=meta.cwd or source.cwd
            )
            problems = sum(problem.kind != "unfinished" for problem in transcript.problems)
            own_id = transcript.session_id
            ingest_entries(self._index, updated, transcript.entries, own_id=own_id, problems=problems)
            yield source

    def _sources(
        self, agents: Sequence[str] | None, names: set[str], known: Mapping[tuple[str, str, str], object]
    ) -> Iterator[SourceFile]:
        """What lies on disk. `names` gets the agents whose sessions are all told: theirs that are missing are gone."""
        if agents is None or OWN in agents:
            names.add(OWN)
            yield from own_sources(self._store)
        others = None if agents is None else [registry.agent_name(name) for name in agents if name != OWN]
        if others is not None and not others:
            return
        chosen = list(registry.READERS) if others is None else others
        failed: set[str] = set()
        folders = [*self._store.project_roots(), *map(Path, self._index.projects())]
        found = registry.discover(
            self._homes,
            self._env,
            agents=chosen,
            folders=folders,
            files=_known_files(known),
            on_problem=lambda name, _: failed.add(name),
        )
        for session in found:
            if not session.is_subagent:
                yield _foreign_source(session)
        names.update(name for name in chosen if name not in failed)

    def _live(self, row: IndexRow) -> IndexRow:
        """A session that stopped in the middle of its work may be at work right now: its lease tells."""
        if row.agent == OWN and row.state == "interrupted" and not row.archived:
            path = Path(row.path)
            if lock_path(path).exists() and (holder := holder_of(path)) is not None:
                source = SourceFile(
                    agent=row.agent, path=row.path, session_id=row.session_id, size=row.size, mtime=row.mtime
                )
                state = self._read(lambda index: index.start_of(source))[1].state(
                    alive=True, found_bytes=holder.found_bytes
                )
                return msgspec.structs.replace(row, state=state)
        return row


def own_sources(store: SessionStore) -> Iterator[SourceFile]:
    """Our sessions and archives as they lie on disk."""
    for folder in store.project_dirs():
        record = read_project(folder)
        root = record.root if record else ""
        for item in session_files(folder):
            yield from _stated(item, item.name.removesuffix(".jsonl"), root=root, archived=False)
    try:
        folders = [item for item in os.scandir(store.archive) if item.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for folder in folders:
        record = read_project(store.projects / folder.name)
        for item in os.scandir(folder.path):
            if item.name.endswith(".jsonl.gz") and item.is_file(follow_symlinks=False):
                name = archived_id(Path(item.name))
                yield from _stated(item, name, root=record.root if record else "", archived=True)


def project_name(row: IndexRow) -> str:
    """What to call the project of a session."""
    path = row.project or row.cwd
    return path.rstrip("/").rsplit("/", 1)[-1] or path


def _known_files(known: Iterable[tuple[str, str, str]]) -> dict[str, list[Path]]:
    """Where agents without a home of their own left sessions: found once, they are listed from everywhere."""
    files: dict[str, dict[Path, None]] = {}
    for agent, path, _ in known:
        if agent != OWN and registry.lives_in_projects(agent):
            files.setdefault(agent, {})[Path(path)] = None
    return {agent: list(paths) for agent, paths in files.items()}


def _file_by_file(sources: Sequence[SourceFile]) -> list[SourceFile]:
    """The same, with the sessions of one file together, where the first of them stood."""
    files: dict[tuple[str, str], list[SourceFile]] = {}
    for source in sources:
        files.setdefault((source.agent, source.path), []).append(source)
    return [source for file in files.values() for source in file]


def _of_one_file(sources: Sequence[SourceFile], start: int) -> Sequence[SourceFile]:
    first = sources[start]
    end = start + 1
    while end < len(sources) and (sources[end].agent, sources[end].path) == (first.agent, first.path):
        end += 1
    return sources[start:end]


def _stated(item: os.DirEntry[str], session_id: str, *, root: str, archived: bool) -> Iterator[SourceFile]:
    try:
        info = item.stat(follow_symlinks=False)
    except OSError:
        return  # it went away while we looked
    yield SourceFile(
        agent=OWN,
        path=item.path,
        session_id=session_id,
        size=info.st_size,
        mtime=info.st_mtime,
        project=root,
        archived=archived,
    )


def _foreign_source(session: ForeignSession) -> SourceFile:
    return SourceFile(
        agent=session.agent,
        path=str(session.path),
        session_id=session.session_id,
        size=session.size,
        mtime=session.mtime,
        project=session.cwd,
        cwd=session.cwd,
        title=session.title,
    )


def _unread(source: SourceFile) -> IndexRow:
    return IndexRow(
        agent=source.agent,
        path=source.path,
        session_id=source.session_id,
        project=source.project,
        cwd=source.cwd,
        title=source.title,
        mtime=source.mtime,
        activity=source.mtime,
        size=source.size,
        archived=source.archived,
    )


def is_inside(path: str, root: str) -> bool:
    """Whether a directory is this one, whose real path is given, or lies in it."""
    if not path:
        return False
    resolved = os.path.realpath(path)
    return resolved == root or resolved.startswith(root.rstrip("/") + "/")
