"""Which git settings are harmless, for proofs of reading commands and for what a confined command left behind.

No section is harmless as a whole. A key stands in one of three tables, read against git's documentation of its settings
(2.39 to 2.52); every other key asks. Standard library only.
"""

import re
from collections.abc import Callable

from clew.system.git.config import Setting
from clew.text.guarded_names import word_set

_DATA: dict[str, frozenset[str]] = {
    "core": word_set(
        """repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol
        safecrlf quotepath abbrev compression loosecompression bigfilethreshold preloadindex untrackedcache checkstat
        trustctime sparsecheckout sparsecheckoutcone commitgraph multipackindex sharedrepository protectntfs protecthfs
        longpaths fscache hidedotfiles whitespace commentchar commentstring packedgitlimit packedgitwindowsize
        deltabasecachelimit fsync fsyncmethod fsyncobjectfiles splitindex createobject checkroundtripencoding
        maxtreedepth usereplacerefs warnambiguousrefs notesref"""
    ),
    "extensions": word_set(
        """objectformat compatobjectformat refstorage worktreeconfig noop preciousobjects relativeworktrees"""
    ),
    "user": word_set("name email useconfigonly"),
    "author": word_set("name email"),
    "committer": word_set("name email"),
    "init": word_set("defaultbranch defaultobjectformat defaultrefformat"),
    "remote": word_set("fetch push tagopt prune prunetags mirror skipdefaultupdate pushdefault gh-resolved"),
    "branch": word_set(
        """remote merge rebase pushremote description autosetupmerge autosetuprebase vscode-merge-base gh-merge-base
        github-pr-owner-number"""
    ),
    "submodule": word_set("active path branch ignore shallow fetchrecursesubmodules recurse fetchjobs"),
    "diff": word_set(
        """algorithm renames renamelimit colormoved colormovedws mnemonicprefix noprefix context interhunkcontext
        ignoresubmodules indentheuristic statgraphwidth statnamewidth suppressblankempty wordregex dirstat relative
        wserrorhighlight xfuncname funcname binary cachetextconv srcprefix dstprefix autorefreshindex"""
    ),
    "merge": word_set(
        """conflictstyle ff log renames renamelimit directoryrenames stat verbosity autostash branchdesc
        defaulttoupstream suppressdest verifysignatures renormalize name"""
    ),
    "log": word_set(
        """date decorate abbrevcommit follow graphcolors mailmap excludedecoration showroot initialdecorationset"""
    ),
    "status": word_set(
        """relativepaths short branch aheadbehind displaycommentprefix renames renamelimit showuntrackedfiles
        showstash"""
    ),
    "pull": word_set("ff rebase"),
    "push": word_set("default autosetupremote followtags gpgsign recursesubmodules useforceifincludes negotiate"),
    "fetch": word_set(
        """prune prunetags output all parallel recursesubmodules fsckobjects unpacklimit showforcedupdates
        writecommitgraph negotiationalgorithm"""
    ),
    "rebase": word_set(
        """backend stat autosquash autostash updaterefs missingcommitscheck abbreviatecommands reschedulefailedexec
        forkpoint rebasemerges maxlabellength"""
    ),
    "am": word_set("keepcr threeway"),
    "apply": word_set("ignorewhitespace whitespace"),
    "commit": word_set("cleanup status verbose gpgsign"),
    "rerere": word_set("enabled autoupdate"),
    "stash": word_set("showpatch showstat showincludeuntracked"),
    "tag": word_set("gpgsign forcesignannotated"),
    "gpg": word_set("format mintrustlevel"),
    "gc": word_set(
        """auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable writecommitgraph
        worktreepruneexpire packrefs bigpackthreshold cruftpacks"""
    ),
    "maintenance": word_set("auto autodetach strategy enabled schedule"),
    "lfs": word_set("repositoryformatversion locksverify access concurrenttransfers"),
    "worktree": word_set("guessremote userelativepaths"),
    "grep": word_set("linenumber column patterntype extendedregexp threads fullname fallbacktonoindex"),
    "blame": word_set(
        "coloring showroot showemail blankboundary date markunblamablelines markignoredlines repeatedlines"
    ),
    "clean": word_set("requireforce"),
    "checkout": word_set("defaultremote guess workers thresholdforparallelism"),
    "clone": word_set("defaultremotename rejectshallow filtersubmodules"),
    "feature": word_set("experimental manyfiles"),
    "index": word_set("recordendofindexentries recordoffsettable sparse threads version skiphash"),
    "pack": word_set(
        """window depth windowmemory threads compression indexversion packsizelimit usebitmaps usesparse
        writebitmaphashcache writereverseindex deltacachesize deltacachelimit allowpackreuse"""
    ),
    "receive": word_set(
        """denycurrentbranch denynonfastforwards denydeletes denydeletecurrent autogc fsckobjects unpacklimit
        maxinputsize updateserverinfo advertiseatomic advertisepushoptions"""
    ),
    "transfer": word_set("fsckobjects hiderefs unpacklimit credentialsinurl advertisesid"),
    "interactive": word_set("singlekey"),
    "versionsort": word_set("suffix"),
    "ssh": word_set("variant"),
    "gitflow": word_set("initialized origin master develop feature bugfix release hotfix support versiontag"),
}
"""Harmless in every command: neither a program, nor a path, nor a host."""

