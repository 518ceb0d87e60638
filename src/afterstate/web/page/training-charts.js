// The curves of the chosen runs: one pair of charts for each game, since scores of two games share no scale.

import { lineChart } from "./chart.js";
import { h } from "./dom.js";
import { gameFacts } from "./games.js";
import { full, percent } from "./scale.js";
import { scoreSeries, tileSeries } from "./training-series.js";

export class RunCharts {
  constructor(app) {
    this.app = app;
    this.pairs = new Map();
    this.element = h("div", { class: "stack train-charts" });
    this.#show([""]);
  }

  destroy() {
    for (const pair of this.pairs.values()) pair.destroy();
  }

  /** Draws runs: [{run, records, color}, ..]. */
  draw(shown) {
    const games = [...new Set(shown.map(({ run }) => run.game))];
    this.#show(games.length ? games : [""]);
    for (const [game, pair] of this.pairs) {
      const name = games.length > 1 ? gameFacts(this.app, game)?.title ?? game : "";
      pair.draw(shown.filter(({ run }) => run.game === game), gameFacts(this.app, game)?.faces ?? [], name);
    }
  }

  /** Has one pair for each game; a pair that stays is not drawn anew. */
  #show(games) {
    if ([...this.pairs.keys()].join() === games.join()) return;
    const before = this.pairs;
    this.pairs = new Map(games.map((game) => [game, before.get(game) ?? pairOfCharts()]));
    for (const [game, pair] of before) if (!this.pairs.has(game)) pair.destroy();
    this.element.replaceChildren(...[...this.pairs.values()].flatMap((pair) => pair.figures));
  }
}

/** Score and tile rates: {figures, draw(shown, faces, name), destroy()}. */
function pairOfCharts() {
  const score = lineChart({
    series: [], title: "Mean score over games", xLabel: "games", yLabel: "mean score", valueFormat: full,
    height: 300, xMin: 0, empty: "The first data comes after a block of games",
  });
  const tiles = lineChart({
    series: [], title: "Tile rates over games", xLabel: "games", yLabel: "games that reach the tile",
    yFormat: (share) => percent(share, 0), valueFormat: percent, height: 320, xMin: 0, yMin: 0, yMax: 1,
  });
  score.dataset.testid = "chart-score";
  tiles.dataset.testid = "chart-tiles";
  const titles = [h("h2", {}, "Score"), h("h2", {}, "Tiles")];
  const figures = [score, tiles].map((chart, at) =>
    h("figure", { class: "card train-chart" }, h("figcaption", {}, titles[at]), chart));
  const draw = (shown, faces, name) => {
    const [scoreTitle, tileTitle] = titlesOf(shown.map(({ run }) => run), name);
    titles[0].textContent = scoreTitle;
    titles[1].textContent = tileTitle;
    score.update(scoreSeries(shown));
    tiles.update(tileSeries(shown, faces));
  };
  const destroy = () => [score, tiles].forEach((chart) => chart.destroy());
  return { figures, draw, destroy };
}

function titlesOf(runs, name) {
  if (runs.length === 1) return [`Score of ${runs[0].name}`, `Tiles of ${runs[0].name}`];
  const wins = [...new Set(runs.map((run) => run.win_tile).filter(Boolean))].map(String);
  const tile = wins.join(" or ") || "the win tile";
  return name ? [`${name}: score`, `${name}: games that reach ${tile}`] : ["Score", `Games that reach ${tile}`];
}
