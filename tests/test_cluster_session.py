"""A connection to Ray: started here or by address, told in one line where it fails, and nothing left of it."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import ray

from afterstate.cluster.connection import connect
from afterstate.errors import ClusterError, InputError
from commandline import PATIENCE
from processes import SOON, are_gone, family

STARTED = """
import os, sys, threading
from afterstate.cluster.connection import connect
stop = threading.Event()
with connect("local", stop) as session:
    import ray
    ray.get(ray.remote(lambda: os.getpid()).remote())
    print("ready", flush=True)
    stop.wait(60)
print("stopped", flush=True)
"""


@contextmanager
def started() -> Iterator[tuple["subprocess.Popen[str]", set[int]]]:
    """A program that has started Ray, and all processes that belong to it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {
        "RAY_AUTH_TOKEN": "0" * 32
    }
    process = subprocess.Popen([sys.executable, "-c", STARTED], stdout=subprocess.PIPE, text=True, env=environment)
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process, family(process.pid)
        finally:
            process.kill()


class TestOwn:
    """Ray that we start ourselves."""

    def test_it_listens_on_loopback_only(self, cluster: str) -> None:
        ours = {f"pid={one}," for one in family(os.getpid())}
        listing = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
        addresses = [line.split()[3] for line in listing.splitlines() if any(one in line for one in ours)]
        assert len(addresses) >= 5
        assert {address.rpartition(":")[0] for address in addresses} <= {"127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"}

    @pytest.mark.parametrize("how", ["SIGINT", "SIGTERM"])
    def test_nothing_is_left_after_a_signal(self, how: str) -> None:
        import signal

        with started() as (process, processes):
            assert len(processes) >= 5
            process.send_signal(signal.Signals[how])
            out, _ = process.communicate(timeout=SOON)
            assert are_gone(processes, SOON) == set()
            assert out == "stopped\n"


class TestAddress:
    def test_a_second_process_connects_by_address(self, cluster: str) -> None:
        code = STARTED.replace('"local"', "sys.argv[1]").replace("stop.wait(60)", "print(session.address)")
        done = subprocess.run(
            [sys.executable, "-c", code, cluster], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.stdout, done.stderr) == (f"ready\n{cluster}\nstopped\n", "")

    def test_a_connected_process_uses_its_connection(self, cluster: str) -> None:
        with connect("local", threading.Event()) as session:
            assert (session.address, session.ours) == (cluster, False)
            assert [node.processors for node in session.nodes()] == [len(os.sched_getaffinity(0))]
        assert ray.is_initialized()

    def test_another_address_is_refused_meanwhile(self, cluster: str) -> None:
        with (
            pytest.raises(InputError, match=rf"connected to the cluster at {cluster} already"),
            connect("127.0.0.1:1", threading.Event()),
        ):
            pass

    @pytest.mark.parametrize("address", ["", "nonsense", "a:b", "host:123456", "model.safetensors"])
    def test_what_is_no_address(self, address: str) -> None:
        with pytest.raises(InputError, match=f"HOST:PORT, auto or local, not {address!r}"), connect(address, threading.Event()):
            pass

    def test_a_client_address_is_refused(self) -> None:
        with pytest.raises(InputError, match=re.escape("as in head:6379")), connect("ray://head:10001", threading.Event()):
            pass


def failure(address: str) -> tuple[str, float]:
    """What a process of its own says of an address, and the seconds until then."""
    code = """
import sys, threading
from afterstate.cluster.connection import connect
from afterstate.errors import ClusterError
try:
    with connect(sys.argv[1], threading.Event()):
        pass
except ClusterError as error:
    print(error)
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, address], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stderr == ""
    return done.stdout.strip(), time.monotonic() - began


class TestUnreachable:
    def test_nobody_listens(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        text, seconds = failure(address)
        assert text == f"cannot connect to the Ray cluster at {address}: Connection refused"
        assert seconds < SOON

    def test_no_such_host(self) -> None:
        text, seconds = failure("no-such-host.invalid:6379")
        assert text.startswith("cannot connect to the Ray cluster at no-such-host.invalid:6379: ")
        assert seconds < SOON

    @pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
    def test_something_else_listens(self, says: bytes) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:

            def answer() -> None:
                talk, _ = server.accept()
                with talk:
                    talk.recv(100)
                    talk.sendall(says)

            threading.Thread(target=answer, daemon=True).start()
            address = f"127.0.0.1:{server.getsockname()[1]}"
            text, seconds = failure(address)
        assert text == f"cannot connect to the Ray cluster at {address}: what answers there is not Ray"
        assert seconds < SOON


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=re.escape("pip install 'afterstate[cluster]'")), connect("local", threading.Event()):
        pass


def test_the_head_is_checked(cluster: str) -> None:
    from afterstate.cluster.connection import Session

    Session(cluster, ours=False).check()
    with pytest.raises(ClusterError, match=r"the head of the Ray cluster at 127.0.0.1:1 is gone: Connection refused"):
        Session("127.0.0.1:1", ours=False).check()
