"""What a repository would make a reading git command run (G1): its settings, hooks and gitlinks, read as bytes.

The git settings that cannot make a reading command start a program or read elsewhere (G1). All others ask.

Read against git's own documentation of its settings (2.39 to 2.52). Sections that only matter for commands which are
never proven (fetching, committing, editing) are harmless here: nothing proven uses the network, an editor or a helper.
"""

import os
import re
from pathlib import Path

from clew.permissions.effort import look
from clew.permissions.files import Places
from clew.system.git.config import ConfigError, Setting, parse_config
from clew.system.git.index import IndexUnclear, gitlinks
from clew.system.git.layout import Repository, file_start, find_repository
from clew.text.guarded_names import word_set

_WHOLE_SECTIONS = word_set(
    """user author committer init pull push fetch rebase am apply commit rerere advice color column gui gitk
    credential http url alias difftool mergetool guitool sendemail imap format-patch clean checkout clone feature index
    pack receive transfer maintenance svn svn-remote gitflow github gitlab lint review gitreview ssh blame"""
)
_KEYS: dict[str, frozenset[str]] = {
    "core": word_set(
        """repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol
        safecrlf quotepath abbrev compression loosecompression bigfilethreshold preloadindex untrackedcache checkstat
        trustctime sparsecheckout sparsecheckoutcone commitgraph multipackindex sharedrepository protectntfs protecthfs
        longpaths fscache hidedotfiles whitespace commentchar commentstring packedgitlimit packedgitwindowsize
        deltabasecachelimit fsync fsyncmethod fsyncobjectfiles splitindex editor pager sshcommand gitproxy askpass
        createobject checkroundtripencoding hookspath maxtreedepth usereplacerefs warnambiguousrefs"""
    ),
    "extensions": word_set(
        """objectformat compatobjectformat refstorage worktreeconfig noop preciousobjects relativeworktrees"""
    ),
    "remote": word_set(
        """url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate pushdefault gh-resolved"""
    ),
    "branch": word_set(
        """remote merge rebase pushremote description autosetupmerge autosetuprebase vscode-merge-base gh-merge-base
        github-pr-owner-number mergeoptions"""
    ),
    "submodule": word_set("""url active path branch ignore shallow fetchrecursesubmodules recurse fetchjobs"""),
    "diff": word_set(
        """algorithm renames renamelimit colormoved colormovedws mnemonicprefix noprefix context interhunkcontext
        ignoresubmodules indentheuristic statgraphwidth statnamewidth suppressblankempty tool guitool wordregex
        dirstat relative wserrorhighlight xfuncname funcname binary cachetextconv srcprefix dstprefix
        autorefreshindex"""
    ),
    "merge": word_set(
        """conflictstyle ff log renames renamelimit directoryrenames stat tool guitool verbosity autostash
        branchdesc defaulttoupstream suppressdest verifysignatures renormalize"""
    ),
    "log": word_set(
        """date decorate abbrevcommit follow graphcolors mailmap excludedecoration showroot initialdecorationset"""
    ),
    "status": word_set(
        """relativepaths short branch aheadbehind displaycommentprefix renames renamelimit showuntrackedfiles
        showstash"""
    ),
    "stash": word_set("""showpatch showstat showincludeuntracked"""),
    "tag": word_set("""gpgsign forcesignannotated"""),
    # No proven command checks a signature: formats that would are refused (tables/git.py).
    "gpg": word_set("""format program mintrustlevel allowedsignersfile"""),
    "gc": word_set(
        """auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable writecommitgraph"""
    ),
    "lfs": word_set("""repositoryformatversion locksverify access url pushurl concurrenttransfers"""),
    "worktree": word_set("""guessremote userelativepaths"""),
    "grep": word_set("""linenumber column patterntype extendedregexp threads fullname"""),
}
# No alias takes the place of a command, except of one that git itself has given up.
_ALIASABLE = word_set("whatchanged pack-redundant")
_SWITCH = re.compile(r"(?i)(?:true|false|yes|no|on|off|0|1)?")
_OFF = re.compile(r"(?i)(?:false|no|off|0)")
_LFS = re.compile(r"git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?")


def unsafe_setting(setting: Setting, *, submodule: bool = False) -> str:
    """The setting by its name if it is not known to be harmless, or an empty string."""
    section, key, value = setting.section, setting.key, setting.value or ""
    if section == "alias" and key in _ALIASABLE:
        return f"alias.{key}"
    if section in _WHOLE_SECTIONS or key in _KEYS.get(section, ()):
        return ""
    harmless = (
        (section == "core" and key == "fsmonitor" and _SWITCH.fullmatch(value))
        or (section == "log" and key == "showsignature" and setting.value is not None and _OFF.fullmatch(value))
        or (section == "pager" and _SWITCH.fullmatch(value))
        or (section == "submodule" and key == "update" and value in ("checkout", "rebase", "merge", "none"))
        or (section == "filter" and key in ("clean", "smudge", "process") and _LFS.fullmatch(value))
        or (section == "filter" and key == "required")
        or (section == "core" and key == "worktree" and submodule)
    )
    return "" if harmless else f"{section}.{key}"