_NOT_WHEN_READING: dict[str, frozenset[str]] = {
    "core": word_set("editor pager sshcommand gitproxy askpass hookspath"),
    "user": word_set("signingkey"),
    "init": word_set("templatedir"),
    "remote": word_set("url pushurl proxy"),
    "branch": word_set("mergeoptions"),
    "submodule": word_set("url"),
    "diff": word_set("tool guitool"),
    "merge": word_set("tool guitool"),
    "pull": word_set("octopus twohead"),
    "push": word_set("pushoption"),
    "rebase": word_set("instructionformat"),
    "commit": word_set("template"),
    "gpg": word_set("program allowedsignersfile defaultkeycommand revocationfile"),
    "sequence": word_set("editor"),
    "maintenance": word_set("repo"),
    "lfs": word_set("url pushurl"),
    "credential": word_set("helper username usehttppath interactive protectprotocol"),
    "http": word_set(
        """proxy proxyauthmethod proxysslcert proxysslkey proxysslcainfo sslverify sslcainfo sslcapath sslcert sslkey
        sslversion sslbackend cookiefile savecookies extraheader postbuffer lowspeedlimit lowspeedtime version
        useragent followredirects maxrequests delegation emptyauth pinnedpubkey curloptresolve"""
    ),
    "url": word_set("insteadof pushinsteadof"),
    "difftool": word_set("cmd path prompt trustexitcode guidefault"),
    "mergetool": word_set("cmd path prompt trustexitcode keepbackup hidetemp keeptemporaries writetotemp"),
    "format": word_set(
        """attach headers to cc subjectprefix suffix from signature signaturefile numbered coverletter thread
        signoff outputdirectory useautobase encodeemailheaders"""
    ),
    "sendemail": word_set(
        """smtpserver smtpserverport smtpserveroption smtpuser smtppass smtpencryption smtpdomain smtpauth
        smtpsslcertpath from to cc bcc confirm suppresscc chainreplyto thread annotate aliasfiletype aliasesfile
        envelopesender signedoffbycc validate xmailer tocmd cccmd headercmd sendmailcmd identity multiedit"""
    ),
    "imap": word_set("folder host user pass port sslverify tunnel authmethod preformattedhtml"),
    "gui": word_set("geometry wmstate spellingdictionary pruneduringfetch trustmtime diffcontext tabsize encoding"),
    "svn-remote": word_set("url fetch branches tags rewriteroot rewriteuuid pushurl ignore-paths include-paths"),
    "svn": word_set("authorsfile noauthuser uselogauthor pathnameencoding"),
    "github": word_set("user token"),
    "gitlab": word_set("user token"),
    "gitreview": word_set("username remote"),
}
"""Programs, paths and hosts that no reading command asks for; who commits, fetches or edits obeys them."""

_PATHS = {"core": word_set("excludesfile attributesfile"), "blame": word_set("ignorerevsfile"),
          "diff": word_set("orderfile"), "mailmap": word_set("file")}  # fmt: skip
"""Files that reading commands open, and whose words they may repeat in an error."""

_WORDS_ONLY = word_set("advice color column")
"""Sections of switches and colours: a value that can be neither a path nor a command is harmless."""
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9#, -]*")
# No alias takes the place of a command, except of one that git itself has given up.
_ALIASABLE = word_set("whatchanged pack-redundant")
_SWITCH = re.compile(r"(?i)(?:true|false|yes|no|on|off|0|1)?")
_OFF = re.compile(r"(?i)(?:false|no|off|0)")
_LFS = re.compile(r"git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?")
_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://[^-\s][^\s]*|/[^:\s]*|[\w.-]+@[\w.-]+:[^:\s-][^:\s]*|\.{1,2}/[^:\s]*")


def unsafe_for_reading(setting: Setting, refuse_path: Callable[[str], str], *, submodule: bool = False) -> str:
    """The setting by its name if it may make a reading command run a program or read elsewhere, or an empty string.

    `refuse_path` judges a value that is a path: a reason, or an empty string. `submodule`: the repository is one.
    """
    if setting.section == "core" and setting.key == "worktree" and submodule:
        return ""
    if setting.section == "alias":
        return f"alias.{setting.key}" if setting.key in _ALIASABLE else ""
    if setting.key in _NOT_WHEN_READING.get(setting.section, ()):
        return ""
    if setting.key in _PATHS.get(setting.section, ()) and setting.value is not None:
        return f"{setting.section}.{setting.key}" if setting.value and refuse_path(setting.value) else ""
    return unsafe_for_everybody(setting)


def unsafe_for_everybody(setting: Setting) -> str:
    """The setting by its name if any git command may run, read or reach something by it, or an empty string."""
    section, key, value = setting.section, setting.key, setting.value or ""
    if key in _DATA.get(section, ()):
        return ""
    harmless = (
        (section in _WORDS_ONLY and _PLAIN_WORDS.fullmatch(value))
        or (section in ("remote", "submodule") and key in ("url", "pushurl") and _ADDRESS.fullmatch(value))
        or (section == "core" and key == "fsmonitor" and _SWITCH.fullmatch(value))
        or (section == "log" and key == "showsignature" and setting.value is not None and _OFF.fullmatch(value))
        or (section == "pager" and _SWITCH.fullmatch(value))
        or (section == "submodule" and key == "update" and value in ("checkout", "rebase", "merge", "none"))
        or (section == "filter" and key in ("clean", "smudge", "process") and _LFS.fullmatch(value))
        or (section == "filter" and key == "required")
    )
    return "" if harmless else f"{section}.{key}"
