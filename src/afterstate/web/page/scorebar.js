// Score and next tile, shown above the board.

import { loneTile, markTile } from "./board.js";
import { h, whole } from "./dom.js";
import { t } from "./texts.js";

const GAIN_MS = 700;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

function figure(label, value) {
  return h("div", { class: "figure" }, h("span", { class: "legend" }, label), value);
}

export class ScoreBar {
  constructor() {
    this.score = h("span", { class: "figure-value num", data: { testid: "score" } }, "0");
    this.best = h("span", { class: "figure-value num", data: { testid: "best" } }, "0");
    this.nextSlot = h("span", { class: "next-slot", data: { testid: "next-tile" } });
    this.next = figure(t("play.next"), this.nextSlot);
    this.gainLayer = h("span", { class: "gains", "aria-hidden": "true" });
    const score = figure(t("word.score"), this.score);
    score.append(this.gainLayer);
    this.element = h("div", { class: "figures" }, score, figure(t("play.best"), this.best), this.next);
    this.shown = null;
  }

  /** Shows the score and your best one. */
  tell(score, best) {
    this.score.textContent = whole(score);
    this.best.textContent = whole(best);
  }

  /** Shows the next tile, with words for screen readers, or hides its place if there is none. */
  showNext(game, faces, next, words) {
    if (next === this.shown?.next && game === this.shown?.game) return;
    this.shown = { game, next };
    this.next.hidden = next === null;
    if (next === null) return this.nextSlot.replaceChildren();
    const index = faces.indexOf(Number(next));
    const tile = index > 0 ? loneTile(game, faces, index) : markTile(game, next);
    this.nextSlot.dataset.next = next;
    return this.nextSlot.replaceChildren(tile, h("span", { class: "visually-hidden" }, words === next ? "" : words));
  }

  /** Shows the points of a slide; they rise and fade. */
  gain(points) {
    if (points <= 0) return;
    const element = h("span", { class: "gain num" }, `+${whole(points)}`);
    this.gainLayer.replaceChildren(element);
    const rise = calm.matches ? "none" : "translateY(-12px)";
    const frames = [{ opacity: 1, transform: "none" }, { opacity: 0, transform: rise }];
    const animation = element.animate(frames, { duration: GAIN_MS, easing: "ease-out" });
    animation.finished.then(() => element.remove(), () => undefined);
  }
}
