"""Your own environment: it puts every new tile where it hurts most. Run: python examples/adversary.py"""

from collections.abc import Sequence

import afterstate as af


class Adversary(af.RandomEnvironment):
    """Picks, among all new tiles that the rules allow, the one with the lowest value for the network."""

    name = "adversary"

    def __init__(self, network: af.Network, seed: int) -> None:
        super().__init__(seed)
        self.agent = af.Agent(network)

    def choose(self, game: af.Game, afterstate: af.Afterstate, outcomes: Sequence[af.Outcome]) -> af.State:  # noqa: ARG002
        return min(outcomes, key=self.hope).state

    def hope(self, outcome: af.Outcome) -> float:
        values = self.agent.choose(outcome.state).values.values()
        return max((value for value in values if value is not None), default=0.0)


if __name__ == "__main__":
    game = af.make("threes", rules="tcg2022")
    network = af.train(game, network="0123,4567,0145", method="tc", games=3000, threads=1, run=False).network
    for environment in (af.RandomEnvironment(seed=1), Adversary(network, seed=1)):
        summary, _ = af.play_episodes(game, af.NetworkPlayer(network), environment, games=20)
        print(f"against {environment.name}: mean {summary.mean:.0f}, {summary.moves} slides")
