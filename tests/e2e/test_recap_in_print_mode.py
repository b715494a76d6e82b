"""`/recap` without a screen: the recap of the session that a run goes on with, from facts and without a model."""

from pathlib import Path

from e2e.command import Place
from fakes.model_server import ModelServer


def test_recap_tells_of_the_session_that_is_gone_on_with(tmp_path: Path) -> None:
    with ModelServer([{"text": "The parser drops the last line. I fixed it."}]) as server:
        place = Place(tmp_path, server.url)
        assert place.run("-p", "Mend the parser of the harbour list").code == 0
        before = [path.read_bytes() for path in place.transcripts()]
        for name in ("/recap", "/catchup"):
            done = place.run("-p", name, "--continue")
            assert done.code == 0, done.err
            assert "Mend the parser of the harbour list" in done.out
        as_json = place.run("-p", "/recap", "--continue", "--output-format", "json").result
        assert "Mend the parser of the harbour list" in as_json["result"]
        assert not as_json["is_error"]
        assert len(server.requests) == 1
        assert all(path.read_bytes().startswith(data) for path, data in zip(place.transcripts(), before, strict=True))


def test_recap_of_a_session_that_has_just_begun_says_so(tmp_path: Path) -> None:
    with ModelServer([]) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "/recap")
        assert done.code == 0, done.err
        assert done.out.strip()
        assert server.requests == []
        assert place.transcripts() == []


def test_no_minutes_away_are_the_default_and_keep_nobody_from_starting(tmp_path: Path) -> None:
    with ModelServer([{"text": "Yes."}]) as server:
        place = Place(tmp_path, server.url)
        place.clew_home.mkdir()
        (place.clew_home / "settings.json").write_text('{"recap": {"awayMinutes": 0}}')
        done = place.run("-p", "hi")
        assert (done.code, done.out) == (0, "Yes.\n"), done.err
        assert place.run("config", "get", "recap.awayMinutes").out.strip() in ("5", "5.0")
