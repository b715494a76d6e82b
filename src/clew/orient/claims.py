"""What a sentence claims about deeds, results and state, in the languages we have words for, and what facts say to it."""

import re
from collections.abc import Callable
from typing import NamedTuple

from clew.ledger.facts import FileFact, Ledger
from clew.protocol.standing import Standing as State

Facts = Callable[[Ledger], bool | None]
"""True and False where the facts decide; None: somebody must have said it."""


class Claim(NamedTuple):
    """A class of words that claim the same. Without `heard` only facts can bear it out."""

    words: re.Pattern[str]
    facts: Facts
    heard: bool = True
    undeniable: Facts | None = None
    """Where this is True, the opposite must not be said."""
    of_file: Callable[[FileFact], bool | None] | None = None
    """What the facts say of a file that the sentence names."""
    subject: re.Pattern[str] | None = None
    """What it must be said of to be this claim."""
    opposite: re.Pattern[str] | None = None


def _tests(*, good: bool) -> Facts:
    def ask(ledger: Ledger) -> bool | None:
        run = ledger.tests[-1] if ledger.tests else None
        return None if run is None or run.ok is None else run.ok is good

    return ask


def _checks(kind: str, *, good: bool) -> Facts:
    def ask(ledger: Ledger) -> bool | None:
        last = next((check for check in reversed(ledger.checks) if check.kind == kind), None)
        return None if last is None or last.ok is None else last.ok is good

    return ask


def _left(kind: str) -> Facts:
    return lambda ledger: any(item.kind == kind for item in ledger.commits) or None


def _nothing_after(*kinds: str) -> Facts:
    """One of these is the last thing that left the working tree, and nothing changed since."""

    def ask(ledger: Ledger) -> bool | None:
        last = ledger.commits[-1] if ledger.commits else None
        return (last is not None and last.kind in kinds and last.order >= ledger.changes) or None

    return ask


def _finished(ledger: Ledger) -> bool | None:
    if ledger.state not in (State.IDLE, State.ASKING):
        return False if ledger.turn <= 1 else None
    run = ledger.current_test
    return False if run is not None and run.ok is False else ledger.said is not None or None


def _unknown(ledger: Ledger) -> bool | None:
    del ledger
    return None


def _words(text: str) -> re.Pattern[str]:
    """Beginnings of words; a space in one is written as `_`, a `$` ends the word."""
    begun = [re.escape(word).replace("_", r"\s+").replace(r"\$", r"(?!\w)") for word in text.split()]
    latin = [word for word in begun if ord(word[0]) < 0x2E80]
    wide = [word for word in begun if ord(word[0]) >= 0x2E80]
    return re.compile("|".join(filter(None, (rf"(?<![\w-])(?:re-?)?(?:{'|'.join(latin)})\w*", *wide))), re.IGNORECASE)


_GOOD = _words(
    "pass green$ clean$ succe ok$ okay works$ worked$ laufen_durch läuft_durch bestanden grün passent réussi pasan$ "
    "pasa$ passam passou проход прошл 通过 通過 成功"
)
_BAD = _words(
    "fail$ fails$ failed failing failure broke breaks red$ error crash schl\u00e4gt_fehl schlug_fehl schlugen schlagen "
    "fehlgeschlagen "
    "échou échec falla$ fallan fallando fallaba falló falhou falha упал падает падают ошибк 失败 失敗 timed_out"
)
_TESTS = _words("test$ tests$ suite specs$ assertion 测试 測試 テスト тест prueba")
_BUILD = _words("build$ builds$ compil")
_LINT = _words("lint type-check typecheck types$ ruff$ eslint biome clippy")
_CI = _words("ci$ pipeline workflow run$ job$ release$")
_COMMIT = _words("committed committet commité закоммич 已提交 コミット済 コミットしました")
_PUSH = _words("pushed gepusht запуш 已推送 推送到 プッシュ済 プッシュしました")
_GONE = _words(
    "delet remov wipe eras purg drop$ dropped gone$ gelöscht entfernt supprim borra elimin apaga removid удал "
    "删除 刪除 削除"
)
_FIX = _words("fix solv resolv repair correct$ corrected behoben korrigiert corrig résol исправ 修复 修正")
_CHANGE = _words(
    "chang edit updat modif adjust rework rewrit rewrote refactor reword switch migrat upgrad lower raise raised "
    "geändert umgestellt modifié refait cambiad alterad измен обновл 修改 更新 改用"
)
_MAKE = _words(
    "added adding adds$ creat wrote writ written introduc built generat initiali saved posted translat "
    "erstellt angelegt hinzugefügt créé ajouté cread criad creó добавл создан записан 创建 建立 新增 添加 寫入 写入"
)
_REFUSED = _words("reject refus denied declin blocked turned_down not_permitted abgelehnt rechaz recus отклон 拒绝 拒絕")
_ACCEPTED = _words("approv accepted lgtm")
_FOUND = _words("found finds$ discover identif confirm нашёл нашел найден gefunden trouvé encontr")
_RAN = _words("ran$ executed ausgeführt")
_INSTALL = _words("install")
_RENAME = _words("renam umbenannt renomm renombr")
_REVERT = _words("revert rolled_back undone undid restored came_back taken_back 回滚 還原")
_REPLACED = _words("replac ersetzt remplac")
_MOVED = _words("moved verschoben")
_TESTED = _words("tested tried verified probado getestet")
_LISTED = _words("listed described explained summari explor")
_DONE = _words(
    "done$ finish complete$ completed ready$ checked_off ticked_off fertig terminé terminad concluíd готов 已完成 "
    "全部完成 完了"
)
_OPEN = _words("pending open$ undecided unfinished remains$ still_to ausstehend pendiente")
_RUNS = _words("running in_progress at_work 进行中 実行中")
_RARE = _words("leak suspend wiped deployed shipped went_live production expired begun merged tagged published released")
_NEITHER = re.compile(r"(?!)")


