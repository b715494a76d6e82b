"""Members of an archive that is about to be unpacked (F4): only plain files below a new directory."""

from typing import Literal

from clew.permissions.names import odd_name, protected_name

MemberKind = Literal["file", "directory", "symlink", "hardlink", "device", "fifo", "other"]

MAX_MEMBERS = 10_000
MAX_MEMBER_BYTES = 100_000_000
MAX_TOTAL_BYTES = 500_000_000
MAX_DEPTH = 64


def refuse_member(name: str, kind: MemberKind = "file", *, size_bytes: int = 0) -> str:
    """Why this member must not be unpacked, or an empty string."""
    if kind not in ("file", "directory"):
        return f"archive member is no plain file ({kind})"
    if not name or "\0" in name or len(name.encode("utf-8", "surrogatepass")) > 4095:
        return "archive member has no usable name"
    unified = name.replace("\\", "/")
    if unified.startswith(("/", "~")) or (len(name) > 1 and name[1] == ":" and name[0].isalpha()):
        return "archive member has an absolute path"
    parts = unified.split("/")
    if ".." in parts or any(part.strip(". ") == "" and part not in ("", ".") for part in parts):
        return "archive member climbs out of its directory"
    if len(parts) > MAX_DEPTH or any(len(part.encode("utf-8", "surrogatepass")) > 255 for part in parts):
        return "archive member lies too deep or has too long a name"
    if size_bytes > MAX_MEMBER_BYTES:
        return f"archive member is larger than {MAX_MEMBER_BYTES:,} bytes"
    if hidden := odd_name(unified):
        return f"archive member: {hidden}"
    if guarded := protected_name(unified):
        return f"archive member would place {guarded}"
    return ""


def refuse_archive(members: int, total_bytes: int) -> str:
    """Why the archive as a whole must not be unpacked, or an empty string."""
    if members > MAX_MEMBERS:
        return f"archive has more than {MAX_MEMBERS:,} members"
    if total_bytes > MAX_TOTAL_BYTES:
        return f"archive unpacks to more than {MAX_TOTAL_BYTES:,} bytes"
    return ""
