"""Writing a prompt in the person's own editor: which one, and the text there and back through a private file."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from clew.system.environment import own_program

MAX_TEXT_BYTES = 10_000_000
_USUAL = ("nano", "vim", "vi", "emacs")


class EditorProblem(Exception):
    """The text could not be edited outside; says why. The text in the prompt is as it was."""


def editor_command(env: Mapping[str, str]) -> list[str]:
    """`$VISUAL`, else `$EDITOR`, else the first usual editor there is."""
    for name in ("VISUAL", "EDITOR"):
        if env.get(name, "").strip():
            try:
                first, *rest = shlex.split(env[name])
            except ValueError as error:
                raise EditorProblem(f"${name} cannot be understood: {error}") from error
            found = own_program(first, env)
            if not found and shutil.which(first, path=env.get("PATH")):
                raise EditorProblem(f"${name} names {first}, which lies in the project, where commands can change it.")
            return [found or first, *rest]
    found = next((path for name in _USUAL if (path := own_program(name, env))), "")
    if not found:
        raise EditorProblem("No editor was found: set $EDITOR.")
    return [found]


def edit_outside(text: str, command: list[str], *, cwd: str | None = None) -> str:
    """The text as it was saved. Blocks until the editor has ended: call it from a thread, with the terminal free."""
    with tempfile.TemporaryDirectory(prefix="clew-prompt-") as folder:
        path = Path(folder) / "prompt.md"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        try:
            ended = subprocess.run([*command, str(path)], check=False, cwd=cwd)
        except OSError as error:
            raise EditorProblem(f"{command[0]} could not be started: {error.strerror or error}") from error
        if ended.returncode != 0:
            raise EditorProblem(f"{command[0]} ended with {ended.returncode}; the text stays as it was.")
        try:
            with path.open("rb") as file:
                data = file.read(MAX_TEXT_BYTES + 1)
        except OSError as error:
            raise EditorProblem(f"The text could not be read back: {error.strerror or error}") from error
    if len(data) > MAX_TEXT_BYTES:
        raise EditorProblem(f"The text is larger than {MAX_TEXT_BYTES:,} bytes; it stays as it was.")
    back = data.decode("utf-8", "replace").replace("\r\n", "\n")
    # Editors end a file with a line end of their own.
    return back[:-1] if back.endswith("\n") and not text.endswith("\n") else back
