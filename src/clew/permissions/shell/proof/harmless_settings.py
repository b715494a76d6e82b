"""The git settings that cannot make a reading command start a program or read elsewhere (G1). All others ask.

Read against git's own documentation of its settings (2.39 to 2.52). Sections that only matter for commands which are
never proven (fetching, committing, editing) are harmless here: nothing proven uses the network, an editor or a helper.
"""

import re

from clew.system.git_config import Setting
from clew.text.word_set import word_set

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
