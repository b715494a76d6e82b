"""A home and a project of their own for every test."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clew.config import LoadedSettings, load_settings


class Layers:
    """Writes settings files and loads them."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.root = base / "project"
        self.user_file = self.home / "settings.json"
        self.project_file = self.root / ".clew" / "settings.json"
        self.local_file = self.root / ".clew" / "settings.local.json"
        self.home.mkdir(mode=0o700)
        self.project_file.parent.mkdir(parents=True)

    def user(self, content: Any) -> None:
        self._write(self.user_file, content)

    def project(self, content: Any) -> None:
        self._write(self.project_file, content)

    def local(self, content: Any) -> None:
        self._write(self.local_file, content)

    def load(
        self,
        *,
        trusted: bool = True,
        env: Mapping[str, str] | None = None,
        settings_arg: str | None = None,
        flags: Mapping[str, Any] | None = None,
        lenient: bool = False,
    ) -> LoadedSettings:
        return load_settings(
            home=self.home,
            project_root=self.root,
            trusted=trusted,
            env=env or {},
            settings_arg=settings_arg,
            flags=flags,
            lenient=lenient,
        )

    @staticmethod
    def _write(path: Path, content: Any) -> None:
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        path.chmod(0o600)


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path)
