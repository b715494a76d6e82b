"""The fixed words of a recap, in the languages it speaks."""

from typing import NamedTuple


class Phrases(NamedTuple):
    """Templates of one language. `{}` takes the fact."""

    next: str
    stop: str
    join: str
    listed: str
    """Between items of a list."""
    more: str
    changed: str
    created: str
    deleted: str
    tests_pass: str
    tests_ok: str
    tests_fail: str
    lint_ok: str
    build_ok: str
    check_fail: str
    committed: str
    pushed: str
    tagged: str
    opened: str
    asks: str
    waits: str
    stopped: str
    limited: str
    failed: str
    working: str
    todo: str
    agents: str
    edit_failed: str
    then: str
    do_review: str
    do_push: str
    do_push_tag: str
    do_merge: str
    do_fix_tests: str
    do_test: str
    do_answer: str
    do_decide: str
    do_approve: str
    do_resume: str
    do_rerun: str
    do_wait: str
    do_read: str
    ran: str
    empty: str
    away: str


_EN = Phrases(
    next="{}",
    stop=". ",
    join="; ",
    listed=", ",
    more="{} and {} more",
    changed="{} changed",
    created="{} written",
    deleted="{} deleted",
    tests_pass="{} tests pass",
    tests_ok="tests pass",
    tests_fail="{} tests fail",
    lint_ok="lint is clean",
    build_ok="the build passes",
    check_fail="{} fails",
    committed="committed as {}",
    pushed="pushed to {}",
    tagged="tagged {}",
    opened="PR {} opened",
    asks="the agent asks: {}",
    waits="approval is pending for {}",
    stopped="interrupted",
    limited="stopped by a limit",
    failed="the run failed: {}",
    working="cut off in the middle of the work",
    todo="{} of {} tasks done",
    agents="{} agents running",
    edit_failed="an edit of {} failed",
    then="{}, then {}",
    do_review="review and commit",
    do_push="push it",
    do_push_tag="push the tag {}",
    do_merge="merge PR {}",
    do_fix_tests="fix the failing tests",
    do_test="run the tests, then commit",
    do_answer="answer: {}",
    do_decide="decide whether to {}",
    do_approve="approve or deny {}",
    do_resume="run it again: {}",
    do_rerun="rerun it",
    do_wait="wait for the agent to finish",
    do_read="read the answer and decide",
    ran="Ran {}",
    empty="Nothing was asked yet.",
    away="While you were away: {}",
)
_ZH = _EN._replace(
    next="下一步：{}",
    stop="。",
    join="，",
    listed="、",
    more="{} 等 {} 个文件",
    changed="已修改 {}",
    created="已创建 {}",
    deleted="已删除 {}",
    tests_pass="{} 个测试通过",
    tests_ok="测试通过",
    tests_fail="{} 个测试失败",
    lint_ok="lint 通过",
    build_ok="构建通过",
    check_fail="{} 失败",
    committed="已提交 {}",
    pushed="已推送到 {}",
    tagged="已打标签 {}",
    opened="已开 PR {}",
    asks="代理在问：{}",
    waits="等待批准 {}",
    stopped="已中断",
    limited="因达到限额而停止",
    failed="运行失败：{}",
    working="做到一半中断",
    todo="任务完成 {}/{}",
    agents="{} 个代理在运行",
    edit_failed="{} 的一次修改失败",
    then="{}，然后{}",
    do_review="检查后提交",
    do_push="推送",
    do_push_tag="推送标签 {}",
    do_merge="合并 PR {}",
    do_fix_tests="修复失败的测试",
    do_test="运行测试后提交",
    do_answer="回答：{}",
    do_decide="决定是否 {}",
    do_approve="批准或拒绝 {}",
    do_resume="重新运行：{}",
    do_rerun="重新运行",
    do_wait="等待代理完成",
    do_read="阅读回答并决定",
    ran="运行了 {}",
    empty="还没有任何请求。",
    away="你离开期间：{}",
)
_ZH_TW = _ZH._replace(
    more="{} 等 {} 個檔案",
    created="已建立 {}",
    deleted="已刪除 {}",
    tests_pass="{} 個測試通過",
    tests_ok="測試通過",
    tests_fail="{} 個測試失敗",
    lint_ok="lint 通過",
    build_ok="建置通過",
    check_fail="{} 失敗",
    tagged="已打標籤 {}",
    opened="已開 PR {}",
    asks="代理在問：{}",
    waits="等待批准 {}",
    stopped="已中斷",
    limited="因達到限額而停止",
    failed="執行失敗：{}",
    working="做到一半中斷",
    todo="任務完成 {}/{}",
    agents="{} 個代理在執行",
    edit_failed="{} 的一次修改失敗",
    then="{}，然後{}",
    do_review="檢查後提交",
    do_push_tag="推送標籤 {}",
    do_merge="合併 PR {}",
    do_fix_tests="修復失敗的測試",
    do_test="執行測試後提交",
    do_decide="決定是否 {}",
    do_approve="批准或拒絕 {}",
    do_resume="重新執行：{}",
    do_rerun="重新執行",
    do_read="閱讀回答並決定",
    ran="執行了 {}",
    empty="還沒有任何請求。",
    away="你離開期間：{}",
)
_JA = _ZH._replace(
    next="次は{}",
    stop="。",
    join="、",
    listed="、",
    more="{} など {} 件",
    changed="{} を変更",
    created="{} を作成",
    deleted="{} を削除",
    tests_pass="テスト {} 件成功",
    tests_ok="テスト成功",
    tests_fail="テスト {} 件失敗",
    lint_ok="lint は問題なし",
    build_ok="ビルド成功",
    check_fail="{} が失敗",
    committed="{} でコミット済み",
    pushed="{} にプッシュ済み",
    tagged="タグ {} を作成",
    opened="PR {} を作成",
    asks="質問：{}",
    waits="{} の承認待ち",
    stopped="中断",
    limited="上限で停止",
    failed="実行失敗：{}",
    working="作業の途中で中断",
    todo="タスク {}/{} 完了",
    agents="エージェント {} 件実行中",
    edit_failed="{} の編集に失敗",
    then="{}、その後{}",
    do_review="確認してコミット",
    do_push="プッシュ",
    do_push_tag="タグ {} をプッシュ",
    do_merge="PR {} をマージ",
    do_fix_tests="失敗したテストを修正",
    do_test="テストを実行してコミット",
    do_answer="回答する：{}",
    do_decide="{} するか決める",
    do_approve="{} を承認または拒否",
    do_resume="再実行：{}",
    do_rerun="再実行",
    do_wait="エージェントの完了を待つ",
    do_read="回答を読んで判断",
    ran="{} を実行",
    empty="まだ依頼はありません。",
    away="不在中：{}",
)
_RU = _EN._replace(
    next="Дальше: {}",
    more="{} и ещё {}",
    changed="изменено: {}",
    created="создано: {}",
    deleted="удалено: {}",
    tests_pass="тестов прошло: {}",
    tests_ok="тесты проходят",
    tests_fail="тестов упало: {}",
    lint_ok="линтер чист",
    build_ok="сборка проходит",
    check_fail="{} падает",
    committed="закоммичено {}",
    pushed="отправлено в {}",
    tagged="тег {}",
    opened="открыт PR {}",
    asks="агент спрашивает: {}",
    waits="ждёт разрешения: {}",
    stopped="прервано",
    limited="остановлено лимитом",
    failed="запуск завершился ошибкой: {}",
    working="оборвалось посреди работы",
    todo="задач готово: {} из {}",
    agents="агентов работает: {}",
    edit_failed="правка {} не удалась",
    then="{}, затем {}",
    do_review="проверить и закоммитить",
    do_push="отправить (push)",
    do_push_tag="отправить тег {}",
    do_merge="слить PR {}",
    do_fix_tests="починить упавшие тесты",
    do_test="запустить тесты и закоммитить",
    do_answer="ответить: {}",
    do_decide="решить: {}",
    do_approve="разрешить или отклонить {}",
    do_resume="запустить снова: {}",
    do_rerun="запустить снова",
    do_wait="дождаться агента",
    do_read="прочитать ответ и решить",
    ran="Запущено {}",
    empty="Пока ничего не спрошено.",
    away="Пока вас не было: {}",
)
_DE = _EN._replace(
    next="Als Nächstes: {}",
    more="{} und {} weitere",
    changed="{} geändert",
    created="{} angelegt",
    deleted="{} gelöscht",
    tests_pass="{} Tests bestanden",
    tests_ok="Tests bestanden",
    tests_fail="{} Tests schlagen fehl",
    lint_ok="Lint ist sauber",
    build_ok="der Build läuft durch",
    check_fail="{} schlägt fehl",
    committed="als {} committet",
    pushed="nach {} gepusht",
    tagged="als {} getaggt",
    opened="PR {} eröffnet",
    asks="der Agent fragt: {}",
    waits="Freigabe steht aus für {}",
    stopped="unterbrochen",
    limited="durch ein Limit gestoppt",
    failed="Lauf fehlgeschlagen: {}",
    working="mitten in der Arbeit abgebrochen",
    todo="{} von {} Aufgaben erledigt",
    agents="{} Agenten laufen",
    edit_failed="eine Änderung an {} schlug fehl",
    then="{}, dann {}",
    do_review="prüfen und committen",
    do_push="pushen",
    do_push_tag="Tag {} pushen",
    do_merge="PR {} mergen",
    do_fix_tests="die fehlschlagenden Tests reparieren",
    do_test="Tests ausführen, dann committen",
    do_answer="antworten: {}",
    do_decide="entscheiden: {}",
    do_approve="{} freigeben oder ablehnen",
    do_resume="erneut ausführen: {}",
    do_rerun="erneut ausführen",
    do_wait="auf den Agenten warten",
    do_read="Antwort lesen und entscheiden",
    ran="{} ausgeführt",
    empty="Noch wurde nichts gefragt.",
    away="Während du weg warst: {}",
)
_FR = _EN._replace(
    next="Ensuite : {}",
    more="{} et {} autres",
    changed="{} modifié",
    created="{} créé",
    deleted="{} supprimé",
    tests_pass="{} tests passent",
    tests_ok="les tests passent",
    tests_fail="{} tests échouent",
    lint_ok="lint propre",
    build_ok="le build passe",
    check_fail="{} échoue",
    committed="commité {}",
    pushed="poussé vers {}",
    tagged="tag {}",
    opened="PR {} ouverte",
    asks="l'agent demande : {}",
    waits="approbation en attente pour {}",
    stopped="interrompu",
    limited="arrêté par une limite",
    failed="échec de l'exécution : {}",
    working="coupé en plein travail",
    todo="{} tâches sur {} faites",
    agents="{} agents en cours",
    edit_failed="une modification de {} a échoué",
    then="{}, puis {}",
    do_review="relire et commiter",
    do_push="pousser",
    do_push_tag="pousser le tag {}",
    do_merge="fusionner la PR {}",
    do_fix_tests="corriger les tests en échec",
    do_test="lancer les tests, puis commiter",
    do_answer="répondre : {}",
    do_decide="décider : {}",
    do_approve="approuver ou refuser {}",
    do_resume="relancer : {}",
    do_rerun="relancer",
    do_wait="attendre l'agent",
    do_read="lire la réponse et décider",
    ran="{} lancé",
    empty="Rien n'a encore été demandé.",
    away="Pendant votre absence : {}",
)
_ES = _EN._replace(
    next="Siguiente: {}",
    more="{} y {} más",
    changed="{} modificado",
    created="{} creado",
    deleted="{} borrado",
    tests_pass="{} pruebas pasan",
    tests_ok="las pruebas pasan",
    tests_fail="{} pruebas fallan",
    lint_ok="lint limpio",
    build_ok="la compilación pasa",
    check_fail="{} falla",
    committed="commit {}",
    pushed="subido a {}",
    tagged="etiqueta {}",
    opened="PR {} abierta",
    asks="el agente pregunta: {}",
    waits="aprobación pendiente para {}",
    stopped="interrumpido",
    limited="detenido por un límite",
    failed="la ejecución falló: {}",
    working="cortado a mitad del trabajo",
    todo="{} de {} tareas hechas",
    agents="{} agentes en marcha",
    edit_failed="una edición de {} falló",
    then="{}, luego {}",
    do_review="revisar y hacer commit",
    do_push="hacer push",
    do_push_tag="subir la etiqueta {}",
    do_merge="fusionar la PR {}",
    do_fix_tests="arreglar las pruebas que fallan",
    do_test="ejecutar las pruebas y hacer commit",
    do_answer="responder: {}",
    do_decide="decidir: {}",
    do_approve="aprobar o rechazar {}",
    do_resume="ejecutar de nuevo: {}",
    do_rerun="ejecutar de nuevo",
    do_wait="esperar al agente",
    do_read="leer la respuesta y decidir",
    ran="Se ejecutó {}",
    empty="Aún no se ha pedido nada.",
    away="Mientras no estabas: {}",
)

_TABLE = {"en": _EN, "zh": _ZH, "zh-TW": _ZH_TW, "ja": _JA, "ru": _RU, "de": _DE, "fr": _FR, "es": _ES}


def phrases(language: str) -> Phrases:
    """The words of a language; English where we have none."""
    return _TABLE.get(language, _EN)


def speaks(language: str) -> bool:
    """Whether we have words of our own for it."""
    return language in _TABLE
