// The curves of the chosen runs: one pair of charts for each game, since scores of two games share no scale.

import { lineChart } from "./chart.js";
import { h } from "./dom.js";
import { gameFacts } from "./games.js";
import { full, percent } from "./scale.js";
import { t } from "./texts.js";
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
    series: [], title: t("train.meanover"), xLabel: t("games.axis"), yLabel: t("train.mean"), valueFormat: full,
    height: 300, xMin: 0, empty: t("train.first"),
  });
  const tiles = lineChart({
    series: [], title: t("train.ratesover"), xLabel: t("games.axis"), yLabel: t("train.reaching"),
    yFormat: (share) => percent(share, 0), valueFormat: percent, height: 320, xMin: 0, yMin: 0, yMax: 1,
  });
  score.dataset.testid = "chart-score";
  tiles.dataset.testid = "chart-tiles";
  const titles = [h("h2", {}, t("word.score")), h("h2", {}, t("look.tiles"))];
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
  if (runs.length === 1) return ["train.scoreof", "train.tilesof"].map((key) => t(key, runs[0]));
  const wins = [...new Set(runs.map((run) => run.win_tile).filter(Boolean))].map(String);
  const tile = wins.join(t("word.or")) || t("train.wintile");
  const titles = name ? ["train.gamescore", "train.gamereach"] : ["word.score", "train.reach"];
  return titles.map((key) => t(key, { name, tile }));
}
