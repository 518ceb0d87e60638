// The review of a game: chart, bars below it, the board at the cursor, and controls to move through the game.

import { Board, shapeOf } from "./board.js";
import { lineChart } from "./chart.js";
import { moveList } from "./coach-moves.js";
import { strip } from "./coach-strips.js";
import { figures, worstMoves } from "./coach-summary.js";
import { fourOf, mistakesOf, moversOf, positionText, verdict } from "./coach-words.js";
import { ARROWS, h } from "./dom.js";
import { analyseHash } from "./links.js";
import { full, short, signed } from "./scale.js";
import { t, way } from "./texts.js";

const MARGIN = { left: 52, right: 14 };

/** Shows an answer of /api/coach: `element`, go(ply), nextMistake(), previousMistake(), close(). */
export class Review {
  constructor(answer, { faces, who, marks, ply = 0, onPly, announce }) {
    Object.assign(this, { answer, faces, onPly, announce });
    this.mover = moversOf(answer, marks, who);
    this.mistakes = mistakesOf(answer);
    this.#charts();
    this.board = new Board({ ...shapeOf(answer.size), faces, game: answer.game, size: 360 });
    this.board.element.dataset.testid = "coach-board";
    this.told = h("div", { class: "coach-told", "aria-live": "off" });
    this.moves = moveList(answer, this.mover, (to) => this.go(to));
    const controls = this.#controls();
    const picture = h("div", { class: "card coach-picture" }, h("h2", {}, t("coach.chart")),
      this.chart, this.losses, this.luck, h("p", { class: "muted coach-note" }, t("coach.note")));
    const at = h("div", { class: "card stack tight coach-at" }, this.board.element, this.told, controls);
    this.element = h("div", { class: "stack coach-review" }, figures(answer),
      h("div", { class: "coach-layout" }, picture, at),
      answer.plies > 0 && this.moves.element,
      worstMoves(answer, faces, this.mover, (to) => this.#jump(to)));
    this.keys = (event) => this.#key(event);
    document.addEventListener("keydown", this.keys);
    this.go(Math.min(ply, answer.plies));
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    for (const part of [this.chart, this.losses, this.luck]) part.destroy();
  }

  #charts() {
    const { values, regrets, luck } = this.answer;
    const wide = matchMedia("(min-width: 861px)").matches;
    const onPick = (ply) => this.go(ply);
    const line = { name: "", points: values.map((value, ply) => [ply, value]), color: 1, dashed: 0 };
    const points = this.mistakes.map((ply) => [ply, values[ply]]);
    const dots = { name: "", points, color: 2, line: false, marker: "circle", silent: true };
    this.chart = lineChart({
      series: [line, dots], title: t("coach.expected"), xLabel: t("coach.made"), yLabel: "", yFormat: short, valueFormat: full,
      height: wide ? 400 : 230, margin: MARGIN, cursor: 0, onPick,
    });
    this.chart.dataset.testid = "coach-chart";
    const shared = { margin: MARGIN, onPick };
    this.losses = strip({ values: regrets, title: t("coach.losses"), height: 78, ...shared });
    const title = t("coach.lucks");
    this.luck = strip({ values: luck, title, both: true, height: 104, ...shared });
  }

  #controls() {
    this.scrub = h("input", {
      type: "range", min: 0, max: this.answer.plies, step: 1, "aria-label": t("word.move"), data: { testid: "coach-scrub" },
    });
    this.scrub.addEventListener("input", () => this.go(Number(this.scrub.value)));
    const button = (words, label, action, props = {}) =>
      h("button", { class: "button", type: "button", "aria-label": label, onclick: action, ...props }, words);
    this.back = button("←", t("coach.lastmove"), () => this.go(this.ply - 1));
    this.on = button("→", t("coach.nextmove"), () => this.go(this.ply + 1));
    const key = (element, name) => element.append(h("kbd", {}, name));
    const none = { disabled: !this.mistakes.length };
    const named = (testid) => ({ ...none, data: { testid } });
    this.last = button(t("coach.leftm"), t("coach.lastm"), () => this.previousMistake(), named("coach-last-mistake"));
    this.next = button(t("coach.rightm"), t("coach.nextm"), () => this.nextMistake(), named("coach-next-mistake"));
    key(this.last, "B");
    key(this.next, "N");
    this.analyse = h("a", { class: "button", data: { testid: "coach-analyse" } }, t("view.analyse"), h("kbd", {}, "A"));
    const count = this.mistakes.length;
    const told = count
      ? t(count === 1 ? "coach.onem" : "coach.manym", { n: full(count) })
      : t("coach.nom");
    return h("div", { class: "stack tight coach-controls" }, this.scrub,
      h("div", { class: "coach-buttons" }, this.back, this.on, this.analyse, this.last, this.next),
      h("p", { class: "muted little" }, told));
  }

