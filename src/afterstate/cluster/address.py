"""Where a cluster is: HOST:PORT of its head, "auto" for the one that runs on this machine, "local" to start one here."""

import re

from afterstate.errors import InputError

LOCAL = "local"  # start Ray on this machine
AUTO = "auto"  # the cluster that this machine is a node of
_ADDRESS = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})")
_CLIENT = "ray://"


def is_address(text: str) -> bool:
    """Whether a text looks like the address of a cluster."""
    return text in {LOCAL, AUTO} or _ADDRESS.fullmatch(text.removeprefix(_CLIENT)) is not None


def split_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    match = _ADDRESS.fullmatch(address)
    assert match is not None
    return match[1].strip("[]"), int(match[2])


def is_loopback(address: str) -> bool:
    """Whether an address is one that only this machine can reach."""
    return address != AUTO and split_address(address)[0] in {"127.0.0.1", "::1", "localhost"}


def check_address(address: str) -> None:
    """Refuse what cannot be an address."""
    if not is_address(address):
        raise InputError(f"a cluster's address is HOST:PORT, {AUTO} or {LOCAL}, not {address!r}")
    if address.startswith(_CLIENT):
        raise InputError(
            f"{address} is for Ray's client, which is not supported: run the command on a machine of the cluster, "
            f"with the port of its head, as in {address.removeprefix('ray://').rpartition(':')[0]}:6379"
        )
