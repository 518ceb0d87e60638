// Summary of a review: score, accuracy, loss and luck, and the worst moves with the better line.

import { Board, shapeOf } from "./board.js";
import { lostWords } from "./coach-words.js";
import { ARROWS, h } from "./dom.js";
import { full, percent, signed } from "./scale.js";

const RANKS = ["worst", "second", "third"];

/** The main figures of an answer of /api/coach. If you played, the accuracy is that of your moves. */
export function figures(answer) {
  const { accuracy, yours, ais } = answer;
  const both = yours !== null && ais !== null;
  const told = both ? `Your moves. AI: ${percent(ais / 100)}.` : "100% gives nothing away.";
  const main = h("div", { class: "coach-figure coach-main", data: { testid: "coach-accuracy" } },
    h("dt", {}, "Accuracy"),
    h("dd", {}, h("span", { class: "coach-big num" }, percent((yours ?? accuracy) / 100)),
      h("span", { class: "coach-why" }, told)));
  const plain = [
    ["Score", full(answer.score)], ["Largest tile", full(answer.largest)], ["Best moves", percent(answer.best_share)],
    ["Mean loss", answer.mean_regret < 10 ? answer.mean_regret.toFixed(1) : full(answer.mean_regret)],
  ].map(([name, value]) => h("div", { class: "coach-figure" }, h("dt", {}, name),
    h("dd", { class: "num coach-value" }, value)));
  return h("dl", { class: "card coach-figures" }, main, plain, luckMeter(answer));
}

/** Luck, on a scale up to half of the score expected at the start, or to the luck itself if it is larger. */
function luckMeter({ luck_total: luck, values }) {
  const range = Math.max(Math.abs(luck), values[0] / 2, 1);
  const words = Math.abs(luck) < range / 20 ? "Neither good nor bad luck." : luck > 0 ? "Good luck." : "Bad luck.";
  const bar = h("span", { class: "coach-meter-bar", data: { sign: luck < 0 ? "minus" : "plus" } });
  const share = (Math.abs(luck) / range) * 50;
  bar.style.width = `${share}%`;
  bar.style.left = luck < 0 ? `${50 - share}%` : "50%";
  const meter = h("span", {
    class: "coach-meter", role: "meter", "aria-label": "Luck", "aria-valuetext": `${signed(luck)} points. ${words}`,
    "aria-valuemin": Math.round(-range), "aria-valuemax": Math.round(range), "aria-valuenow": Math.round(luck),
  }, bar);
  return h("div", { class: "coach-figure coach-luck", data: { testid: "coach-luck" } }, h("dt", {}, "Luck"),
    h("dd", {}, h("span", { class: "coach-value num" }, `${signed(luck)} points`), meter,
      h("span", { class: "coach-why" }, words)));
}

/** Cards for the worst moves of an answer of /api/coach; `jump(ply)` is called when one is chosen. */
export function worstMoves(answer, faces, mover, jump) {
  const moves = answer.worst.filter((one) => one.regret >= 0.5);
  const cards = moves.map((move, at) =>
    card({ answer, faces, who: mover(move.ply), move, rank: RANKS[at], jump: () => jump(move.ply) }));
  const none = h("p", { class: "muted" }, "By the model's values, no move lost anything.");
  return h("section", { class: "stack coach-worst", data: { testid: "coach-worst" }, "aria-label": "Worst moves" },
    h("h2", {}, "What cost most"), cards.length ? h("ol", { class: "coach-cards" }, cards) : none);
}

function card({ answer, faces, who, move, rank, jump }) {
  const small = (tiles) => {
    const board = new Board({ ...shapeOf(answer.size), faces, game: answer.game, small: true });
    board.set(tiles);
    return board.element;
  };
  const better = move.line.map((step) => h("li", { class: "coach-step" },
    h("span", { class: "coach-arrow", role: "img", "aria-label": `slide ${step.slide}` }, ARROWS[step.slide]),
    small(step.tiles)));
  const told = h("p", {}, who && h("span", { class: "coach-who" }, `${who}: `),
    h("strong", {}, lostWords(move.slide, move.regret, move.best)), ".",
    h("span", { class: "muted little coach-share" }, `${percent(move.share)} of the expected score`));
  return h("li", { class: "card coach-card" },
    h("p", { class: "coach-card-head" },
      h("button", { class: "button quiet coach-jump", type: "button", onclick: jump },
        `Go to move ${full(move.ply + 1)}`),
      h("span", { class: "tag" }, rank)),
    h("div", { class: "coach-case" },
      h("div", { class: "coach-card-board", onclick: jump }, small(answer.tiles[move.ply])), told),
    better.length > 0 && h("div", { class: "coach-line" },
      h("p", { class: "muted little" }, "The better line, with typical new tiles"),
      h("ol", { class: "coach-steps" }, better)));
}
