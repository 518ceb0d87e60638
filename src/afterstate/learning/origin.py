"""Start a run from a model: `train --from MODEL`, or from a network of a Python program."""

from pathlib import Path
from typing import Any

from afterstate.errors import InputError
from afterstate.learning.plan import Plan
from afterstate.learning.runfolder import find_model
from afterstate.network.inherit import check_heir, inherit
from afterstate.network.modelfile import load_model, open_model
from afterstate.network.network import Network

IN_MEMORY = "(a network in memory)"  # what the options of a run call it


def with_model(given: dict[str, Any], origin: Network | None = None) -> dict[str, Any]:
    """The given options, and for those that are not given what the model they start from has; or the network `origin`."""
    if origin is None and given.get("from_") is None:
        return given
    where = IN_MEMORY
    if origin is not None:
        source, given = origin, given | {"from_": IN_MEMORY}
    else:
        where = str(find_model(given["from_"]))
        with open_model(where) as file:
            source = file.describe()
    model: dict[str, Any] = {"game": source.game.name, "rules": source.game.rules, "size": str(source.game.shape)}
    model |= {"symmetry": source.symmetry, "context": source.context, "target": source.target}
    model |= {"network": ",".join(source.patterns), "stages": ",".join(map(str, source.stages))}
    if given.get("game", model["game"]) != model["game"]:
        raise InputError(f"{where} is a model for {model['game']}, not for {given['game']}")
    return model | {name: value for name, value in given.items() if value is not None}


class Origin:
    """The model that a run starts from."""

    def __init__(self, plan: Plan, network: Network) -> None:
        if (given := plan.objects.origin) is not None:
            self.path: Path | None = None
            self.model = given
        elif plan.options.from_ == IN_MEMORY:
            raise InputError("this run was to start from a network in memory: start it again in Python, with that network")
        else:
            self.path = find_model(str(plan.options.from_))
            self.model = load_model(self.path)
        check_heir(network, self.model)

    def give(self, network: Network) -> str:
        """Copy what the model knows -> what that is, for people."""
        inherit(network, self.model)
        training = self.model.training
        parts = [f"weights of {self.path or 'the given network'} ({training.games:,} games)"]
        pairs = zip(network.patterns, network.layout, strict=True)
        if new := [pattern for pattern, cells in pairs if cells not in self.model.layout]:
            parts.append(f"{', '.join(new)} start at 0")
        if new_stages := [str(face) for face in network.stages if face not in self.model.stages]:
            parts.append(f"stage {', '.join(new_stages)} starts from the stage before")
        if self.model.contexts != network.contexts:
            parts.append(f"every case of {network.context} starts from the same weights")
        if self.model.target != network.target:
            parts.append(f"values of {self.model.target}s are taken for values of {network.target}s")
        if self.model.game.rules != network.game.rules:
            parts.append(f"learned by the rules {self.model.game.rules}, not {network.game.rules}")
        return "; ".join(parts)