  /** Shows the game at a ply; the last one is its end. */
  go(to) {
    const ply = Math.max(0, Math.min(this.answer.plies, to));
    if (ply === this.ply) return;
    this.ply = ply;
    this.board.set(this.answer.tiles[ply]);
    this.scrub.value = ply;
    this.scrub.setAttribute("aria-valuetext", t("word.moveof", { n: full(ply), all: full(this.answer.plies) }));
    for (const part of [this.chart, this.losses, this.luck]) part.setCursor(ply);
    this.back.setAttribute("aria-disabled", ply === 0);
    this.on.setAttribute("aria-disabled", ply === this.answer.plies);
    this.analyse.href = `#${analyseHash(this.answer, positionText(this.answer, ply, this.faces))}`;
    this.moves.go(ply);
    this.#tell(ply);
    this.onPly?.(ply);
  }

  /** Call it once the element is on the page: only then can the list scroll to its row. */
  placed() {
    this.moves.go(this.ply);
  }

  nextMistake() {
    const to = this.mistakes.find((ply) => ply > this.ply) ?? this.mistakes[0];
    if (to !== undefined) this.#jump(to);
  }

  previousMistake() {
    const to = this.mistakes.findLast((ply) => ply < this.ply) ?? this.mistakes.at(-1);
    if (to !== undefined) this.#jump(to);
  }

  #tell(ply) {
    const { answer } = this;
    const over = ply === answer.plies;
    const where = over ? t("coach.end") : t("word.moveof", { n: full(ply + 1), all: full(answer.plies) });
    const who = over ? "" : this.mover(ply);
    const chips = over ? t("coach.nomore") : fourOf(answer, ply).map((one) => chip(one));
    const told = () => verdict(answer, ply).replace(/[^.。]$/, `$&${t("word.stop")}`);
    const luck = () => t("coach.tile", { luck: signed(answer.luck[ply]) });
    const lost = over ? t("coach.final", { score: full(answer.score) })
      : `${who && t("word.says", { who })}${told()} ${luck()}`;
    this.told.replaceChildren(
      h("p", { class: "row apart num coach-where" }, h("strong", {}, where),
        h("span", { class: "muted" }, t("coach.score", { score: full(answer.scores[ply]) }))),
      h("div", { class: "coach-four num", data: { testid: "coach-four" } }, chips),
      h("p", { class: "little coach-cost" }, lost));
  }

  #jump(to) {
    this.go(to);
    this.board.element.scrollIntoView({ block: "nearest" });
    this.announce([...this.told.children].map((part) => part.innerText).join(t("word.pause")));
  }

  #key(event) {
    const typing = event.target.closest("select, textarea, input:not([type=range])");
    const scrubbing = event.target === this.scrub && !"nba".includes(event.key.toLowerCase());
    if (event.altKey || event.ctrlKey || event.metaKey || typing || scrubbing) return;
    const action = {
      arrowleft: () => this.go(this.ply - 1), arrowright: () => this.go(this.ply + 1), n: () => this.nextMistake(),
      b: () => this.previousMistake(), a: () => this.analyse.click(),
      home: () => this.go(0), end: () => this.go(this.answer.plies),
    }[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/** One slide: its arrow, and its value or what it lost. */
function chip({ slide, value, lost, made, best }) {
  const words = value === null ? "–" : best ? full(value) : lost < 0.5 ? "0" : `−${full(lost)}`;
  const facts = [value === null ? t("word.impossible") : full(value), best && t("word.best"), made && t("coach.madeit")];
  const said = `${way(slide)}: ${facts.filter(Boolean).join(", ")}`;
  const kind = value === null ? "none" : best ? "best" : made ? "made" : "other";
  return h("span", { class: "coach-chip", role: "img", "aria-label": said, data: { kind, made } },
    h("span", { class: "coach-chip-arrow" }, ARROWS[slide]), h("span", {}, words));
}
