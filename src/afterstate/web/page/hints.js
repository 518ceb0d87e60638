// The values of the four slides as bars on the board's edges. Each edge is a button that slides its way.

import { ARROWS, SLIDES, h, whole } from "./dom.js";
import { lookAhead } from "./store.js";
import { t, way } from "./texts.js";

const SHORTEST = 0.3;
const SCALE = 0.1; // the share of the best value whose loss makes the shortest bar
const named = (slide) => t("play.slide", { slide: way(slide) });

/** A value in full, with one decimal if it is small. */
export function valueText(value) {
  return Math.abs(value) < 100 ? value.toFixed(1).replace("-", "−") : whole(value);
}

/** How long each bar is, 0.3 to 1: the best has 1, one that loses a tenth of it or more has 0.3. */
export function barLengths(values) {
  const known = SLIDES.map((slide) => values[slide]).filter((value) => typeof value === "number");
  const best = Math.max(...known);
  const most = Math.max(SCALE * Math.abs(best), 1);
  const length = (value) => 1 - (1 - SHORTEST) * Math.min(1, (best - value) / most);
  const entries = SLIDES.map((slide) => [slide, typeof values[slide] === "number" ? length(values[slide]) : 0]);
  return Object.fromEntries(entries);
}

/** The best slides: all whose values look like the best one's. */
export function bestSlides({ values, move }) {
  if (!move) return [];
  const best = valueText(values[move]);
  return SLIDES.filter((slide) => typeof values[slide] === "number" && valueText(values[slide]) === best);
}

function makeEdge(slide, onslide) {
  const bar = h("span", { class: "edge-bar" });
  const text = h("span", { class: "edge-text num" });
  const props = { class: `edge edge-${slide}`, type: "button", data: { testid: `value-${slide}` } };
  const button = h("button", props, bar, text);
  button.addEventListener("click", () => onslide(slide));
  return { button, bar, text };
}

export class Hints {
  constructor(app, onslide) {
    this.app = app;
    this.edges = Object.fromEntries(SLIDES.map((slide) => [slide, makeEdge(slide, onslide)]));
    this.live = h("div", { class: "visually-hidden", role: "status", data: { testid: "hints-live" } });
    this.quiet = false;
    this.wanted = null;
    this.asking = false;
    this.clear();
  }

  /** The four buttons, to be placed around the board, and what a screen reader says for them. */
  get elements() {
    return [...SLIDES.map((slide) => this.edges[slide].button), this.live];
  }

  /** Asks for the values of a position; only the answer to the last question is shown. */
  ask(request) {
    this.wanted = request;
    this.wait();
    if (!this.asking) this.pump();
  }

  /** Shows that other values are on their way. */
  wait() {
    for (const { button } of Object.values(this.edges)) button.classList.add("stale");
  }

  async pump() {
    this.asking = true;
    while (this.wanted) {
      const request = this.wanted;
      try {
        const answer = await this.app.api.post("/api/move", { ...request, ...lookAhead() });
        if (this.wanted === request) this.show(answer);
      } catch (error) {
        if (this.wanted === request) this.fail(error);
      }
      if (this.wanted === request) this.wanted = null;
    }
    this.asking = false;
  }

  fail(error) {
    this.clear();
    if (error.status !== 0) this.app.toast(error.message, "error");
  }

  /** Shows an answer of /api/move or /api/analyse. */
  show(answer) {
    const { values } = answer;
    const lengths = barLengths(values);
    const best = bestSlides(answer);
    for (const slide of SLIDES) this.showEdge(slide, values[slide], lengths[slide], best.includes(slide));
    if (!best.length || this.quiet) return;
    this.live.textContent = `${t("look.best", { slides: best.map(way).join(", ") })}, ${valueText(values[best[0]])}`;
  }

  showEdge(slide, value, length, best) {
    const { button, bar, text } = this.edges[slide];
    const known = typeof value === "number";
    button.classList.remove("stale");
    button.classList.toggle("valued", known);
    button.classList.toggle("best", best);
    button.dataset.value = known ? value : "";
    bar.style.setProperty("--length", length);
    text.textContent = known ? `${best ? "★ " : ""}${valueText(value)}` : ARROWS[slide];
    const words = known ? t(best ? "play.bestvalue" : "play.value", { value: valueText(value) }) : t("word.impossible");
    button.setAttribute("aria-label", `${named(slide)}, ${words}`);
  }

  /** Removes the values; the edges are plain buttons again. */
  clear() {
    this.wanted = null;
    this.live.textContent = "";
    for (const slide of SLIDES) {
      const { button, text } = this.edges[slide];
      button.classList.remove("stale", "valued", "best");
      delete button.dataset.value;
      text.textContent = ARROWS[slide];
      button.setAttribute("aria-label", named(slide));
    }
  }
}
