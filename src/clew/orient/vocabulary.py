"""Words of a report: which of them claim the same kind of thing, which deny or wish, and which say nothing."""

import re
from functools import lru_cache

_IRREGULAR_WORDS = """
    wrote write written write built build made make ran run broke break broken break kept keep left leave sent send
    gone go went go took take taken take found find got get gave give given give shown show chose choose chosen choose
    began begin begun begin led lead lost lose held hold did do done do caught catch brought bring fell fall fallen fall
    threw throw thrown throw rose rise risen rise hid hide hidden hide told tell said say saw see seen see bound bind
    stood stand sought seek spent spend meant mean met meet thought think knew know known know rewrote rewrite
    rewritten rewrite undid undo undone undo overwrote overwrite overwritten overwrite
"""
IRREGULAR: dict[str, str] = dict(zip(_IRREGULAR_WORDS.split()[::2], _IRREGULAR_WORDS.split()[1::2], strict=True))
_INFLECTION = re.compile(r"(?:(?<=[sxz])es|(?<=[cs]h)es|(?<=[^siu])s|(?<=[^e])ed|ings?)$")
_DERIVATION = re.compile(r"(?<=\w{3})(?:ions?|ly)$|(?<=\w{4})(?:al|ure)$")
_DOUBLED = re.compile(r"(?<=\w{2})([bdgmnprt])\1$")
_VOWEL = re.compile(r"[aeiouy]|[^\x00-\x7f]")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """So much of a word that its forms fall together."""
    word = IRREGULAR.get(word, word)
    if len(word) <= 3:
        return word[:2] if word.endswith("e") else word
    if word.endswith(("ies", "ied")):
        return word[:-2][:6]
    base = _INFLECTION.sub("", word)
    if base != word and len(base) > 1 and _VOWEL.search(base):
        word = _DOUBLED.sub(r"\1", base)
    word = _DERIVATION.sub("", word)
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word.rstrip("e")[:6] or word


_ENGLISH = """
make: add create write make introduce build generate implement insert append include initialise initialize draft
make: compose produce register define provide save record document store post
change: change update edit modify adjust rework rewrite refactor alter revise tweak improve simplify modernise
change: modernize convert migrate switch port adapt reformat format extend reword correct align replace substitute
change: swap rename restructure unify optimise optimize transform redesign translate bump pin move relocate shift
change: patch touch apply refine tidy
fix: fix solve resolve repair mend cure unblock address handle
remove: delete remove drop erase wipe purge strip clear eliminate prune discard uninstall empty
revert: revert undo restore reset
keep: keep retain preserve
enable: enable activate unlock
disable: disable deactivate
raise: raise increase upgrade grow rise enlarge
lower: lower decrease reduce downgrade shrink cut fall
install: install
run: run execute
test: test verify validate try measure benchmark profile
commit: commit
push: push
merge: merge
release: release publish ship upload
tag: tag
deploy: deploy
submit: submit
refuse: reject refuse deny decline
approve: approve accept grant
cancel: cancel abort interrupt stop halt
leave: abandon
restart: restart reboot
finish: finish complete conclude prepare
pass: pass succeed
fail: fail break crash die
lose: lose leak expire suspend
"""
_OTHERS = """
make: erstellt angelegt hinzugefügt geschrieben ergänzt créé ajouté écrit creado añadido criado adicionado creato
make: aggiunto создан добавлен написан записан 已创建 已建立 新增了 创建了 写入了 添加了 作成しました
change: geändert umgestellt angepasst ersetzt umbenannt verschoben modifié remplacé renommé déplacé cambiado modificado
change: reemplazado alterado movido изменен изменён обновлен обновлён 已修改 修改了 更新了 改用 改成 重構 変更しました
fix: behoben korrigiert gelöst résolu corrigé corregido resuelto corrigido исправлен 修复了 已修复 修正了 已解决
remove: gelöscht entfernt supprimé borrado eliminado apagado removido удален удалён cancellato rimosso
remove: 已删除 已刪除 删除了 刪除了 移除了 清空 削除しました 削除済
revert: zurückgesetzt rétabli revertido restaurado восстановлен 回滚 还原 還原
install: installiert installé instalado установлен
test: getestet geprüft testé vérifié probado testado проверен
commit: committet eingecheckt commité закоммичен 已提交 提交了 コミットしました
push: gepusht poussé запушен 已推送 推送到 推送了 プッシュしました
merge: gemergt fusionné 已合并 已合併 マージしました
release: veröffentlicht publié publicado опубликован 已发布 已發布 リリースしました
deploy: deployt déployé desplegado 已部署 デプロイしました
refuse: abgelehnt verweigert refusé rechazado recusado отклонен отклонён 被拒 拒绝了 拒絕了
approve: genehmigt approuvé aprobado aprovado одобрен
cancel: abgebrochen unterbrochen interrompu interrumpido interrompido прерван 已中断 已中斷 中断され
restart: neugestartet redémarré reiniciado 重启 重啟
finish: fertig abgeschlossen erledigt terminé terminado concluído completado готово 已完成 全部完成 完了しました
pass: bestanden grün réussi passent pasan passam passou прошли проходят 通过 通過 成功
fail: fehlgeschlagen fehl gescheitert échoué échoue fallado falló fallan fallaba falhou упал падают 失败 失敗
"""


