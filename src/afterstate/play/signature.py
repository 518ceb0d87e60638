"""Signatures: did a change to a kernel change its results? A test pins all of them."""

import hashlib
import json
from itertools import product

from afterstate.learning.options import TrainGiven, TrainOptions
from afterstate.learning.trainer import train

_SHORT: TrainGiven = {"network": "5x4", "games": 200, "block": 200, "threads": 1, "seed": 1}
_TC: TrainGiven = {"method": "tc", "lambda_": 0.5}
SIGNED: dict[str, TrainGiven] = {  # short runs that cover the games, learning rules, backups and starts
    "2048 td": {},
    "2048 td backward": {"order": "backward"},
    "2048 tc": {"method": "tc"},
    "2048 tc lambda": {"method": "tc", "lambda_": 0.5},
    "2048 tc steps": {"method": "tc", "steps": 3},
    "2048 tc backward": {"method": "tc", "order": "backward", "lambda_": 0.5},
    "2048 td state": {"target": "state", "games": 10, "block": 10},
    "2048 tc stages": {"method": "tc", "lambda_": 0.5, "stages": "0,128,512", "starts": "carousel"},
    "2048 td restart": {"starts": "restart"},
    "threes tcg2022 tc": {"rules": "tcg2022", **_TC},
    "threes tcg2018-bonus tc": {"rules": "tcg2018-bonus", **_TC},
    "threes official tc": {"rules": "official", **_TC},
}


def signature(name: str) -> str:
    """Hash of the scores and weights after one of the SIGNED runs. It changes if and only if a kernel's results do.

    The layout of the tables in memory does not matter.
    """
    run = train(TrainOptions.read(name.split(maxsplit=1)[0], **(_SHORT | SIGNED[name])), run=False)
    measured = [[record[key] for key in ("games", "mean", "max", "moves")] for record in run.metrics]
    network, digest = run.last, hashlib.sha256()
    for record in measured:
        digest.update(json.dumps(record).encode())
    for stage, context, number in product(*map(range, (len(network.stages), network.contexts, len(network.patterns)))):
        digest.update(network.tiles(number, stage, context).tobytes())
    return digest.hexdigest()[:12]
