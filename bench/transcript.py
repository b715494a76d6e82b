"""The log: resume, list, search, append, kills and contests, at the sizes people have."""

import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.clocked_server import Arrivals, clocked_server
from bench.log_kills import SESSION, prompt, survive_kills, two_writers
from bench.log_samples import Author
from bench.processes import CLEW, Server, clew_env, model_server, run
from bench.report import Row
from clew.catalog.listing import Catalog
from clew.transcript.log.store import SessionStore
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.reader import load

MB = 1_000_000
ROUNDS = 5
SESSIONS = 3_000
SEARCHED_MB = 1_000
APPENDS = 2_000
KILLS = 1_000
TRIES = 10_000
RUNS = 40


def rows() -> Iterator[Row]:
    """About five minutes and 3 GB of temporary files, one after the other."""
    author = Author()
    with tempfile.TemporaryDirectory() as folder:
        yield from resume(Path(folder), author)
    with tempfile.TemporaryDirectory() as folder:
        yield from catalog(Path(folder), author)
    with tempfile.TemporaryDirectory() as folder:
        yield from appends(Path(folder), author)
    with tempfile.TemporaryDirectory() as folder:
        yield from crashes(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from real_runs(Path(folder))


def resume(folder: Path, author: Author) -> Iterator[Row]:
    """`clew -p hi --resume ID`: from process start to the first request on the wire, and the peak memory."""
    project = folder / "project"
    project.mkdir()
    store = SessionStore(folder / ".clew")
    sizes = {"small": (1 * MB, None), "large": (1_000 * MB, 1 * MB), "whole": (200 * MB, None)}
    for name, (size, boundary) in sizes.items():
        path = store.project_dir(project) / f"{name}.jsonl"
        author.write(path, name, size, boundary_before_end=boundary)
    with clocked_server() as server:
        rounds = [{name: first_request(server, name, folder, project) for name in sizes} for _ in range(ROUNDS)]
    taken = {name: [measured[name] for measured in rounds] for name in sizes}
    first_s = {name: statistics.median(item[0] for item in runs) for name, runs in taken.items()}
    rss_mb = {name: max(item[1] for item in runs) for name, runs in taken.items()}
    ratio = first_s["large"] / first_s["small"]
    yield Row("resume of 1 MB, start to first request", f"{first_s['small'] * 1000:.0f} ms", "-", None)
    yield Row("resume of 1 GB with a recent boundary", f"{ratio:.2f} x that of 1 MB", "<= 1.5 x", ratio <= 1.5)
    yield Row("… its peak memory", f"{rss_mb['large']:.0f} MB", "< 150 MB", rss_mb["large"] < 150)
    yield Row("resume of 200 MB without a boundary", f"{first_s['whole']:.2f} s", "<= 2 s", first_s["whole"] <= 2)
    yield Row("… its peak memory", f"{rss_mb['whole']:.0f} MB", "<= 300 MB", rss_mb["whole"] <= 300)
    for name, size in (("large", "1 GB with a recent boundary"), ("whole", "200 MB without one")):
        path = store.project_dir(project) / f"{name}.jsonl"
        yield Row(f"reading alone, {size}", f"{timed(lambda path=path: load(path)) * 1000:.0f} ms", "-", None)


def first_request(server: Arrivals, session: str, folder: Path, project: Path) -> tuple[float, float]:
    """Seconds until the request arrived, and the peak memory in MB."""
    before = len(server.at)
    env = clew_env(str(folder), Server(server.url))
    done = run([CLEW, "-p", "hi", "--resume", session], env, str(project))
    return server.at[before] - done.started, done.rss_mb


def catalog(folder: Path, author: Author) -> Iterator[Row]:
    """3,000 sessions of 1 GB together: reading them in, listing, searching, the whole command."""
    store = SessionStore(folder / ".clew")
    total = 0
    for number in range(SESSIONS):
        name = f"session-{number:05d}"
        path = store.project_dir(folder / f"project{number % 40}") / f"{name}.jsonl"
        total += author.write(path, name, SEARCHED_MB * MB // SESSIONS)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    env = {"HOME": str(folder)}
    with Catalog(store, env=env) as opened:
        ingest_s = timed(lambda: opened.refresh())
    speed = total / MB / ingest_s
    yield Row("reading sessions into the index", f"{speed:.0f} MB/s ({total / MB:.0f} MB)", ">= 20 MB/s", speed >= 20)
    with Catalog(store, env=env) as opened:
        list_s = best_of(3, lambda: (opened.refresh(), opened.rows(limit=50)))
        yield Row("list of 3,000 sessions, warm", f"{list_s * 1000:.0f} ms", "<= 200 ms", list_s <= 0.2)
        words = author.sample_words()
        search_s = max(best_of(3, lambda words=question: opened.search(words)) for question in words)
        yield Row(f"search over 1 GB, worst of {len(words)}", f"{search_s * 1000:.0f} ms", "<= 100 ms", search_s <= 0.1)
        deep_s = timed(lambda: opened.search("zq9xnowhere", deep=True))
        yield Row("… for a word that is nowhere, with --deep", f"{deep_s:.2f} s", "-", None)
    size = sum(path.stat().st_size for path in store.home.glob("index.db*")) / MB
    yield Row("size of the index", f"{size:.0f} MB for {total / MB:.0f} MB", "-", None)
    with model_server([]) as server:
        wall_s = min(run([CLEW, "sessions"], clew_env(str(folder), server), str(folder)).wall_s for _ in range(3))
    yield Row("`clew sessions`, whole process", f"{wall_s * 1000:.0f} ms", "-", None)


def appends(folder: Path, author: Author) -> Iterator[Row]:
    """L08: one entry, with and without a sync, in a short and in a long session."""
    entry = prompt("word " * 200, None)
    plain: dict[str, list[float]] = {}
    synced: dict[str, list[float]] = {}
    for name, size in (("short", 10_000), ("long", 300 * MB)):
        path = folder / f"{name}.jsonl"
        author.write(path, SESSION, size)
        writer = TranscriptWriter(path, SESSION)
        plain[name] = [timed(lambda writer=writer: writer.append(entry)) for _ in range(APPENDS)]
        synced[name] = [
            timed(lambda writer=writer: (writer.append(entry), writer.sync())) for _ in range(APPENDS // 10)
        ]
        writer.close()
    for what, taken, limit in (("append", plain["long"], 2.0), ("append and sync", synced["long"], 20.0)):
        middle, high = statistics.median(taken) * 1000, statistics.quantiles(taken, n=100)[98] * 1000
        value = f"median {middle:.3f} ms, 99 % {high:.2f} ms"
        yield Row(f"{what}, in a session of 300 MB", value, f"99 % < {limit:.0f} ms", high < limit)
    ratio = statistics.median(plain["long"]) / statistics.median(plain["short"])
    yield Row("append in 300 MB beside one in 10 kB", f"{ratio:.2f} x", "<= 1.5 x", ratio <= 1.5)


def crashes(folder: Path) -> Iterator[Row]:
    """SIGKILL, split writes included, and two processes that want the same session."""
    outcome = survive_kills(folder / "kills", KILLS)
    value = f"{outcome.lost} of {outcome.acknowledged} lost, {outcome.torn} torn lines"
    yield Row(f"{outcome.kills} kills: acknowledged entries", value, "0 lost", outcome.lost == 0)
    accepted = outcome.kills - outcome.refused
    yield Row("… sessions that take a next turn", f"{accepted} of {outcome.kills}", "all", outcome.refused == 0)
    slowest = outcome.slowest_takeover_s
    yield Row("… slowest takeover after a kill", f"{slowest * 1000:.0f} ms", "< 2 s", slowest < 2)
    contest = two_writers(folder / "contest", TRIES)
    value = f"{contest.interleaved} interleavings, {contest.won} bursts"
    yield Row(f"two writers, {contest.tries} tries", value, "0", contest.interleaved == 0)


def real_runs(folder: Path) -> Iterator[Row]:
    """The installed command, killed at random moments of a turn full of tool calls; then the next prompt."""
    project = folder / "project"
    project.mkdir()
    file = project / "data.txt"
    file.write_text("data\n" * 20)
    step = {"calls": [{"call": "Read", "arguments": {"file_path": str(file)}}] * 3}
    chance = random.Random(1)
    sessions = went_on = 0
    with (
        model_server({"replies": [], "last": step}) as busy,
        model_server({"replies": [], "last": {"text": "Fine."}}) as calm,
    ):
        for number in range(RUNS):
            home = folder / f"home{number}"
            command = [CLEW, "-p", "first words", "--allowed-tools", "Read"]
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(
                command, env=clew_env(str(home), busy), cwd=project, stdin=quiet, stdout=quiet, stderr=quiet
            )
            time.sleep(0.1 + 0.6 * chance.random())
            process.kill()
            process.wait()
            paths = list((home / ".clew" / "projects").glob("*/*.jsonl"))
            if not paths:
                continue  # killed before the prompt was accepted: nothing was promised yet
            before = paths[0].read_bytes()
            sessions += 1
            run([CLEW, "-p", "second words", "--continue"], clew_env(str(home), calm), str(project))
            went_on += paths[0].read_bytes().startswith(before) and load(paths[0]).messages[-1].role == "assistant"
    value = f"{went_on} of {sessions} sessions went on ({RUNS} kills)"
    yield Row("`clew -p` killed at random moments", value, "all", went_on == sessions)


def timed(action: Callable[[], object]) -> float:
    """Seconds of one run."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def best_of(rounds: int, action: Callable[[], object]) -> float:
    """The fastest of some runs: the others measured the machine's other work."""
    return min(timed(action) for _ in range(rounds))
