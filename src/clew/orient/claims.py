"""What a sentence names, and what it says has happened: deeds and results that leave a trace, told or denied."""

import re
from itertools import pairwise
from typing import NamedTuple

NUMBER = re.compile(r"(?<![A-Za-z0-9_.#-])(?:v?\d+(?:[.,:]\d+)*|\d+(?:x\d+|[a-z]{1,3}))(?![A-Za-z0-9_])")
PHRASES = re.compile(
    r",\s+|:\s+|，|：|\(|\)|\s[—–]\s|"
    r"\s+(?:and|but|so|because|while|then|after|since|und|aber|weil|et|mais|y|pero|e|и|но|а)\s+"
)
_FILE = re.compile(
    r"(?<![\w/.-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,7}\b|"
    r"(?<![\w/.-])[\w@+-]+(?:\.[\w+-]+)*\.(?:[a-z][a-z0-9]{0,4})\b(?!\()|"
    r"(?<![\w/.])/[a-z][\w:./-]{2,}\b|(?<![\w/.-])(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*/[\w@.+/-]+\b|"
    r"(?<![\w/.-])[\w@.+-]+/(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*\b"
)
"""A path only if it looks like one: an extension, a root, or a part that is no plain word; "and/or" is none."""
_CODE = re.compile(
    r"\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Z]{2,}-\d+)\b|(#\d+)|\b([0-9a-f]{7,40})\b|(?<!\S)(--?[a-zA-Z][\w-]*)"
)
_PROPER = re.compile(r"(?<=[\w,;] )([A-Z][a-z]{2,}|[A-Z]{4,})\b")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]{2,80})\"|“([^”]{2,80})”")
_COMMON_WORDS = """
    next done then the you your user agent review commit push run fix tests test monday tuesday wednesday thursday
    friday saturday sunday english git github api cli json html css sql ci pr prs url readme todo todos task state
    open claude codex gemini clew nothing all both now also none llm e.g i.e etc
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that name nothing in particular, though they look like names."""
_WORD = re.compile(r"[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)?")
_TOKEN = re.compile(rf"§|{_WORD.pattern}|[.;!?—–]")
_WIDE = re.compile(r"[\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]{2,}")
_ROOT = 5
"""So many letters of a word that its forms fall together."""
_REACH = 6
"""How many words before a claim may wish for it or deny it."""
_CLAIMED = """
work: added created wrote written made built implemented introduced generated updated changed edited modified rewrote
work: rewritten refactored replaced renamed moved fixed resolved solved repaired adjusted converted migrated applied
work: erstellt hinzugefügt geändert behoben créé ajouté modifié corrigé creado añadido cambiado corregido criado
work: adicionado alterado corrigido creato aggiunto modificato создан добавлен изменён исправлен 创建了 添加了 修改了
work: 修复了 已修复 已创建 已修改 新增了 修正了 作成しました 変更しました 修正しました
remove: deleted removed dropped erased wiped purged discarded destroyed uninstalled gelöscht entfernt supprimé
remove: borrado eliminado apagado removido удален удалён cancellato rimosso 已删除 已刪除 删除了 刪除了 移除了 清空
remove: 削除しました 削除済
revert: reverted undone undid restored zurückgesetzt rétabli revertido restaurado восстановлен 回滚 还原 還原
commit: committed committet eingecheckt commité закоммичен 已提交 提交了 コミットしました
push: pushed gepusht poussé запушен 已推送 推送到 推送了 プッシュしました
merge: merged gemergt fusionné 已合并 已合併 マージしました
tag: tagged
release: released published shipped uploaded veröffentlicht publié publicado опубликован 已发布 已發布 リリースしました
deploy: deployed deployt déployé desplegado 已部署 デプロイしました
install: installed installiert installé instalado установлен
restart: restarted rebooted neugestartet redémarré reiniciado 重启 重啟
refuse: rejected refused denied declined abgelehnt verweigert refusé rechazado recusado
refuse: отклонен отклонён 被拒 拒绝了 拒絕了
approve: approved granted genehmigt approuvé aprobado aprovado одобрен
stop: interrupted aborted abgebrochen unterbrochen interrompu interrumpido прерван 已中断 已中斷 中断され
finish: done complete completed finished fertig abgeschlossen erledigt terminé
finish: terminado concluído готово 已完成 全部完成
pass: pass passes passed passing succeeds succeeded green clean bestanden grün réussi passent pasan passam passou прошли
pass: проходят 通过 通過 成功
fail: fail fails failed failing broke broken breaks crashes crashed red fehlgeschlagen fehl gescheitert échoué échoue
fail: fallado falló fallan fallaba falhou упал падают 失败 失敗
lose: lost leaked expired suspended
"""


def _read(table: str) -> dict[str, str]:
    rows = (line.partition(":") for line in table.strip().splitlines())
    return {word: name for name, _, words in rows for word in words.split()}


_WORDS = _read(_CLAIMED)
_WIDE_WORDS = {word: name for word, name in _WORDS.items() if word[0] >= "\u2e80"}
_NEGATION_WORDS = """
    not no never nothing nobody none without cannot neither nor kein keine keinen nicht nichts ohne pas rien sans nada
    nadie nunca sin não sem не нет ничего
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_CONDITION_WORDS = "if whether once until unless when before should would could will may might must shall"
_CONDITIONS = frozenset(_CONDITION_WORDS.split())
_WISH_WORDS = """
    to can need needs want wants wanted please let lets plan plans planned propose proposed suggest suggested recommend
    recommended offer offers offered where next ask asks asked asking going ready decide consider pending goal like wait
    waits waiting todo zu würde soll sollte kann muss wenn ob pour doit peut si para puede debe
