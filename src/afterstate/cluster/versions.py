"""All nodes of a cluster must run the same code: the package, Python and Numba are compared before anything begins."""

from collections.abc import Sequence
from typing import Any, Protocol

from afterstate.cluster.failures import load_ray
from afterstate.errors import ClusterError

PATIENCE = 25.0  # seconds in which a node must have started a worker


class _Named(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


def make_reader() -> Any:
    """A function that reads the versions where it runs -> {name: version}.

    It is made in a function, so that it travels as code: a node may lack the package.
    """

    def read() -> dict[str, str]:
        import hashlib
        import sys
        from importlib.metadata import PackageNotFoundError, version
        from importlib.util import find_spec
        from pathlib import Path

        found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}"}
        for name in ("afterstate", "numba"):
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "missing"
        spec = find_spec("afterstate")
        digest = hashlib.sha256()
        for folder in spec.submodule_search_locations or () if spec else ():
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
        found["source code of afterstate"] = digest.hexdigest()[:12]
        return found

    return read


def check_versions(nodes: Sequence[_Named]) -> None:
    """Raise a ClusterError if a node runs other versions than this process."""
    ray = load_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    read = make_reader()
    task = ray.remote(read)
    there = [NodeAffinitySchedulingStrategy(node.id, soft=False) for node in nodes]
    asked = [task.options(num_cpus=0, max_retries=0, scheduling_strategy=place).remote() for place in there]
    ready, _ = ray.wait(asked, num_returns=len(asked), timeout=PATIENCE)
    here = read()
    for name, answer in zip([node.name for node in nodes], asked, strict=True):
        if answer not in ready:
            raise ClusterError(f"node {name} does not answer: no worker started there within {PATIENCE:.0f} s")
        try:
            found = ray.get(answer)
        except ray.exceptions.RayError as error:
            raise ClusterError(f"node {name} cannot run a worker: {str(error).splitlines()[0]:.200}") from error
        different = [f"{part} {found[part]} (here {version})" for part, version in here.items() if found[part] != version]
        if different:
            raise ClusterError(f"node {name} has {', '.join(different)}: install the same versions on all nodes")
