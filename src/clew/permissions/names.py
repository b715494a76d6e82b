"""Names that run programs or hold secrets, and odd ones. The list itself is shared with the sandbox."""

import re
from unicodedata import normalize

from clew.permissions.word_set import word_set
from clew.system.guarded_names import components, folded, protected_name, secret_name

__all__ = ["CRITICAL", "HIDDEN_IN_NAME", "components", "folded", "odd_name", "protected_name", "secret_name"]

# Directories that a system or its people cannot lose.
CRITICAL = word_set(
    """/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /usr/bin
    /usr/lib /usr/sbin /usr/local /usr/share /var /var/lib /var/log /Users /System /Library /Applications
    /private /private/etc /private/var /Volumes /cores"""
)
HIDDEN_IN_NAME = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def odd_name(path: str) -> str:
    """Why a name must be shown before it is used, or an empty string."""
    if HIDDEN_IN_NAME.search(path):
        return "the name holds control, invisible or direction-changing characters"
    parts = [part for part in path.split("/") if part not in ("", ".", "..") and not part.isascii()]
    if any(read in ("..", ".") or "/" in read or "\\" in read for read in (normalize("NFKC", part) for part in parts)):
        return "the name holds look-alikes of dots or slashes"
    return ""
