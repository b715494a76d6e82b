"""Words that every sample shares, and how samples are written."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
GOAL = "Add a retry to fetch.py"
ANSWER = "The retry is in place."


def jsonl(path: Path, records: list[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def whole(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    return path
