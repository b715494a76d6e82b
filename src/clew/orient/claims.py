"""What a sentence claims about deeds, results and state, in several languages, and what the facts say to it."""

import re
from collections.abc import Callable
from typing import NamedTuple

from clew.ledger.facts import FileFact, Ledger
from clew.protocol.standing import Standing as State

Facts = Callable[[Ledger], bool | None]
"""True and False where the facts decide; None: somebody must have said it."""


class Words(NamedTuple):
    """Words that claim the same thing: as a recap puts it, and in any form in which somebody may have said it."""

    claimed: re.Pattern[str]
    said: re.Pattern[str]


class Claim(NamedTuple):
    """A class of words that claim the same. Without `heard` only facts can bear it out."""

    words: Words
    facts: Facts
    heard: bool = True
    undeniable: Facts | None = None
    """Where this is True, the opposite must not be said."""
    of_file: Callable[[FileFact], bool | None] | None = None
    """What the facts say of a file that the sentence names."""
    subject: Words | None = None
    """What it must be said of to be this claim."""
    opposite: Words | None = None
    said: re.Pattern[str] | None = None
    """How else somebody may have said it."""

    def made_in(self, sentence: str) -> bool:
        """Whether a sentence makes it."""
        return bool(self.words.claimed.search(sentence) and (not self.subject or self.subject.said.search(sentence)))


_PLAIN_COMMAND = 80
"""A longer command that printed no figures may be anything that has a test in its text."""


def _tests(*, good: bool) -> Facts:
    def ask(ledger: Ledger) -> bool | None:
        runs = [
            run
            for run in ledger.tests
            if run.passed or run.failed or run.ok is False or len(run.command) < _PLAIN_COMMAND
        ]
        run = runs[-1] if runs else None
        return None if run is None or run.ok is None else run.ok is good

    return ask


def _checks(kind: str, *, good: bool) -> Facts:
    def ask(ledger: Ledger) -> bool | None:
        last = next((check for check in reversed(ledger.checks) if check.kind == kind), None)
        return None if last is None or last.ok is None else last.ok is good

    return ask


def _left(kind: str) -> Facts:
    return lambda ledger: any(item.kind == kind for item in ledger.commits) or None


def _pushed(ledger: Ledger) -> bool | None:
    tried = any("git push" in command.command for command in ledger.commands)
    return any(item.kind == "push" for item in ledger.commits) or (False if tried else None)


def _never(kind: str) -> Facts:
    return lambda ledger: False if any(item.kind == kind for item in ledger.commits) else None


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


def _words(text: str) -> Words:
    """Beginnings of words; a space in one is written as `_`, a `$` ends the word."""
    return Words(
        _pattern(text.split()), _pattern([re.sub(r"(?<=\w{2})(?:ed|ten|en)\$?$", "", word) for word in text.split()])
    )


def _exactly(text: str) -> Words:
    """The same, where another form of the word would say something else."""
    return Words(_pattern(text.split()), _pattern(text.split()))


def _pattern(words: list[str]) -> re.Pattern[str]:
    begun = [re.escape(word).replace("_", r"\s+").replace(r"\$", r"(?!\w)") for word in words]
    latin = "|".join(word for word in begun if ord(word[0]) < 0x2E80)
    wide = [word for word in begun if ord(word[0]) >= 0x2E80]
    return re.compile("|".join([*([rf"(?<![\w-])(?:re-?)?(?:{latin})\w*"] if latin else []), *wide]), re.IGNORECASE)


GOOD = _words(
    "pass$ passes$ passed$ green$ clean$ succeed succeeds succeeded successful ok$ works$ worked$ laufen_durch "
    "läuft_durch bestanden grün passent réussi pasan$ pasa$ passam passou проход прошл 通过 通過 成功"
)
_BAD = _words(
    "fail$ fails$ failed$ is_failing are_failing still_failing broke$ broken$ breaks$ red$ crashed crashes timed_out "
    "schlägt_fehl schlug_fehl schlugen_fehl schlagen_fehl schlagen_die_tests_fehl fehlgeschlagen échoue échoué "
    "falla$ fallan$ fallando fallaba falló falhou falha упал падает падают 失败 失敗"
)
_GONE = _words(
    "deleted removed wiped erased purged dropped gone$ gelöscht entfernt supprimé borrado eliminado apagado removido "
    "удал 已删除 已刪除 刪除了 删除了 削除しました 削除済"
)
_FIX = _words("fixed solved resolved repaired corrected behoben korrigiert corrigé corregido résolu исправ 修复 修正")
_CHANGE = _words(
    "changed edited updated modified adjusted reworked rewritten rewrote refactored reworded switched migrated "
    "upgraded lowered raised went_into geändert umgestellt modifié refait cambiado alterado измен обновл 已修改 改用"
)
_MAKE = _words(
    "added created wrote$ written introduced built generated initialised initialized saved posted translated "
    "erstellt angelegt hinzugefügt créé ajouté creado criado creó добавлен создан записан 已创建 已建立 新增了 写入了"
)
REFUSED = _words("rejected refused denied declined turned_down abgelehnt rechazado recusado отклон 被拒")
_RAN = _words("ran$ was_run were_run executed")
TESTS = _words("test$ tests$ tested suite specs$ assertion 测试 測試 テスト тест prueba")
_BUILD = _words("build$ builds$ compil")
_LINT = _words("lint type-check typecheck types$ ruff$ eslint biome clippy")
_CI = _words("ci$ pipeline workflow job$ release$")


_WORK = re.compile(
    "|".join(words.said.pattern for words in (_CHANGE, _MAKE, _FIX))
    + r"|\b(?:implement|migrat|replac|complet|instead|now use|mov)\w*",
    re.IGNORECASE,
)
"""Ways to say that something was worked on: which of them is used, is a matter of taste."""


