"""How light it is: `--version`, the first request, one answer, a step, memory, bytes, beside their yardsticks."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.processes import CLEW, ROOT, Server, clew_env, interleaved, model_server, run
from bench.report import Row

ROUNDS = 11
STEPS = 50
BARE = [sys.executable, str(ROOT / "bench" / "bare_client.py")]


def rows() -> Iterator[Row]:
    """All figures of DESIGN's budget table that concern a headless run."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "project").mkdir()
        yield from version(home)
        yield from one_answer(home)
        yield from steps(home)


def version(home: str) -> Iterator[Row]:
    """`clew --version` beside `python -c pass`."""
    taken = interleaved(
        ROUNDS * 2 + 1,
        bare=lambda: run([sys.executable, "-c", "pass"]).wall_s,
        clew=lambda: run([CLEW, "--version"]).wall_s,
    )
    ratio = taken["clew"] / taken["bare"]
    yield Row("`python -c pass`", f"{taken['bare'] * 1000:.0f} ms", "-", None)
    yield Row("`clew --version`", f"{ratio:.2f} x `python -c pass`", "<= 2 x", ratio <= 2)


def one_answer(home: str) -> Iterator[Row]:
    """From process start to the first request on the wire, and to the end of one answer."""
    with model_server({"replies": [], "last": {"text": "Hello."}}) as server:
        env = clew_env(home, server)
        command = [CLEW, "-p", "hi"]
        project = f"{home}/project"
        run(command, env, project)
        taken = interleaved(
            ROUNDS,
            bare_first=lambda: first_request(server, [*BARE, "1"], env, project),
            clew_first=lambda: first_request(server, command, env, project),
            bare_wall=lambda: run([*BARE, "1"], env, project).wall_s,
            clew_wall=lambda: run(command, env, project).wall_s,
            clew_rss=lambda: run(command, env, project).rss_mb,
        )
        size = int(server.requests()[-1]["headers"]["content-length"])
    ratio = taken["clew_first"] / taken["bare_first"]
    wall = taken["clew_wall"] / taken["bare_wall"]
    yield Row("bare-stdlib client, start to first request", f"{taken['bare_first'] * 1000:.0f} ms", "-", None)
    yield Row("start to first request", f"{ratio:.2f} x bare client", "<= 4 x", ratio <= 4)
    yield Row("one answer, whole process", f"{wall:.2f} x bare client", "-", None)
    yield Row("peak memory, one answer", f"{taken['clew_rss']:.0f} MB", "<= 60 MB", taken["clew_rss"] <= 60)
    yield Row("body of the first request", f"{size / 1000:.1f} kB", "<= 16 kB", size <= 16_000)


def first_request(server: Server, command: list[str], env: dict[str, str], cwd: str) -> float:
    """Seconds from the start of the process until its request reached the server."""
    before = len(server.requests())
    started = run(command, env, cwd).started
    return server.requests()[before]["at"] - started


def steps(home: str) -> Iterator[Row]:
    """Overhead of a step: fifty reads, less the server's own time."""
    project = Path(home) / "project"
    file = project / "small.txt"
    file.write_text("line\n" * 20)
    reads = [{"call": "Read", "arguments": {"file_path": str(file), "limit": line}} for line in range(1, STEPS + 1)]
    script = {"replies": [{"calls": [read]} for read in reads], "last": {"text": "Done."}}
    env: dict[str, str] = {}

    def measure(command: list[str], replies: dict[str, object]) -> float:
        with model_server(replies) as server:
            env.update(clew_env(home, server))
            return run(command, env, str(project)).wall_s

    answer = {"replies": [], "last": {"text": "Hello."}}
    taken = interleaved(
        5,
        bare_many=lambda: measure([*BARE, str(STEPS + 1)], script),
        bare_one=lambda: measure([*BARE, "1"], answer),
        clew_many=lambda: measure([CLEW, "-p", "read it fifty times"], script),
        clew_one=lambda: measure([CLEW, "-p", "hi"], answer),
    )
    server_ms = (taken["bare_many"] - taken["bare_one"]) / STEPS * 1000
    step_ms = (taken["clew_many"] - taken["clew_one"]) / STEPS * 1000
    yield Row("server and bare client, per request", f"{server_ms:.1f} ms", "-", None)
    over = step_ms - server_ms
    yield Row("overhead per step of a 50-read run", f"{over:.1f} ms", "<= 5 ms over the server's own", over <= 5)