def _read(table: str) -> dict[str, str]:
    rows = (line.partition(":") for line in table.strip().splitlines())
    return {word: name for name, _, words in rows for word in words.split()}


CLASS_OF = {stem(word): name for word, name in _read(_ENGLISH).items()}
OTHER_WORDS = {word: name for word, name in _read(_OTHERS).items() if word[0] < "\u2e80"}
"""Words of other languages: they claim something as they stand."""
WIDE_WORDS = {word: name for word, name in _read(_OTHERS).items() if word[0] >= "\u2e80"}
_STATES = """
pass: passes pass passing succeeds green clean
fail: fails fail failing breaks crashes red
finish: done complete
remove: gone
keep: keeps
"""
STATES = _read(_STATES)
"""Words that claim something in the present."""
WORK = frozenset({"make", "change", "fix", "finish"})
"""Ways to say that something was worked on: which of them is used, is a matter of taste."""
_TELLING_WORDS = """
    say tell ask answer explain describe report list mention note flag discuss review analyse analyze research study
    inspect examine look read propose suggest recommend summarise summarize identify clarify investigate explore plan
    consider decide want like dislike prefer need expect hope think believe know see show find discover give take use
    call name base relate cover hold contain compare mean refer point return wait stay leave stand go come get bring
    help require depend follow limit cause be have do become seem appear happen remain continue proceed agree
    understand confirm check detail outline lay map track view turn intend aim request wonder cite greet reply state
    quote survey audit assess evaluate determine establish observe notice learn focus concern connect link involve
    exist belong complain object suspect guess assume reproduce trace diagnose locate miss lack bear put affect target
    total start begin reach set try store launch open close carry delegate poll load import end deliver slip
"""
TELLING = frozenset(map(stem, _TELLING_WORDS.split()))
"""Verbs that claim nothing that a session must hold."""
_EMPTY_WORDS = """
    a about across after again against ago all almost along already also always am an and any anybody anything are
    around as at away be because been before being between both but by can could did do does doing done down during
    each either else even ever every everything few for from further had has have having he hence her here him his how
    if in instead into is it its itself just last later least less let like many may me might mine more most much must
    my neither never next no nobody none nor not nothing now of off on once one only or other others otherwise our out
    over own part per perhaps quite rather really same several shall she should since so some somebody something soon
    still such than that the their them then there therefore these they thing things this those through thus till to
    together too toward under until up upon us very via was way we well went were what when where whether which while
    who whole whom whose why will with within without would yes yet you your yours yourself today first second third
    two three four five six seven eight nine ten eleven twelve time times longer anymore whatever maybe bit lot new old
    good bad right ready able user agent session work step goal file files code line lines change changes task
    tasks todo todos item items
    der die das und ist nicht ich du ein eine zu mit auf für den im wir auch es sind wurde wurden war noch aber als
    le la les et est pas je tu un une des du que pour dans avec sur ce il été sont el los y es de por con se fue o os
    e é não um uma em foi está
"""
EMPTY = frozenset(_EMPTY_WORDS.split()) | frozenset(map(stem, _EMPTY_WORDS.split()))
"""Words that name nothing."""
_NEGATIONS = """
    not no never nothing nobody none without cannot neither nor kein keine keinen nicht nichts ohne pas rien sans nada
    nadie nunca sin não sem не нет ничего
"""
NEGATIONS = frozenset(_NEGATIONS.split())
_CONDITIONS = "if whether once until unless when before should would could will may might must shall"
CONDITIONS = frozenset(_CONDITIONS.split())
_WISHES = """
    to can need needs want wants wanted please let lets plan plans planned propose proposed suggest suggested recommend
    recommended offer offers offered where next ask asks asked asking going ready decide consider pending goal like wait
    waits waiting todo zu würde soll sollte kann muss wenn ob pour doit peut si para puede debe
"""
WISHES = CONDITIONS | frozenset(_WISHES.split())
_FINITE = "is are was were has have had 's 've ist sind wurde wurden hat est sont fue foi está"
FINITE = frozenset(_FINITE.split())
AUXILIARIES = FINITE | {"be", "been", "being", "got", "get", "it's"}
SAME_IN_THE_PAST = frozenset({"put", "set", "cut", "run", "split", "shut", "let", "read", "reset"})
_NUMBERS = "three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
NUMBER_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS.split(), 3)}


def is_negation(token: str) -> bool:
    """Whether a word denies what follows it."""
    return token in NEGATIONS or token.endswith("n't")


def is_past(token: str) -> bool:
    """Whether a word has the form of what happened."""
    return token in IRREGULAR or (len(token) > 4 and token.endswith("ed") and not token.endswith("eed"))