def _of_change(file: FileFact) -> bool | None:
    return bool(file.edits or file.created or file.deleted)


CLAIMS = (
    Claim(_GOOD, _tests(good=True), subject=_TESTS, opposite=_BAD),
    Claim(_BAD, _tests(good=False), subject=_TESTS, opposite=_GOOD),
    Claim(_GOOD, _checks("build", good=True), subject=_BUILD, opposite=_BAD),
    Claim(_BAD, _checks("build", good=False), subject=_BUILD, opposite=_GOOD),
    Claim(_GOOD, _checks("lint", good=True), subject=_LINT, opposite=_BAD),
    Claim(_BAD, _checks("lint", good=False), subject=_LINT, opposite=_GOOD),
    Claim(_GOOD, _unknown, subject=_CI, opposite=_BAD),
    Claim(_BAD, _unknown, subject=_CI, opposite=_GOOD),
    Claim(_GOOD, _unknown, opposite=_BAD),
    Claim(_BAD, _unknown, opposite=_GOOD),
    Claim(_COMMIT, _left("commit"), undeniable=_nothing_after("commit", "push", "tag", "pr", "merge")),
    Claim(_PUSH, _left("push"), undeniable=_nothing_after("push")),
    Claim(_words("merged 已合并 已合併 マージ"), _left("merge")),
    Claim(_words("deployed shipped went_live 已部署 デプロイ"), _unknown),
    Claim(_words("released published 已发布 已發布"), _left("tag")),
    Claim(_words("tagged"), _left("tag")),
    Claim(_GONE, _unknown, of_file=lambda file: file.deleted if file.deleted or file.edits else None),
    Claim(_FIX, _unknown, of_file=_of_change),
    Claim(_CHANGE, _unknown, of_file=_of_change),
    Claim(_MAKE, _unknown, of_file=_of_change),
    Claim(_RENAME, _unknown),
    Claim(_REPLACED, _unknown),
    Claim(_MOVED, _unknown),
    Claim(_REVERT, _unknown),
    Claim(_INSTALL, _unknown),
    Claim(_TESTED, _unknown),
    Claim(_FOUND, _unknown),
    Claim(_LISTED, _unknown),
    Claim(_REFUSED, lambda ledger: any(item.decision == "deny" for item in ledger.approvals) or None),
    Claim(_ACCEPTED, lambda ledger: (ledger.plan is not None and ledger.plan.approved) or None),
    Claim(_words("leak suspend begun expired rebase restarted reiniciado"), _unknown),
    Claim(
        _words("waiting_for_approval waits_for_approval waiting_for_your_approval waiting_for_permission"),
        lambda ledger: ledger.state is State.WAITING,
        heard=False,
    ),
    Claim(
        _words("waiting_for_your_answer waiting_for_an_answer waiting_for_your_decision awaiting_your waits_for_your"),
        lambda ledger: ledger.question is not None,
        heard=False,
    ),
    Claim(
        _words("interrupted aborted cancelled canceled прервал 已中断 已中斷 中断され"),
        lambda ledger: ledger.state in (State.INTERRUPTED, State.LIMITED, State.FAILED) or None,
        heard=False,
    ),
    Claim(_RUNS, lambda ledger: bool(ledger.running_agents) or ledger.state is State.WORKING or None),
    Claim(_DONE, _finished, undeniable=_unknown),
)
