"""What a call would change in a file, before it is allowed: with line numbers and what stands around it."""

import os
from typing import Any

import msgspec

from clew.host.part import OpRefused
from clew.protocol.display import DiffBlock
from clew.protocol.lookups.session import PreviewEdit
from clew.text.encoding import decode
from clew.tools.builtin.edit import EditParams, NoReplacement, Replacement, apply_all, text_of
from clew.tools.builtin.write import existing
from clew.tools.text_diff import diff_block

NO_FILE = "what it would change cannot be shown"


def previewed(lookup: PreviewEdit, cwd: str) -> DiffBlock:
    """The change as a diff of the file as it is now. Nothing is changed. Raises OpRefused where there is no file to
    compare with, or where the edit does not apply."""
    given: dict[str, Any] = lookup.arguments
    path = given.get("file_path")
    if not isinstance(path, str) or not path:
        raise OpRefused(NO_FILE)
    target = os.path.join(cwd, os.path.expanduser(path))
    try:
        old = existing(target)
        if lookup.tool == "Write":
            content = given.get("content")
            found = decode(old.data) if old is not None and old.data else None
            if not isinstance(content, str) or (old is not None and old.data and found is None):
                raise OpRefused(NO_FILE)
            return diff_block(target, found[0] if found is not None else "", content, created=old is None)
        before, _ = text_of(old)
        if before is None:
            raise OpRefused(NO_FILE)
        after, _ = apply_all(before, _edits(given))
        return diff_block(target, before, after, created=old is None)
    except (OSError, NoReplacement, msgspec.ValidationError, ValueError) as error:
        raise OpRefused(f"{NO_FILE}: {error}") from error


def _edits(given: dict[str, Any]) -> tuple[Replacement, ...]:
    params = msgspec.convert(given, EditParams, strict=False)
    single = Replacement(old_string=params.old_string, new_string=params.new_string, replace_all=params.replace_all)
    return params.edits or (single,)
