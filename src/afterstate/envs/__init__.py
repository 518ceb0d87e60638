"""Gymnasium environments of the games. Importing this module registers them (`pip install afterstate[gym]`).

    import gymnasium
    import afterstate.envs

    env = gymnasium.make("afterstate/2048-v0", size="4x4", observation="exponents")
    envs = gymnasium.make_vec("afterstate/2048-v0", num_envs=1024)

Without the second import, write gymnasium.make("afterstate.envs:afterstate/2048-v0"): Gymnasium 1.0 and later do not look for
environments of installed packages.
"""

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("afterstate.envs needs Gymnasium: pip install 'afterstate[gym]'") from error

from afterstate.envs.single import GameEnv, Snapshot, ThreesEnv, Twenty48Env
from afterstate.envs.vector import GameVectorEnv, ThreesVectorEnv, Twenty48VectorEnv

__all__ = ["GameEnv", "GameVectorEnv", "Snapshot", "ThreesEnv", "ThreesVectorEnv", "Twenty48Env", "Twenty48VectorEnv"]

for _name, _env in {"2048": "Twenty48", "Threes": "Threes"}.items():
    # the environments check order and actions themselves: Gymnasium's wrappers would take most of a step's time
    gymnasium.register(
        f"afterstate/{_name}-v0",
        entry_point=f"afterstate.envs.single:{_env}Env",
        vector_entry_point=f"afterstate.envs.vector:{_env}VectorEnv",
        order_enforce=False,
        disable_env_checker=True,
    )
