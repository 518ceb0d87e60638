// The review of a game: chart, bars below it, the board at the cursor, and controls to move through the game.

import { Board, shapeOf } from "./board.js";
import { lineChart } from "./chart.js";
import { strip } from "./coach-strips.js";
import { figures, worstMoves } from "./coach-summary.js";
import { ARROWS, NAMES, h } from "./dom.js";
import { full, short, signed } from "./scale.js";

const NOTE = "Bars: the largest value of each pixel, on a square-root scale. Points refer to the expected score.";
const MARGIN = { left: 52, right: 14 };
const MISTAKE = 0.01; // share of the expected final score

/** Plies that lost at least one percent of the expected final score. */
export function mistakesOf({ regrets, values }) {
  return regrets.flatMap((regret, ply) => (regret >= Math.max(4, MISTAKE * values[ply]) ? [ply] : []));
}

/** Shows an answer of /api/coach: `element`, go(ply), nextMistake(), close(). */
export class Review {
  constructor(answer, { faces, who, ply = 0, onPly, announce }) {
    Object.assign(this, { answer, onPly, announce });
    this.mistakes = mistakesOf(answer);
    this.#charts();
    this.board = new Board({ ...shapeOf(answer.size), faces, game: answer.game, size: 360 });
    this.board.element.dataset.testid = "coach-board";
    this.told = h("div", { class: "coach-told", "aria-live": "off" });
    const controls = this.#controls();
    const picture = h("div", { class: "card coach-picture" }, h("h2", {}, "Expected final score over the game"),
      this.chart, this.regrets, this.luck, h("p", { class: "muted coach-note" }, NOTE));
    const at = h("div", { class: "card stack tight coach-at" }, this.board.element, this.told, controls);
    this.element = h("div", { class: "stack coach-review" }, figures(answer),
      h("div", { class: "coach-layout" }, picture, at),
      worstMoves(answer, faces, who, (to) => this.#jump(to)));
    this.keys = (event) => this.#key(event);
    document.addEventListener("keydown", this.keys);
    this.go(Math.min(ply, answer.plies));
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    for (const part of [this.chart, this.regrets, this.luck]) part.destroy();
  }

  #charts() {
    const { values, regrets, luck } = this.answer;
    const wide = matchMedia("(min-width: 861px)").matches;
    const onPick = (ply) => this.go(ply);
    this.chart = lineChart({
      series: [{ name: "", points: values.map((value, ply) => [ply, value]), color: 1, dashed: 0 }],
      title: "Expected final score", xLabel: "moves made", yLabel: "", yFormat: short, valueFormat: full,
      height: wide ? 310 : 230, margin: MARGIN, cursor: 0, onPick,
    });
    this.chart.dataset.testid = "coach-chart";
    const shared = { margin: MARGIN, onPick };
    this.regrets = strip({ values: regrets, title: "Regret of each move, in points", height: 78, ...shared });
    const title = "Luck of each new tile, in points";
    this.luck = strip({ values: luck, title, both: true, height: 104, ...shared });
  }

  #controls() {
    this.scrub = h("input", {
      type: "range", min: 0, max: this.answer.plies, step: 1, "aria-label": "Move", data: { testid: "coach-scrub" },
    });
    this.scrub.addEventListener("input", () => this.go(Number(this.scrub.value)));
    const button = (words, label, action, props = {}) =>
      h("button", { class: "button", type: "button", "aria-label": label, onclick: action, ...props }, words);
    this.back = button("←", "Previous move", () => this.go(this.ply - 1));
    this.on = button("→", "Next move", () => this.go(this.ply + 1));
    this.next = button("Next mistake", null, () => this.nextMistake(), { data: { testid: "coach-next-mistake" } });
    this.next.append(h("kbd", {}, "N"));
    const count = this.mistakes.length;
    this.next.disabled = !count;
    const told = count
      ? `${full(count)} ${count === 1 ? "mistake" : "mistakes"}: moves that lost at least 1% of the expected score.`
      : "No mistakes: no move lost 1% of the expected score.";
    return h("div", { class: "stack tight coach-controls" }, this.scrub,
      h("div", { class: "row" }, this.back, this.on, this.next), h("p", { class: "muted little" }, told));
  }

  /** Shows the game at a ply; the last one is its end. */
  go(to) {
    const ply = Math.max(0, Math.min(this.answer.plies, to));
    if (ply === this.ply) return;
    this.ply = ply;
    this.board.set(this.answer.tiles[ply]);
    this.scrub.value = ply;
    this.scrub.setAttribute("aria-valuetext", `Move ${full(ply)} of ${full(this.answer.plies)}`);
    for (const part of [this.chart, this.regrets, this.luck]) part.setCursor(ply);
    this.back.setAttribute("aria-disabled", ply === 0);
    this.on.setAttribute("aria-disabled", ply === this.answer.plies);
    this.#tell(ply);
    this.onPly?.(ply);
  }

  nextMistake() {
    const to = this.mistakes.find((ply) => ply > this.ply) ?? this.mistakes[0];
    if (to !== undefined) this.#jump(to);
  }

  #tell(ply) {
    const { answer } = this;
    const over = ply === answer.plies;
    const made = NAMES[answer.slides[ply]], best = NAMES[answer.best[ply]];
    const right = made === best;
    const where = over ? "The end" : `Move ${full(ply + 1)} of ${full(answer.plies)}`;
    const chips = [chip("made", made, "made"), chip("best", best, right ? "best" : "better")];
    this.told.replaceChildren(
      h("p", { class: "row apart num coach-where" }, h("strong", {}, where),
        h("span", { class: "muted" }, `score ${full(answer.scores[ply])}`)),
      h("p", { class: "row coach-slides" }, over ? "No more moves." : chips),
      h("p", { class: "little coach-cost" }, over ? `Final score ${full(answer.score)}.` : this.#cost(ply, right)));
  }

  #cost(ply, right) {
    const { regrets, luck, choices } = this.answer;
    let cost = `The slide lost ${full(regrets[ply])}.`;
    if (choices[ply] === 1) cost = "The only legal slide.";
    else if (right) cost = "The best slide.";
    else if (regrets[ply] < 0.5) cost = "As good as the best slide.";
    return `${cost} Luck of the new tile: ${signed(luck[ply])}.`;
  }

  #jump(to) {
    this.go(to);
    this.board.element.scrollIntoView({ block: "nearest" });
    this.announce([...this.told.children].map((part) => part.innerText).join(". "));
  }

  #key(event) {
    const typing = event.target.closest("select, textarea, input:not([type=range])");
    const scrubbing = event.target === this.scrub && event.key.toLowerCase() !== "n";
    if (event.altKey || event.ctrlKey || event.metaKey || typing || scrubbing) return;
    const action = {
      arrowleft: () => this.go(this.ply - 1), arrowright: () => this.go(this.ply + 1), n: () => this.nextMistake(),
      home: () => this.go(0), end: () => this.go(this.answer.plies),
    }[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

function chip(kind, slide, words) {
  return h("span", { class: "coach-chip", data: { kind } },
    h("span", { class: "coach-chip-arrow", "aria-hidden": "true" }, ARROWS[slide]),
    h("span", {}, `${words}: ${slide}`));
}
