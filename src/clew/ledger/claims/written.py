"""Statements that files were written, changed or deleted."""

import re
from collections.abc import Iterator

from clew.ledger.claims.reality import is_real
from clew.ledger.claims.statements import Statement

_FILE = r"⟦[FG](\d+)⟧"
_CHANGED = (
    r"(?:created|wrote|written|added|updated|modified|edited|changed|deleted|removed|rewrote|rewritten|refactored|"
    r"renamed|"
    r"extended|fixed|implemented|cleaned up|generated|saved|simplified|adjusted|corrected|"
    r"replaced|moved|extracted|split|converted|inlined|introduced|resolved|dropped|appended|inserted|reverted|"
    r"documented|consolidated|populated|clarified|improved|enhanced|migrated|tightened|wrapped|switched|rewired|"
    r"erstellt|geschrieben|hinzugefügt|geändert|aktualisiert|angepasst|gelöscht|entfernt|angelegt|"
    r"créé|écrit|ajouté|modifié|mis à jour|supprimé|corrigé|"
    r"creado|creé|escrito|escribí|añadido|añadí|agregado|agregué|actualizado|actualicé|modificado|modifiqué|"
    r"eliminado|eliminé)"
)
_BEGIN = r"(?:^\W*|\b(?:I|I've|we|we've|have|and|also|then|successfully|by|done)\s+|[,:(.—–-]\s+|[✅✓✔]\s*)"
_FILES = rf"{_FILE}(?:(?:\s*,\s*(?:and\s+)?|\s+(?:and|und|et|y|&)\s+|\s*[+&]\s*){_FILE})*"
_ENDS = (
    r"(?=\s*(?:$|[.,:;()—–\[-]|(?:to|with|in|at|for|and|so|by|which|that|now|where|when|because|after|instead|from|"
    r"using|as|on|file|changes?|into|under|accordingly|pour|"
    r"para|mit|um)\b))"
)
_NO_OBJECT = (
    r"(?:for|of|about|via|with|using|like|by|as|on|against|than|over|under|between|that|which|who|to|in|from|at|"
    r"into|if|when|"
    r"how|where|and|or|references?|links?|\w+ing|für|von|mit|pour|de|avec|con|sobre)\b"
)
_WRITES_FILE = (
    re.compile(
        rf"{_BEGIN}{_CHANGED}(?:\s*:)?\s+"
        rf"(?:(?!{_NO_OBJECT})[\w-]+\s+){{0,4}}"
        rf"{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_BEGIN}{_CHANGED}\s+(?:(?!{_CHANGED}\b)[^.;⟦]|\.(?=\w)|⟦[CTH]\d+⟧){{0,120}}?(?<!\w)"
        rf"(?<!references )(?<!reference )(?<!links )(?<!link )(?<!similar )(?<!compared )(?<!related )"
        rf"(?<!identical )(?<!calls )"
        rf"(?<!imports )(?<!according )(?<!due )(?:(?:in|to|into|at|from)\s+(?:(?:the|a|new|"
        rf"file)\s+){{0,2}}{_FILES}{_ENDS}|\({_FILES}(?:\)|,|:))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{_FILE}:?\s+(?:(?:two|three|four|several|minor|small|type|\d+)\s+)?(?:changes?|additions?|updates|"
        rf"fixes)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\({_FILES}\)\s*:\s*{_CHANGED}\b", re.IGNORECASE),
    re.compile(
        rf"\bthe fix\s+(?:adds|was|is|changes|updates|removes)\b[^.;]{{0,120}}?(?:in|at|to|"
        rf"of)\s+{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:fix(?:es)?|changes?|changed|edits?|updates|additions?)\s+(?:(?:was|were|is|are)\s+)?(?:(?:entirely|"
        rf"only|all|"
        rf"I|made|done|one line)\s+){{0,3}}(?:in|to|at)\s+(?:(?:the|integration|unit|test|"
        rf"file)\s+){{0,4}}{_FILES}{_ENDS}|"
        rf"\bfix (?:was|is) (?:adding|updating|changing)\s+{_FILES}{_ENDS}|"
        rf"\b(?:fix(?:es)?|changes?|modified files?)\s+\({_FILES}\)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:(?:doc|document|report|plan|summary|script|file|test|notes?|results?|output)s?\s+(?:is |was |"
        rf"has been )?(?:written|saved|added|created|updated)|"
        rf"changes?(?:\s+made)?|edits?)\s+(?:in|to|at|as)\s+{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:\d+[.)]\s+)?{_FILES}(?:\s*\([^)]*\))?(?:(?:\s+\w+){{0,2}}:\s*(?:[^.;]{{1,60}}(?:,|\band)\s+)?|"
        rf"\s+)(?:(?:is|was|now|also|field|fields|section|entry|"
        rf"function|method|tests?)\s+)?{_CHANGED}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_FILE}\s+(?:(?:file|files)\s+)?(?:was|were|has been|have been|is now|are now|wurde|wurden|a été|"
        rf"ont été|ha sido|"
        rf"fue)\s+(?:(?:also|now|successfully|newly|neu|également|también)\s+)?{_CHANGED}\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:ich habe|habe|wir haben)\s+{_FILE}\s+(?:\S+\s+){{0,4}}?{_CHANGED}\b", re.IGNORECASE),
    re.compile(rf"^(?:j'ai|he|hemos|nous avons)\s+{_CHANGED}\s+(?:\S+\s+){{0,2}}?{_FILE}", re.IGNORECASE),
    re.compile(
        rf"(?:已|已经)?(?:创建|新建|修改|更新|编辑|删除|写入|添加|新增|重写)(?:了)(?:文件|新文件)?\s*{_FILE}|"
        rf"已(?:经)?(?:创建|新建|修改|更新|编辑|删除|写入|添加|新增|重写)(?:文件|新文件)?\s*{_FILE}"
    ),
)
_NO_CHANGE = re.compile(rf"\b{_CHANGED}\s+(?:nothing|no|not|neither)\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?⟦[FG]")
_TAKES_OUT = re.compile(r"\b(?:removed|deleted|dropped|moved|extracted|entfernt|supprimé|eliminado)\b", re.IGNORECASE)
_FILE_LISTED = re.compile(rf"^{_FILE}")


def files_written(statement: Statement) -> Iterator[str]:
    """The files that it tells to be written, changed or deleted."""
    if statement.listed and (found := _FILE_LISTED.match(statement.text)):
        yield statement.name(found.group(1))
    first = _FILE_LISTED.match(statement.text) is not None
    for pattern in _WRITES_FILE:
        for found in pattern.finditer(statement.text):
            named = found.group(0)
            subject = named.startswith("⟦")
            if first and not subject:
                continue  # the line is about the file that it begins with
            if _FROM.search(named) and not _TAKES_OUT.search(named):
                continue
            told = is_real(statement.text, found.start(), found.end() if subject else found.start())
            if told and not _NO_CHANGE.search(named):
                yield from (statement.name(number) for number in re.findall(_FILE, named))
