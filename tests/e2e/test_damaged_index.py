"""A damaged list of sessions is made again, through the real command, and that is said once."""

from e2e.command import Serve

PAGE = 4096


def test_a_damaged_index_is_told_and_everything_works(serve: Serve) -> None:
    place, _ = serve([{"text": "hi"}] * 3)
    assert place.run("-p", "where is the walrus").code == 0
    assert place.run("sessions").err == ""
    index = place.clew_home / "index.db"
    data = index.read_bytes()
    index.write_bytes(data[:PAGE] + bytes(PAGE) * (len(data) // PAGE - 1))
    done = place.run("sessions", "--search", "walrus")
    assert "walrus" in done.out
    assert "index.db) was damaged and is made again" in done.err
    assert place.run("sessions").err == ""
    index.write_bytes(b"SQLite format 3\0" + b"\xff" * 9000)
    (transcript,) = place.transcripts()
    assert place.run("-p", "go on", "-r", "where is the walrus").code == 0, "by its words, which only the index knows"
    assert place.transcripts() == [transcript]
