"""A process with all kernels loaded that forks a command line for each order: hundreds of them start in an instant each.

Run as a script it reads orders, a JSON list each, from standard input: ["rehearse", LOG, ARGUMENT...] runs a command here, to
load its kernels; ["start", LOG, ARGUMENT...] -> the id of a new process; ["wait", ID] -> its exit code, or minus the signal
that ended it. `Nursery` is the other side.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

PATIENCE = 180.0  # seconds


class Child:
    """One command that the nursery has started."""

    def __init__(self, nursery: "Nursery", pid: int, log: Path) -> None:
        self.nursery, self.pid, self.log = nursery, pid, log

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Its exit code, or minus the signal that ended it. A traceback in what it wrote is an error."""
        code = self.nursery.order("wait", str(self.pid))
        assert "Traceback" not in self.log.read_text(), self.log.read_text()
        return code

    def wait_until(self, condition: Callable[[], object]) -> bool:
        """Wait until something holds -> False if the process ended before."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if not _is_running(self.pid):
                return bool(condition())
            assert time.monotonic() < deadline, f"it takes too long: {self.log.read_text()}"
            time.sleep(0.001)
        return True


class Nursery:
    """Starts command lines, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def order(self, *words: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([str(word) for word in words]), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def rehearse(self, *arguments: object) -> None:
        """Run a command in the nursery itself: those that it starts from now on have the kernels of this one."""
        log = self._log()
        assert self.order("rehearse", log, *arguments) == 0, log.read_text()

    def start(self, *arguments: object) -> Child:
        log = self._log()
        log.touch()  # it may be killed before it can
        return Child(self, self.order("start", log, *arguments), log)

    def _log(self) -> Path:
        self._count += 1
        return self._folder / f"{self._count}.log"

    def close(self) -> None:
        assert self._process.stdin is not None
        with self._process:  # closes its pipes
            self._process.stdin.close()
            self._process.wait(PATIENCE)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _run(arguments: list[str], log: str) -> int:
    """Run a command line in this process, with its output in a file -> its exit code."""
    from afterstate.__main__ import main

    sys.argv = ["afterstate", *arguments]
    with open(log, "w") as output, contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        with contextlib.suppress(KeyboardInterrupt):  # it may come at once
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            main()
        except SystemExit as stop:
            return int(stop.code or 0)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    return 0


def _serve() -> None:
    """Obey the orders. This process has no threads when it forks: those of a rehearsal have ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until a command can meet it
    for line in sys.stdin:
        order, *words = json.loads(line)
        if order == "wait":
            print(os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1]), flush=True)
        elif order == "rehearse":
            print(_run(words[1:], words[0]), flush=True)
        elif child := os.fork():
            print(child, flush=True)
        else:
            os.close(0)
            os._exit(_run(words[1:], words[0]))


if __name__ == "__main__":
    _serve()
