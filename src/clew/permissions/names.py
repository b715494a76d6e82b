"""Names that run programs or hold secrets, and odd ones. The list itself is shared with the sandbox."""

from unicodedata import normalize

from clew.text.guarded_names import components, folded, program_place, protected_name, secret_name, word_set
from clew.text.unicode_marks import HIDDEN, WANTED

__all__ = ["CRITICAL", "components", "folded", "odd_name", "program_place", "protected_name", "secret_name"]

# Directories that a system or its people cannot lose.
CRITICAL = word_set(
    """/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /usr/bin
    /usr/lib /usr/sbin /usr/local /usr/share /var /var/lib /var/log /Users /System /Library /Applications
    /private /private/etc /private/var /Volumes /cores"""
)


def odd_name(path: str) -> str:
    """Why a name must be shown before it is used, or an empty string."""
    hides = not path.isprintable() if path.isascii() else HIDDEN.search(WANTED.sub("", path))
    if hides:
        return "the name holds control, invisible or direction-changing characters"
    parts = [part for part in path.split("/") if part not in ("", ".", "..") and not part.isascii()]
    if any(read in ("..", ".") or "/" in read or "\\" in read for read in (normalize("NFKC", part) for part in parts)):
        return "the name holds look-alikes of dots or slashes"
    return ""
