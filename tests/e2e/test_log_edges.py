"""A log that others have touched, met by the real command: everything said is sent on, the file is private again."""

import json
import stat
from pathlib import Path

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("damage", ["glued", "byte-order mark", "child first", "all of it"])
def test_a_touched_log_is_read_in_full(tmp_path: Path, damage: str) -> None:
    with ModelServer({"replies": [], "last": {"text": "the lamp is oiled"}}) as server:
        place = Place(tmp_path, server.url)
        place.run("-p", "fix the lighthouse lamp")
        place.run("-p", "now the fog horn", "-c")
        (path,) = place.transcripts()
        lines = path.read_bytes().splitlines()
        talk = [number for number, line in enumerate(lines) if json.loads(line).get("type") in ("user", "assistant")]
        if damage in ("child first", "all of it"):
            first, second = talk[1], talk[2]
            lines[first], lines[second] = lines[second], lines[first]
        glue = b"" if damage in ("glued", "all of it") else b"\n"
        mark = BOM if damage in ("byte-order mark", "all of it") else b""
        path.write_bytes(mark + b"\n".join(lines[: talk[1]]) + b"\n" + glue.join(lines[talk[1] :]) + b"\n")
        path.chmod(0o644)
        assert place.run("-p", "and the door", "-c").code == 0
        said = json.dumps(server.requests[-1].body["messages"])
    assert [word for word in ("lighthouse lamp", "fog horn", "the door") if word not in said] == []
    assert said.count("the lamp is oiled") == 2
    (path,) = place.transcripts()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