def _of_change(file: FileFact) -> bool | None:
    return bool(file.edits or file.created or file.deleted)


def _of_deletion(file: FileFact) -> bool | None:
    return file.deleted if file.deleted or file.edits else None


def _refused(ledger: Ledger) -> bool | None:
    return any(item.decision == "deny" for item in ledger.approvals) or None


def _approved(ledger: Ledger) -> bool | None:
    return (ledger.plan is not None and ledger.plan.approved) or None


def _waiting(ledger: Ledger) -> bool | None:
    return ledger.state is State.WAITING


def _asking(ledger: Ledger) -> bool | None:
    return ledger.question is not None


def _cut_short(ledger: Ledger) -> bool | None:
    return ledger.state in (State.INTERRUPTED, State.LIMITED, State.FAILED)


def _at_work(ledger: Ledger) -> bool | None:
    return bool(ledger.running_agents) or ledger.state is State.WORKING or None


def _tested(ledger: Ledger) -> bool | None:
    return bool(ledger.tests) or ledger.doing is not None or None


def _ticked_off(ledger: Ledger) -> bool | None:
    return None if ledger.todos is None else not ledger.todos.open_items or None


DONE = _words("done$ finished completed is_complete are_complete checked_off ticked_off fertig готово 已完成 全部完成")


def _answered(ledger: Ledger) -> bool | None:
    return ledger.said is not None


CLAIMS: tuple[Claim, ...] = (
    Claim(GOOD, _tests(good=True), subject=TESTS, opposite=_BAD),
    Claim(_BAD, _tests(good=False), subject=TESTS, opposite=GOOD),
    Claim(GOOD, _checks("build", good=True), subject=_BUILD, opposite=_BAD),
    Claim(_BAD, _checks("build", good=False), subject=_BUILD, opposite=GOOD),
    Claim(GOOD, _checks("lint", good=True), subject=_LINT, opposite=_BAD),
    Claim(_BAD, _checks("lint", good=False), subject=_LINT, opposite=GOOD),
    Claim(GOOD, _unknown, subject=_CI, opposite=_BAD),
    Claim(_BAD, _unknown, subject=_CI, opposite=GOOD),
    Claim(_BAD, _never("push"), subject=_words("push$"), opposite=GOOD),
    Claim(_BAD, _never("commit"), subject=_words("commit$"), opposite=GOOD),
    Claim(_words("opened waits_in is_open"), _left("pr"), subject=_words("pr$ pull_request")),
    Claim(GOOD, _unknown, opposite=_BAD),
    Claim(_BAD, _unknown, opposite=GOOD),
    Claim(
        _exactly("committed committet commité закоммич 已提交 コミット済 コミットしました"),
        _left("commit"),
        undeniable=_nothing_after("commit", "push", "tag", "pr", "merge"),
    ),
    Claim(
        _exactly("pushed gepusht запуш 已推送 推送到 プッシュ済 プッシュしました"),
        _pushed,
        undeniable=_nothing_after("push"),
    ),
    Claim(_exactly("merged 已合并 已合併 マージしました"), _left("merge")),
    Claim(_exactly("deployed shipped went_live in_production 已部署 デプロイしました"), _unknown),
    Claim(_exactly("released published 已发布 已發布"), _left("tag")),
    Claim(_exactly("tagged"), _left("tag")),
    Claim(_GONE, _unknown, of_file=_of_deletion),
    Claim(_FIX, _unknown, undeniable=_unknown, of_file=_of_change),
    Claim(_CHANGE, _unknown, of_file=_of_change, said=_WORK),
    Claim(_MAKE, _unknown, of_file=_of_change, said=_WORK),
    Claim(_words("renamed umbenannt renommé renombrado"), _unknown),
    Claim(_words("replaced ersetzt remplacé"), _unknown, said=_WORK),
    Claim(_words("moved verschoben"), _unknown, said=_WORK),
    Claim(_words("reverted rolled_back undone restored came_back taken_back 回滚 還原"), _unknown),
    Claim(_words("installed installiert"), _unknown),
    Claim(_exactly("tested verified getestet"), _unknown),
    Claim(_words("discovered confirmed нашёл нашел"), _unknown),
    Claim(_words("no_longer nicht_mehr"), _unknown),
    Claim(_RAN, _tested, subject=TESTS),
    Claim(_RAN, _unknown),
    Claim(_exactly("listed"), _unknown),
    Claim(_words("described explained summarised summarized greeted answered reported"), _answered, heard=False),
    Claim(REFUSED, _refused),
    Claim(_exactly("blocked"), _refused, said=_BAD.said),
    Claim(_words("approved accepted"), _approved),
    Claim(_words("leaked suspended begun expired rebased restarted reiniciado"), _unknown),
    Claim(
        _words("waiting_for_approval waits_for_approval waiting_for_your_approval waiting_for_permission"),
        _waiting,
        heard=False,
    ),
    Claim(
        _words("waiting_for_your_answer waiting_for_an_answer waiting_for_your_decision awaiting_your waits_for_your"),
        _asking,
        heard=False,
    ),
    Claim(
        _words("interrupted aborted cancelled canceled прервал 已中断 已中斷 中断され"),
        _cut_short,
        heard=False,
    ),
    Claim(
        _words("running in_progress at_work 进行中 実行中"),
        _at_work,
    ),
    Claim(DONE, _ticked_off, subject=_words("todo$ todos$ task_list"), undeniable=_unknown),
    Claim(DONE, _finished, undeniable=_unknown, of_file=_of_change, said=_WORK),
)