_MAX_CONFIG = 1_000_000
_MAX_LEVELS = 4
_HOOK = "post-index-change"


def refuse_repository(cwd: str, places: Places, *, work_tree: bool) -> str:
    """Why git in this directory may run a program of the repository's choice, or an empty string.

    `work_tree`: the command compares files with the index, so hooks on index refresh and gitlinks matter as well.
    """
    if why := _foreign(cwd, places):
        return why
    start = Path(cwd)
    while True:
        repository = find_repository(start)
        if repository is None:
            return ""
        if why := _refuse(repository, work_tree=work_tree, submodule=_is_module(repository), level=0):
            return why
        if _surely_taken(repository) or repository.root.parent == repository.root:
            return ""
        # git may take this one for damaged and go on to the next one above.
        start = repository.root.parent


def _foreign(cwd: str, places: Places) -> str:
    """git in a nested or bare repository obeys that repository's configuration: ask first."""
    root = places.inside(cwd)
    if not root:
        return "git would run outside the workspace"
    place = cwd
    while len(place) > len(root):
        look(2)
        if os.path.lexists(os.path.join(place, ".git")):
            return "this is another repository inside the workspace"
        if os.path.isfile(os.path.join(place, "HEAD")) and os.path.isdir(os.path.join(place, "objects")):
            return "this is a bare repository inside the workspace"
        place = os.path.dirname(place)
    return ""


def _surely_taken(repository: Repository) -> bool:
    return os.path.isdir(repository.common_dir / "objects") and os.path.isdir(repository.common_dir / "refs")


def _is_module(repository: Repository) -> bool:
    return "modules" in repository.git_dir.parts


def _refuse(repository: Repository, *, work_tree: bool, submodule: bool, level: int) -> str:
    look(8)
    if why := _refuse_layout(repository):
        return why
    hooks = repository.common_dir / "hooks"
    for path in (repository.common_dir / "config", repository.git_dir / "config.worktree"):
        data = file_start(path, _MAX_CONFIG)
        if len(data) >= _MAX_CONFIG:
            return "the repository's configuration is too long to be read"
        try:
            settings = parse_config(data.decode("utf-8", "replace"))
        except ConfigError as problem:
            return f"the repository's configuration is unclear: {problem}"
        for setting in settings:
            if name := unsafe_setting(setting, submodule=submodule):
                return f"the repository's configuration sets {name}, which is not known to be harmless"
            if (setting.section, setting.key) == ("core", "hookspath"):
                hooks = repository.root / os.path.expanduser(setting.value or "")
    if not work_tree:
        return ""
    if os.path.lexists(hooks / _HOOK):
        return f"the repository has a {_HOOK} hook, which reading may start"
    return _refuse_gitlinks(repository, level)


def _refuse_layout(repository: Repository) -> str:
    """Only the plain forms: git's own directory, a submodule's, or that of a worktree made by git."""
    dot_git = repository.root / ".git"
    if os.path.islink(dot_git):
        return "the repository's own directory is a link"
    common = file_start(repository.git_dir / "commondir", 4096)
    if common and (common != b"../..\n" or repository.git_dir.parent.name != "worktrees"):
        return "the repository takes its configuration from elsewhere (commondir)"
    if os.path.isfile(dot_git):
        pointer = file_start(dot_git, 4096)
        if not pointer.endswith(b"\n") or pointer.count(b"\n") != 1 or b"\r" in pointer:
            return "the pointer to the repository is unclear"
    return ""


def _refuse_gitlinks(repository: Repository, level: int) -> str:
    """Status and diff start git inside every checked-out gitlink, named in .gitmodules or not."""
    try:
        links = gitlinks(repository)
    except IndexUnclear as problem:
        return f"it cannot be told which other repositories git would look into: {problem}"
    for name in links:
        inner = repository.root / name
        look()
        if name.startswith("/") or ".." in name.split("/") or not os.path.lexists(inner / ".git"):
            continue
        if level >= _MAX_LEVELS:
            return "repositories are nested too deep to be judged"
        nested = find_repository(inner)
        if nested is None or nested.root != inner:
            return f"the repository in {name} cannot be read"
        if why := _refuse(nested, work_tree=True, submodule=True, level=level + 1):
            return f"{name}: {why}"
    return ""
