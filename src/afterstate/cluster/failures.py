"""What Ray raises, as errors of ours: one line that says what happened, where, and what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from afterstate.cluster.address import check_address
from afterstate.errors import AfterstateError, ClusterError, InputError

_LONGEST = 300  # characters of what Ray says


def load_ray() -> Any:
    """Ray, if it is installed."""
    try:
        import ray
    except ImportError as error:
        raise InputError("a cluster needs Ray, which is not installed: pip install 'afterstate[cluster]'") from error
    return ray


def check_cluster(address: str) -> None:
    """Refuse what cannot be an address, and a missing Ray, before anything heavy is loaded."""
    check_address(address)
    if find_spec("ray") is None:
        load_ray()


@contextmanager
def translated() -> Iterator[None]:
    """Turn what Ray raises in the block into a ClusterError. An error of ours in a task is raised again, with its node."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise _of_task(error) from error
    except RayError as error:
        raise ClusterError(_explain(error)) from error


def _of_task(error: Any) -> Exception:
    """What went wrong in a task: its own error if that is of ours."""
    place = re.search(r"\bip=([^,)\s]+)", str(error))  # the error is of two classes, and keeps only the text of its node
    cause, where = error.cause, f"on node {place[1]}" if place else "on a node"
    if isinstance(cause, AfterstateError):
        return type(cause)(f"{cause} ({where})")
    if isinstance(cause, MemoryError):
        return ClusterError(f"out of memory {where}: use fewer workers, or a smaller network")
    return ClusterError(f"a task failed {where}: {_first_line(cause)}")


def _explain(error: Exception) -> str:
    from ray import exceptions as known

    reasons: list[tuple[type[Exception], str]] = [
        (known.OutOfMemoryError, "a node ran out of memory again and again; use fewer workers, or a smaller network"),
        (known.NodeDiedError, "a node was lost again and again, or none is left that could do the work"),
        (known.WorkerCrashedError, "a worker process died again and again; its node's log says why"),
        (known.ActorDiedError, "a worker process died and could not be started again"),
        (known.ObjectLostError, "what a node held was lost with it"),
        (known.ObjectStoreFullError, "the memory for shared objects is full; start Ray with a larger --object-store-memory"),
        (known.OutOfDiskError, "a node's disk is full"),
        (known.GetTimeoutError, "the cluster does not answer"),
        (known.RaySystemError, f"the cluster is gone: {_first_line(error)}"),
    ]
    return next((text for kind, text in reasons if isinstance(error, kind)), _first_line(error))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    return f"{type(error).__name__}: {text}"[:_LONGEST]
