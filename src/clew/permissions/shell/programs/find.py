"""find's expression language: tests and printing; no action that writes or runs (CVE-2026-24887)."""

from clew.permissions.shell.reading.words import Word
from clew.text.guarded_names import word_set

_PLAIN = word_set(
    """-print -print0 -ls -prune -quit -not ! -o -or -a -and ( ) , -true -false -depth -d -mount -xdev -readable
    -writable -executable -empty -nouser -nogroup -daystart -noleaf -ignore_readdir_race -warn -nowarn -help
    --help -version --version"""
)
_VALUED = word_set(
    """-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin
    -atime -amin -ctime -cmin -newermt -newerat -newerct -maxdepth -mindepth -perm -user -group -uid -gid
    -links -inum -lname -ilname -printf -fstype -used -context"""
)
_PATH_VALUED = word_set("-newer -anewer -cnewer -samefile -newermm")


def read_find(words: list[Word], covered: frozenset[str] = frozenset()) -> tuple[list[Word], str]:
    """The places find would look at, and why it is not proven harmless (or an empty string)."""
    paths: list[Word] = []
    at = 0
    while at < len(words) and words[at].text in ("-H", "-L", "-P", "-O1", "-O2", "-O3"):
        at += 1
    while at < len(words) and not words[at].text.startswith(("-", "(", "!", ",")):
        paths.append(words[at])
        at += 1
    while at < len(words):
        text = words[at].text
        at += 1
        if text in _PLAIN or text in covered:
            continue
        if text not in _VALUED and text not in _PATH_VALUED:
            return paths, f"find {text} is not proven harmless"
        if at >= len(words):
            return paths, f"find {text} needs a value"
        if text in _PATH_VALUED:
            paths.append(words[at])
        at += 1
    return paths, ""
