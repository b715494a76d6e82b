"""The few words a form needs, in the languages it has them for."""

from typing import Literal, NamedTuple

from clew.protocol.standing import Actor, Standing

ALIKE = {
    Standing.STARTING: Standing.WORKING,
    Standing.COMPLETED: Standing.IDLE,
}
"""Standings of agents and tasks that a session never has, with the word that is read for them."""


class Wording(NamedTuple):
    """One language."""

    task: str
    request: str
    state: str
    changed: str
    deleted: str
    open: str
    agent: str
    by_you: str
    by_rule: str
    finished: str
    unanswered: str
    agents: str
    away: str
    working: str
    waiting: str
    asking: str
    idle: str
    interrupted: str
    suspended: str
    failed: str
    stopped: str
    stopped_by_you: str

    def word(self, state: Standing, by: Actor | Literal[""] = "") -> str:
        """A standing in this language; `by`: who brought the session to it."""
        if state is Standing.STOPPED and by == "user":
            return self.stopped_by_you
        return getattr(self, ALIKE.get(state, state).value)


_TABLE = {
    "en": "Task|Last request|State|Changed|deleted|Open|Agent|refused by you|refused by a rule|finished|"
    "no answer yet|Agents|While you were away|working|waiting for approval|asking|idle|interrupted|"
    "stopped by a limit|failed|stopped|stopped by you",
    "de": "Aufgabe|Letzte Anfrage|Stand|Geändert|gelöscht|Offen|Agent|von dir abgelehnt|"
    "durch eine Regel abgelehnt|fertig|noch keine Antwort|Agenten|Während du weg warst|arbeitet|"
    "wartet auf Freigabe|fragt|wartet|unterbrochen|durch ein Limit gestoppt|fehlgeschlagen|angehalten|"
    "von dir angehalten",
    "fr": "Tâche|Dernière demande|État|Modifié|supprimé|Ouvert|Agent|refusé par vous|refusé par une règle|"
    "terminé|pas encore de réponse|Agents|Pendant votre absence|au travail|attend une autorisation|"
    "pose une question|en attente|interrompu|arrêté par une limite|en échec|arrêté|arrêté par vous",
    "es": "Tarea|Última petición|Estado|Cambiado|borrado|Abierto|Agente|rechazado por ti|"
    "rechazado por una regla|terminado|sin respuesta aún|Agentes|Mientras no estabas|trabajando|"
    "espera permiso|pregunta|en espera|interrumpido|parado por un límite|fallido|detenido|detenido por ti",
    "pt": "Tarefa|Último pedido|Estado|Alterado|apagado|Aberto|Agente|recusado por você|"
    "recusado por uma regra|concluído|ainda sem resposta|Agentes|Enquanto você estava fora|"
    "trabalhando|aguarda permissão|pergunta|em espera|interrompido|parado por um limite|falhou|parado|"
    "parado por você",
    "it": "Compito|Ultima richiesta|Stato|Modificato|cancellato|Aperto|Agente|rifiutato da te|"
    "rifiutato da una regola|finito|ancora nessuna risposta|Agenti|Mentre eri via|al lavoro|"
    "attende un permesso|chiede|in attesa|interrotto|fermato da un limite|fallito|fermato|fermato da te",
    "ru": "Задача|Последний запрос|Состояние|Изменено|удалено|Открыто|Агент|отклонено вами|"
    "отклонено правилом|готово|ответа ещё нет|Агенты|Пока вас не было|работает|ждёт разрешения|"
    "спрашивает|ожидает|прервано|остановлено лимитом|сбой|остановлено|остановлено вами",
    "zh": "任务|最后的请求|状态|已修改|已删除|待处理|代理|被你拒绝|被规则拒绝|已完成|尚无回答|代理|"
    "你离开期间|工作中|等待批准|在提问|空闲|已中断|因限额停止|失败|已停止|已被你停止",
    "zh-TW": "任務|最後的請求|狀態|已修改|已刪除|待處理|代理|被你拒絕|被規則拒絕|已完成|尚無回答|代理|"
    "你離開期間|工作中|等待核准|在提問|閒置|已中斷|因限額停止|失敗|已停止|已被你停止",
    "ja": "タスク|最後の依頼|状態|変更|削除|未完了|エージェント|あなたが拒否|規則により拒否|完了|"
    "まだ回答なし|エージェント|不在の間に|作業中|承認待ち|質問中|待機中|中断|上限で停止|失敗|停止|あなたが停止",
    "ko": "작업|마지막 요청|상태|변경|삭제|남은 일|에이전트|사용자가 거부|규칙이 거부|완료|아직 답 없음|"
    "에이전트|자리를 비운 동안|작업 중|승인 대기|질문 중|대기 중|중단됨|한도로 멈춤|실패|멈춤|사용자가 멈춤",
}
_WORDINGS = {code: Wording(*words.split("|")) for code, words in _TABLE.items()}


def wording(language: str) -> Wording:
    """The words of a language; English where we have none."""
    return _WORDINGS.get(language, _WORDINGS["en"])
