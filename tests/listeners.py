"""Listeners that several test files use."""

import threading

from afterstate.games.results import Summary
from afterstate.learning.progress import Listener, Progress


class StopAt(Listener):
    """Asks for a stop after some games, at the end of a block or in the middle of one."""

    def __init__(self, games: int) -> None:
        self.games = games
        self.stop = threading.Event()

    def on_progress(self, progress: Progress) -> None:
        if progress.games >= self.games:
            self.stop.set()

    def on_block(self, games: int, block: Summary) -> None:
        if games >= self.games:
            self.stop.set()
