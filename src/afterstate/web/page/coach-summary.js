// Summary of a review: score, accuracy, loss and luck, and the worst moves with the better line.

import { Board, shapeOf } from "./board.js";
import { lostWords } from "./coach-words.js";
import { ARROWS, h } from "./dom.js";
import { full, percent, signed } from "./scale.js";
import { t, way } from "./texts.js";

const RANKS = ["coach.rank1", "coach.rank2", "coach.rank3"];

/** The main figures of an answer of /api/coach. If you played, the accuracy is that of your moves. */
export function figures(answer) {
  const { accuracy, yours, ais } = answer;
  const both = yours !== null && ais !== null;
  const told = both ? t("coach.yourmoves", { ai: percent(ais / 100) }) : t("coach.full");
  const main = h("div", { class: "coach-figure coach-main", data: { testid: "coach-accuracy" } },
    h("dt", {}, t("coach.accuracy")),
    h("dd", {}, h("span", { class: "coach-big num" }, percent((yours ?? accuracy) / 100)),
      h("span", { class: "coach-why" }, told)));
  const plain = [
    [t("word.score"), full(answer.score)], [t("coach.largest"), full(answer.largest)],
    [t("coach.bestmoves"), percent(answer.best_share)],
    [t("coach.meanloss"), answer.mean_regret < 10 ? answer.mean_regret.toFixed(1) : full(answer.mean_regret)],
  ].map(([name, value]) => h("div", { class: "coach-figure" }, h("dt", {}, name),
    h("dd", { class: "num coach-value" }, value)));
  return h("dl", { class: "card coach-figures" }, main, plain, luckMeter(answer));
}

/** Luck, on a scale up to half of the score expected at the start, or to the luck itself if it is larger. */
function luckMeter({ luck_total: luck, values }) {
  const range = Math.max(Math.abs(luck), values[0] / 2, 1);
  const words = Math.abs(luck) < range / 20 ? t("coach.noluck") : luck > 0 ? t("coach.good") : t("coach.bad");
  const bar = h("span", { class: "coach-meter-bar", data: { sign: luck < 0 ? "minus" : "plus" } });
  const share = (Math.abs(luck) / range) * 50;
  bar.style.width = `${share}%`;
  bar.style.left = luck < 0 ? `${50 - share}%` : "50%";
  const points = t("coach.points", { n: signed(luck) });
  const meter = h("span", {
    class: "coach-meter", role: "meter", "aria-label": t("coach.luck"), "aria-valuetext": `${points}${t("word.pause")}${words}`,
    "aria-valuemin": Math.round(-range), "aria-valuemax": Math.round(range), "aria-valuenow": Math.round(luck),
  }, bar);
  return h("div", { class: "coach-figure coach-luck", data: { testid: "coach-luck" } }, h("dt", {}, t("coach.luck")),
    h("dd", {}, h("span", { class: "coach-value num" }, points), meter,
      h("span", { class: "coach-why" }, words)));
}

/** Cards for the worst moves of an answer of /api/coach; `jump(ply)` is called when one is chosen. */
export function worstMoves(answer, faces, mover, jump) {
  const moves = answer.worst.filter((one) => one.regret >= 0.5);
  const cards = moves.map((move, at) =>
    card({ answer, faces, who: mover(move.ply), move, rank: t(RANKS[at]), jump: () => jump(move.ply) }));
  const none = h("p", { class: "muted" }, t("coach.nothing"));
  return h("section", { class: "stack coach-worst", data: { testid: "coach-worst" }, "aria-label": t("coach.worst") },
    h("h2", {}, t("coach.cost")), cards.length ? h("ol", { class: "coach-cards" }, cards) : none);
}

function card({ answer, faces, who, move, rank, jump }) {
  const small = (tiles) => {
    const board = new Board({ ...shapeOf(answer.size), faces, game: answer.game, small: true });
    board.set(tiles);
    return board.element;
  };
  const better = move.line.map((step) => h("li", { class: "coach-step" },
    h("span", { class: "coach-arrow", role: "img", "aria-label": t("coach.slide", { slide: way(step.slide) }) },
      ARROWS[step.slide]),
    small(step.tiles)));
  const told = h("p", {}, who && h("span", { class: "coach-who" }, t("word.says", { who })),
    h("strong", {}, lostWords(move.slide, move.regret, move.best)), t("word.stop"),
    h("span", { class: "muted little coach-share" }, t("coach.share", { share: percent(move.share) })));
  return h("li", { class: "card coach-card" },
    h("p", { class: "coach-card-head" },
      h("button", { class: "button quiet coach-jump", type: "button", onclick: jump },
        t("coach.goto", { n: full(move.ply + 1) })),
      h("span", { class: "tag" }, rank)),
    h("div", { class: "coach-case" },
      h("div", { class: "coach-card-board", onclick: jump }, small(answer.tiles[move.ply])), told),
    better.length > 0 && h("div", { class: "coach-line" },
      h("p", { class: "muted little" }, t("coach.better")),
      h("ol", { class: "coach-steps" }, better)));
}
