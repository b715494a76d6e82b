"""A home, a Claude Code home and a project of their own for every test."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clew.hooks.definitions import HookDefinition
from clew.hooks.digests import digest_of
from clew.hooks.settings import FoundHooks, find_hooks
from clew.protocol.event_kinds.programs import HookScope


class Files:
    """Writes settings files and finds what they define."""

    def __init__(self, base: Path) -> None:
        self.home = base / "clew-home"
        self.person = base / "person"
        self.root = base / "project"
        for folder in (self.home, self.person / ".claude", self.root / ".clew", self.root / ".claude"):
            folder.mkdir(parents=True)
        self.files = {
            "user": self.home / "settings.json",
            "claude_user": self.person / ".claude" / "settings.json",
            "project": self.root / ".clew" / "settings.json",
            "local": self.root / ".clew" / "settings.local.json",
            "claude_project": self.root / ".claude" / "settings.json",
            "claude_local": self.root / ".claude" / "settings.local.json",
        }
        self.env = {"HOME": str(self.person), "PATH": "/usr/bin:/bin"}

    def write(self, scope: str, content: Any) -> Path:
        path = self.files[scope]
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(data)
        return path

    def find(self, *, trusted: bool = True, given: Mapping[str, Any] | None = None, **rest: Any) -> FoundHooks:
        return find_hooks(home=self.home, root=self.root, trusted=trusted, env=self.env, given=given, **rest)

    def hook(self, command: str, *, scope: HookScope = "claude_project", **rest: Any) -> HookDefinition:
        """A hook with the digest it has now."""
        made = HookDefinition(
            moment=rest.pop("moment", "PreToolUse"),
            matcher=rest.pop("matcher", ""),
            command=command,
            source="a file",
            scope=scope,
            digest="",
            **rest,
        )
        return replace(made, digest=digest_of(made, str(self.root)))


def one(command: str, *, moment: str = "PreToolUse", matcher: str | None = None, **rest: Any) -> dict[str, Any]:
    """A whole settings object with one hook."""
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": command, **rest}]}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {moment: [group]}}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    made = Files(tmp_path)
    monkeypatch.setenv("HOME", str(made.person))
    return made
