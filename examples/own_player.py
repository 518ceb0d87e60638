"""Your own player: keep many cells empty, and large tiles near a corner. Run: python examples/own_player.py"""

import afterstate as af


class Corner(af.Player):
    """Looks one slide ahead, and counts empty cells and tiles, weighted by how close they are to the first cell."""

    name = "corner"

    def choose(self, game: af.Game, state: af.State) -> af.Slide:
        slid = game.afterstates(state)
        return max(slid, key=lambda slide: self.worth(game, slid[slide]))

    def worth(self, game: af.Game, afterstate: af.Afterstate) -> float:
        cells = game.cells(afterstate)
        corner = sum(2.0**tile / (1 + number // 4 + number % 4) for number, tile in enumerate(cells))
        return afterstate.reward + corner + 30 * cells.count(0)

    def close_episode(self, episode: af.Record) -> None:
        print(f"{episode.score} points in {len(episode)} slides, largest tile {episode.largest}")


if __name__ == "__main__":
    summary, episodes = af.play_episodes(af.make("2048"), Corner(), af.RandomEnvironment(seed=1), games=5)
    print(f"mean {summary.mean:.0f}; the first game in the format of the course's framework:")
    print(af.episode_line(episodes[0])[:100], "...")