"""
_WISHES = _CONDITIONS | frozenset(_WISH_WORDS.split())
_NO_VERB = frozenset({"§", "all", "the", "a", "an"})
"""Before these "to" tells a direction, and what is so behind it is not wished for."""
_FINITE_WORDS = "is are was were has have had 's 've ist sind wurde wurden hat est sont fue foi está"
_FINITE = frozenset(_FINITE_WORDS.split())
_PLAIN = frozenset({"pass", "fail", "done", "complete", "green", "clean", "red", "broken"})
"""What is so, told in the present: a word before it may wish for it."""
_UNDONE = re.compile(
    r"\b(?:still|yet|remains?|needs?|has|have) (?:(?:has|have|needs?) )?to be$|\bstill (?:has|have|needs?) to\b|"
    r"\bfailed to$"
)


class Claim(NamedTuple):
    """One thing that is said to have happened or to be so."""

    name: str
    """Its class, as the table has it."""
    word: str
    holds: bool = True
    """False: it is denied."""


def lowered(text: str) -> str:
    """One way of writing for all that is compared."""
    return text.casefold().replace("\\", "/").replace("’", "'")


def code_in(text: str) -> list[str]:
    """Names that are more than words: quotations, files, code, hashes."""
    quoted = ["".join(found.groups("")) for found in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text)
    files = [name.rstrip("./") for name in _FILE.findall(rest) if name.casefold() not in _COMMON]
    for file in files:
        rest = rest.replace(file, "§")
    code = ["".join(found.groups("")) for found in _CODE.finditer(rest)]
    return [name for name in dict.fromkeys([*quoted, *files, *code]) if name.strip()]


def proper_names(text: str) -> list[str]:
    """Capitalised words inside a sentence that are no common ones."""
    return [name for name in _PROPER.findall(_QUOTED.sub(" ", text)) if name.casefold() not in _COMMON]


def _masked(text: str) -> str:
    """The text with a mark for each name, so that no word of a name is read as a word of the sentence."""
    text = _QUOTED.sub(" § ", text)
    for name in sorted(code_in(text), key=len, reverse=True):
        text = text.replace(name, " § ")
    return text


def things(text: str) -> frozenset[str]:
    """What a text is about: the roots of its longer words that are no names and claim nothing; for scripts without
    spaces its pairs of characters."""
    words = (word for word in _WORD.findall(lowered(_masked(text))) if len(word) > 3 and word not in _WORDS)
    return frozenset(word[:_ROOT] for word in words if word.isascii() or word[0] < "\u2e80") | pairs_in(text)


def roots_in(text: str) -> frozenset[str]:
    """All that a text can be found by."""
    return frozenset(word[:_ROOT] for word in _WORD.findall(lowered(text).replace("_", " "))) | pairs_in(text)


def pairs_in(text: str) -> frozenset[str]:
    """Pairs of characters that are written without spaces."""
    runs = () if text.isascii() else _WIDE.findall(text)
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


def is_denied(text: str) -> bool:
    """Whether something in it is denied."""
    return any(map(_is_negation, _WORD.findall(lowered(text))))


def _is_negation(token: str) -> bool:
    return token in _NEGATIONS or token.endswith("n't")


def claims_in(text: str) -> list[Claim]:
    """What a phrase or sentence claims; what it wishes for, plans or asks is no claim."""
    if text.rstrip().endswith(("?", "？")):
        return []
    tokens = [token.replace("’", "'") for token in _TOKEN.findall(_masked(text).casefold())]
    found = [claim for at in range(len(tokens)) if (claim := _claim_at(tokens, at))]
    for word, name in _WIDE_WORDS.items() if not text.isascii() else ():
        if (at := text.find(word)) >= 0 and not set(text[max(0, at - 4) : at]) & set("將将要请請会會"):
            found.append(Claim(name, word, not set(text[max(0, at - 4) : at]) & set("未沒没不無")))
    return found


def _claim_at(tokens: list[str], at: int) -> Claim | None:
    token = tokens[at]
    undone = token not in _WORDS and token.startswith("un") and token[2:] in _WORDS
    name = _WORDS.get(token[2:] if undone else token)
    if name is None:
        return None
    end = max((index for index in range(at) if tokens[index] in ".;!?—–"), default=-1)
    before = tokens[max(end + 1, at - _REACH) : at]
    if token in _PLAIN:
        before = [word for word, after in pairwise([*before, token]) if word != "to" or after not in _NO_VERB]
    if _UNDONE.search(" ".join(before)):
        return Claim(name, token, holds=False)
    finite = max((index for index, word in enumerate(before) if word in _FINITE), default=-1)
    if finite >= 0 and token not in _PLAIN:
        wished = bool(_CONDITIONS & set(before)) or bool({"to", "being"} & set(before[finite:]))
    else:
        wished = any(word in _WISHES or word.endswith("'ll") for word in before[-5:])
    denied = any(map(_is_negation, before))
    return None if wished else Claim(name, token, holds=denied == undone)
