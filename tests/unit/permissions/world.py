"""A throw-away machine for permission tests: home, own state, workspace, a place outside."""

import os
from pathlib import Path
from typing import Any

import msgspec

from clew.cli.sub.permissions import check_line

FILES = (
    "README.md package.json data.csv names.txt a.txt b.txt build.log a.bin a.tar a.tar.gz a.zip a.gz data.json f.yaml "
    "pyproject.toml a.b64 src/main.py src/util.py scripts/a.sh docs/guide.md tests/test_main.py sub/x.txt"
)


class World:
    """Directories under one temporary root; HOME and CLEW_HOME point into it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.workspace = base / "work" / "project"
        self.home = base / "home"
        self.outside = base / "outside"
        self.clew_home = self.home / ".clew"
        for folder in (
            self.home / ".ssh",
            self.clew_home / "projects" / "key",
            self.clew_home / "teams/t/inboxes",
            self.outside,
        ):
            folder.mkdir(parents=True)
        for name in FILES.split():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("one\ntwo\n")
        (self.workspace / ".git").mkdir()
        (base / "work" / "project-evil").mkdir()
        (base / "work" / "secret").write_text("secret")
        (self.home / ".ssh" / "id_rsa").write_text("key")
        for name in ("vault.json", "vault.key", "settings.json", "trust.json"):
            (self.clew_home / name).write_text("{}")
        (self.clew_home / "projects" / "key" / "own.jsonl").write_text("")

    def placeholders(self) -> dict[str, str]:
        own = str(self.clew_home)
        return {
            "WORKSPACE": str(self.workspace),
            "WORKSPACE_NAME": self.workspace.name,
            "OUTSIDE": str(self.outside),
            "OUTSIDE_SIBLING": f"{self.workspace}-evil",
            "HOME": str(self.home),
            "AGENT_HOME": own,
            "AGENT_HOME_NAME": ".clew",
            "USER_SETTINGS": f"{own}/settings.json",
            "USER_SETTINGS_NAME": "settings.json",
            "TRUST_STORE": f"{own}/trust.json",
            "VAULT": f"{own}/vault.json",
            "VAULT_NAME": "vault.json",
            "VAULT_KEY": f"{own}/vault.key",
            "SESSION_FILE": f"{own}/projects/key/own.jsonl",
            "OTHER_SESSION_FILE": f"{own}/projects/other/other.jsonl",
            "CONTROL_SOCKET": f"{own}/control.sock",
            "LEAD_INBOX": f"{own}/teams/t/inboxes/lead.jsonl",
            "REMOTE_PORT": "4711",
            "PROJECT_CONF": ".clew",
            "PROJECT_CONF_UPPER": ".CLEW",
            "PROJECT_SETTINGS": ".clew/settings.json",
            "PROJECT_SETTINGS_NAME": "settings.json",
        }

    def fill(self, text: str) -> str:
        """Put the fixture's paths in; `${HOME}` is bash, not a placeholder."""
        text = text.replace("${HOME}", "$<home>")
        for name, value in self.placeholders().items():
            text = text.replace("{" + name + "}", value)
        return text.replace("$<home>", "${HOME}")

    def check(self, **case: Any) -> dict[str, Any]:
        """One case through the same door as `clew permissions check --jsonl`."""
        return check_line(msgspec.json.encode({"id": "t", **case}), str(self.workspace))

    def command(self, command: str, **case: Any) -> str:
        return self.check(command=self.fill(command), **case)["verdict"]

    def setup(self, steps: list[list[str]]) -> None:
        """The steps of a path case."""
        for step in steps:
            path = self.workspace / self.fill(step[1])
            path.parent.mkdir(parents=True, exist_ok=True)
            if step[0] == "mkdir":
                path.mkdir(exist_ok=True)
            elif step[0] == "write":
                path.write_text(step[2])
            elif step[0] == "symlink":
                path.symlink_to(self.fill(step[2]))
            elif step[0] == "hardlink":
                os.link(self.fill(step[2]), path)
            elif step[0] == "mkfifo":
                os.mkfifo(path)
            elif step[0] == "sparse":
                with path.open("wb") as file:
                    file.truncate(int(step[2]))
            else:
                raise ValueError(f"unknown setup step {step[0]}")
