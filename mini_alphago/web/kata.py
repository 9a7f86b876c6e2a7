"""A client of `/analysis`: KataGo's JSON queries, one object a message."""

from typing import Any

from ..engine.analysis import AnalysisClient, Question
from .outbox import Outbox
from .service import Service

_VISITS = 500


class KataSession:
    """Answers one client with the server's first network."""

    def __init__(self, service: Service, outbox: Outbox) -> None:
        self._worker, self._models, self._outbox = service.worker, service.models, outbox
        self._client: AnalysisClient | None = None
        self._closed = False

    def handle(self, text: str) -> None:
        """Answer a message, or begin to. Of one thread at a time, not the worker's."""
        if text.strip():
            self._worker.post(self._take, Question(text, _VISITS))

    def refuse(self, message: str) -> None:
        """Say what is wrong with what is no message."""
        self._outbox.put({"error": message})

    def close(self) -> None:
        """The client is gone: nothing of it goes on."""
        self._worker.post(self._drop)

    # --- in the worker's thread -------------------------------------------------------------------------------------

    def _take(self, question: Question) -> None:
        if self._closed:
            return
        if self._client is None:
            try:
                evaluator = self._models.evaluator(self._models.find(None))
            except (ValueError, OSError) as error:
                self._outbox.put({"error": str(error)})
                return
            self._client = AnalysisClient(self._worker.pool, evaluator, self._write)
        self._client.take(question)

    def _write(self, answer: dict[str, Any]) -> None:
        during = answer.get("isDuringSearch")
        self._outbox.put(answer, ("during", answer["id"], answer["turnNumber"]) if during else None)

    def _drop(self) -> None:
        self._closed = True
        if self._client is not None:
            self._client.close()
