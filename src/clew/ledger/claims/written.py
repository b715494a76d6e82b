"""Statements that files were written, changed or deleted.

A deed is told in one of five ways: somebody did it (`Added a retry to F`), it was done (`F was rewritten`, `retry added
to F`), the file is different now (`F now reads it once`), something is new (`a new module, F`), or the file is an item
of a list of changes.
"""

import re
from collections.abc import Iterator

from clew.ledger.claims.reality import is_real
from clew.ledger.claims.statements import Statement

_FILE = r"⟦[FG](\d+)⟧"
_MARK = re.compile(_FILE)
_DID = (
    r"(?:(?:re)?wr(?:ote|itten)|(?:re)?created|added|updated|modified|edited|changed|deleted|removed|(?:re)?generated|"
    r"renamed|refactored|extended|fixed|implemented|cleaned up|saved|simplified|adjusted|corrected|replaced|"
    r"moved|extracted|split|converted|inlined|introduced|resolved|dropped|appended|inserted|reverted|documented|"
    r"consolidated|populated|clarified|improved|enhanced|migrated|tightened|wrapped|switched|rewired|bumped|raised|"
    r"lowered|increased|reduced|applied|patched|reworked|restructured|registered|ported|trimmed|hardened|"
    r"reformatted|formatted|expanded|swapped|merged|wired(?: up)?|hooked up)"
)
_FOREIGN = re.compile(
    r"\b(?:erstellt|geschrieben|hinzugefügt|ergänzt|geändert|aktualisiert|angepasst|gelöscht|entfernt|angelegt|"
    r"korrigiert|behoben|überarbeitet|ersetzt|umgestellt|umbenannt|erweitert|"
    r"(?:créé|ajouté|modifié|remplacé|supprimé|corrigé|renommé)e?s?|écrite?s?|mise?s? à jour|"
    r"(?:cread|cambiad|reemplazad|añadid|agregad|actualizad|modificad|eliminad|borrad|corregid|"
    r"renombrad)[oa]s?|escrit[oa]s?|"
    r"creé|cambié|reemplacé|escribí|añadí|agregué|actualicé|modifiqué|eliminé|corregí|"
    r"se (?:creó|escribió|añadió|agregó|actualizó|modificó|eliminó|corrigió))(?!\w)|"
    r"(?:创建|新建|修改|更新|编辑|删除|写入|添加|新增|重写|修复|保存|重命名)(?:了|到|至|在|于)|"
    r"已(?:经)?(?:在\S{0,12})?(?:被)?(?:创建|新建|修改|更新|编辑|删除|写入|添加|新增|重写|修复|保存|重命名)",
    re.IGNORECASE,
)
_BEGIN = r"(?:^[^\w⟦]*|\b(?:I|I've|we|we've|have|and|also|then|now|successfully|by|done|ahead and)\s+|[,:(.—–-]\s+)"
_AND = r"\s*(?:,\s*(?:and\s+)?|(?:and|und|et|y|&|\+)\s+)"
_FILES = rf"{_FILE}(?:{_AND}{_FILE})*"
_ENDS = (
    r"(?=\s*(?:$|[.,:;()—–\[-]|(?:to|with|in|at|for|and|so|by|which|that|now|where|when|because|after|instead|from|"
    r"using|as|on|file|changes?|into|under|accordingly|together|too|also)\b))"
)
_NO_OBJECT = (
    r"(?:for|of|about|via|with|using|like|by|as|on|against|than|over|under|between|that|which|who|to|in|from|at|"
    r"into|if|when|how|where|and|or|references?|links?|\w+ing)\b"
)
_PLACE = (
    r"(?<!references )(?<!reference )(?<!links )(?<!link )(?<!similar )(?<!compared )(?<!related )(?<!identical )"
    r"(?<!calls )(?<!imports )(?<!according )(?<!due )(?<!being )"
    r"(?:in|to|into|at|from|of|inside|across|as)\s+(?:(?:the|a|both|new|file|files|module)\s+){0,3}"
)
_ACTIVE = re.compile(rf"{_BEGIN}(?:made|put|set|{_DID})\b", re.IGNORECASE)
_REACHED = (
    re.compile(rf"(?:\s*:)?\s+(?:(?!{_NO_OBJECT})[\w-]+:?\s+){{0,4}}", re.IGNORECASE),
    re.compile(
        rf"\s+(?:(?!\b{_DID}\b|\bso that\b|\bbecause\b)(?:[^.;⟦]|\.(?=\w)|"
        rf"⟦[CTHU]\d+⟧)){{0,120}}?(?<!\w)(?:{_PLACE}|\()",
        re.IGNORECASE,
    ),
)
_INTO = re.compile(r"\s+(?:out\s+)?(?:to|into)\s+(?:[\w-]+\s+){0,4}", re.IGNORECASE)
_NEXT_FILE = re.compile(
    rf"{_AND}|{_INTO.pattern}|\)?\s*(?:,|and|plus|with|along with|as well as)\s+(?:(?!{_NO_OBJECT})[\w-]+\s+){{0,4}}\(",
    re.IGNORECASE,
)
_ADDS = re.compile(r"(?:added|appended|inserted|put)$", re.IGNORECASE)
_BE = r"(?:was|were|has been|have been|had been|is now|are now|got)\s+(?:(?:also|now|newly|\w+ly)\s+)?"
_DONE = (
    re.compile(rf"{_FILES}\)?(?:\s+files?)?(?:\s*\([^)]*\))?\s+{_BE}{_DID}\b", re.IGNORECASE),
    re.compile(
        rf"\b{_BE}{_DID}\s+(?:[^.;⟦]|\.(?=\w)|⟦[CTHU]\d+⟧){{0,60}}?(?<!\w){_PLACE}{_FILES}{_ENDS}", re.IGNORECASE
    ),
    re.compile(
        rf"^(?:\w+:\s+)?(?:(?!(?:is|are|was|were|be|been|being|that|which|who|has|have|had|gets?|\w+(?:tains|ists|hows|"
        rf"ses|ads|ites|alls|tions|ines|orts|urns))\b)[\w⟦⟧'/-]+\s+){{1,6}}{_DID}\s+(?:in|to|into|from|at|as)\s+"
        rf"(?:(?:the|a|new|file)\s+){{0,2}}{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:docs?|documents?|reports?|analys[ie]s|findings|plans?|summary|scripts?|notes?|results?|output|"
        rf"details)\s+"
        rf"(?:(?:is|are|was|were|has been|have been)\s+)?(?:written|saved|added|created|updated|stored(?! in\b))\s+"
        rf"(?:in|to|at|as|under)\s+{_FILES}{_ENDS}|"
        rf"\b(?:document|report|analysis|plan|summary|script) (?:is|lives) now (?:at|in|under)\s+{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:fix(?:es)?|changes?|changed|edits?|updates|additions?)\s+(?:(?:was|were|is|"
        rf"are)\s+)?(?:(?:entirely|only|"
        rf"all|I|made|done|one line)\s+){{0,3}}(?:in|to|at)\s+(?:(?:the|integration|unit|test|file)\s+){{0,4}}"
        rf"{_FILES}{_ENDS}|"
        rf"\bthe fix\s+(?:adds|was|is|changes|updates|removes)\b[^.;]{{0,120}}?(?:in|at|to|of)\s+{_FILES}{_ENDS}|"
        rf"\bfix (?:was|is) (?:adding|updating|changing)\s+{_FILES}{_ENDS}|"
        rf"\b(?:fix(?:es)?|changes?|modified files?)\s+\({_FILES}\)",
        re.IGNORECASE,
    ),
)
_ABOUT = (
    re.compile(
        rf"^(?:\d+[.)]\s+)?{_FILES}(?:\s*\([^)]*\))?(?:\s+\w+){{0,2}}:\s*(?:new\b(?!.*:$)|"
        rf"{_DID}\b|(?:(?!\b(?:is|are|be|that|which|where|when)\b)[^.;]){{1,60}}\b{_DID}{_ENDS}|"
        rf"(?:(?:two|three|four|several|minor|small|type|\d+)\s+)?(?:changes?|additions?|updates|fixes)\b|"
        rf"[^;]*\S\s*(?:→|->)\s*\S)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|[:,]\s+)(?:the\s+)?{_FILES}\s+(?:(?:file|module|script)\s+)?(?:now\s+(?!in\b|on\b|at\b)\w|"
        rf"(?:is|are)\s+(?:(?:now|all)\s+)?(?:gone|in place)\b|\w+s\s+[\w ]{{1,30}}\bnow\b|"
        rf"are\s+[\w ]{{1,20}}\bnow\b|has (?:a )?new\b|"
        rf"has an? (?:\w+ )?(?:entry|section|note|paragraph) (?:for|about|on) (?:it|this|that)\b)",
        re.IGNORECASE,
    ),
    re.compile(rf"{_FILE}\s*\((?:(?:is|was)\s+)?(?:new|{_DID})\b", re.IGNORECASE),
    re.compile(rf"{_FILES}[^.;⟦]{{0,30}}?,?\s+(?:which|that)\s+I(?:'ve| have)?\s+(?:\w+\s+)?{_DID}\b", re.IGNORECASE),
    re.compile(rf"{_FILES}\)?(?::|\s+[—–-])\s+{_DID}\b", re.IGNORECASE),
    re.compile(rf"^{_FILES}\s+changes?:?$", re.IGNORECASE),
    re.compile(
        rf"\b{_DID}\b[^.;⟦]{{0,60}}\bby (?:delet|remov|add|edit|chang|updat|creat|rewrit|"
        rf"mov)ing (?:the )?{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(rf"\bin\s+{_FILES},?\s+(?:I|we)(?:'ve| have)?\s+(?:also\s+)?{_DID}\b", re.IGNORECASE),
    re.compile(rf"^\W*done:\s*{_FILES}\s*(?:$|[.(])", re.IGNORECASE),
)
_NEW = re.compile(
    rf"(?<!the )(?<!this )(?<!that )\bnew(?:\s+(?!(?:to|for|of|from)\b)[\w-]+){{0,4}}?(?:\s+⟦[CT]\d+⟧)?"
    rf"(?:\s+(?:called|named|in|at)\s+|\s*[:,]\s*|\s+)(?:the\s+)?{_FILES}{_ENDS}",
    re.IGNORECASE,
)
_NO_LONGER = re.compile(r"\bno longer\b", re.IGNORECASE)
_COMMA = re.compile(r"[,，：:]")
_BY_OTHERS = re.compile(r"\bby\s+(?!(?:me|hand|\w+ing)\b)", re.IGNORECASE)
_NOTHING = re.compile(r"\s+(?:nothing|no|not|neither)\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?⟦[FG]")
_FROM_TO = re.compile(r"\bfrom\s+⟦\w+⟧\s+to\s+⟦")
_TAKES_OUT = re.compile(r"\b(?:removed|deleted|dropped|moved|extracted)\b", re.IGNORECASE)
_FILE_LISTED = re.compile(rf"^{_FILE}")
_TO_DO = re.compile(
    r"^⟦\w+⟧[^:]{0,20}:\s*(?-i:Add|Update|Use|Call|Keep|Change|Remove|Delete|Create|Should|Move|Rename|"
    r"Replace|Extract|Fix)\b"
)
"""An item that says what to do: a list of changes that are planned."""


def files_written(statement: Statement) -> Iterator[str]:
    """The files that it tells to be written, changed or deleted."""
    text = _NO_LONGER.sub("now", statement.text)
    if _MARK.search(text) is None:
        return
    first = _FILE_LISTED.match(text)
    if statement.listed and first and not _TO_DO.match(text):
        yield statement.name(first.group(1))
    for number in (*_subjects(text), *(() if first else _objects(text)), *_told_abroad(text)):
        yield statement.name(number)


def _subjects(text: str) -> Iterator[str]:
    """The files that are told to be changed, new or gone."""
    first = _FILE_LISTED.match(text) is not None
    for pattern in (*_ABOUT, *_DONE, _NEW):
        for found in pattern.finditer(text):
            named = found.group(0)
            if first and not named.startswith("⟦"):
                continue  # the line is about the file that it begins with
            others = _BY_OTHERS.match(text[found.end() :].lstrip())
            if not others and not _is_source(named) and is_real(text, found.start(), found.end()):
                yield from _MARK.findall(named)


def _objects(text: str) -> Iterator[str]:
    """The files that the speaker tells to have changed, from the verb on."""
    for verb in _ACTIVE.finditer(text):
        at, steps, told = verb.end(), _REACHED, list[str]()
        if not is_real(text, verb.start(), at) or _NOTHING.match(text, at) or _FROM_TO.search(text, at):
            continue
        for mark in _MARK.finditer(text, at):
            between = text[at : mark.start()]
            if not any(step.fullmatch(between) for step in steps) or not re.match(_ENDS, text[mark.end() :]):
                break
            if told and _INTO.match(between) and _ADDS.search(verb.group(0)):
                told.clear()  # what is added to a file is the other one's name
            if not _is_source(verb.group(0) + text[at : mark.end()]):
                told.append(mark.group(1))
            at, steps = mark.end(), (_NEXT_FILE,)
        yield from told


def _is_source(named: str) -> bool:
    """Whether something was taken from the file, which does not change it."""
    return _FROM.search(named) is not None and _TAKES_OUT.search(named) is None


def _clause_end(text: str, at: int) -> int:
    comma = _COMMA.search(text, at)
    return comma.start() if comma else len(text)


def _told_abroad(text: str) -> Iterator[str]:
    """The files of a clause in another language that tells a change, whatever the order of its words."""
    found = _FOREIGN.search(text)
    if found and is_real(text, found.start(), _clause_end(text, found.end())):
        yield from _MARK.findall(text)
