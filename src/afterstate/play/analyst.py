"""Answer questions about positions, many at once: lines of JSON in, lines of JSON out as they are ready."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from queue import Queue
from typing import IO, Any

from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.queries import QueryError, Question, answer, read_questions

LONGEST = 1 << 22  # bytes of a question; the longest games fit
AGENTS = 3  # with different options that a thread keeps for the next question
WAITING = 8  # questions for each thread that are read before they are answered


class Analyst:
    """Threads that answer questions about one game. `write` is called with one line at a time."""

    def __init__(self, network: Network, write: Callable[[str], Any], *, threads: int, search: dict[str, Any]) -> None:
        self.network, self._write, self._search = network, write, search
        self._waiting: Queue[Question | None] = Queue(WAITING * threads)
        self._lock = threading.Lock()  # held while a line is written, and while agents are made or halted
        self._agents: list[Agent] = []  # that may be searching now
        self._stopped = False
        self._failure: BaseException | None = None
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]

    def serve(self, lines: IO[bytes]) -> None:
        """Answer all questions of a stream. If interrupted, running searches end at once and unanswered."""
        for thread in self._threads:
            thread.start()
        try:
            while self._failure is None and (line := lines.readline(LONGEST)):
                self._read(line, lines)
            for _ in self._threads:
                self._waiting.put(None)
            for thread in self._threads:
                thread.join()
        except BaseException:
            self._stop()
            raise
        if self._failure is not None:
            raise self._failure

    def _read(self, line: bytes, lines: IO[bytes]) -> None:
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while (rest := lines.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            self._refuse(None, f"a question has at most {LONGEST} bytes")
        elif line.strip():
            try:
                questions = read_questions(line, self.network.game, self._search)
            except QueryError as error:
                self._refuse(error.id, str(error))
            else:
                for question in questions:
                    self._waiting.put(question)

    def _work(self) -> None:
        """Answer one question after the other. Whatever goes wrong with one is its answer."""
        kept: OrderedDict[Any, Agent] = OrderedDict()
        while (question := self._waiting.get()) is not None:
            if self._stopped or self._failure is not None:
                continue
            try:
                found = answer(question, self._agent(kept, question.search), self._agent(kept, (("depth", 2),)))
                text = json.dumps(found, allow_nan=False)
            except MemoryError:
                self._refuse(question.id, "out of memory", turn=question.turn)
            except Exception as error:
                self._refuse(question.id, str(error) or type(error).__name__, turn=question.turn)
            else:
                self._send(text)

    def _agent(self, kept: "OrderedDict[Any, Agent]", search: tuple[tuple[str, Any], ...]) -> Agent:
        """An agent of this thread with these options."""
        agent = kept.pop(search, None)
        if agent is None:
            agent = Agent(self.network, **dict(search))
            with self._lock:
                self._agents.append(agent)
                if self._stopped:
                    agent.halt()
        kept[search] = agent
        while len(kept) > AGENTS:
            _, dropped = kept.popitem(last=False)
            with self._lock:
                self._agents = [other for other in self._agents if other is not dropped]
        return agent

    def _refuse(self, id_: Any, reason: str, *, turn: int | None = None) -> None:
        which = {"id": id_} | ({} if turn is None else {"turn": turn})
        self._send(json.dumps(which | {"error": reason}))

    def _send(self, text: str) -> None:
        with self._lock:
            if self._stopped or self._failure is not None:
                return
            try:
                self._write(text)
            except BaseException as error:  # nobody reads the answers any more
                self._failure = error

    def _stop(self) -> None:
        """End all searches and threads; nothing is written afterwards."""
        with self._lock:
            self._stopped = True
            for agent in self._agents:
                agent.halt()
        while not self._waiting.empty():
            self._waiting.get_nowait()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(1.0)
