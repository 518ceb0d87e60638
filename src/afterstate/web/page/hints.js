// The values of the four slides as bars on the board's edges. Each edge is a button that slides its way.

import { ARROWS, SLIDES, h, whole } from "./dom.js";
import { lookAhead } from "./store.js";

const SHORTEST = 0.3;

/** A value in full, with one decimal if it is small. */
export function valueText(value) {
  return Math.abs(value) < 100 ? value.toFixed(1).replace("-", "−") : whole(value);
}

/** How long each bar is, 0.3 to 1, from the worst legal slide to the best. */
export function barLengths(values) {
  const known = SLIDES.map((slide) => values[slide]).filter((value) => value !== null && value !== undefined);
  const worst = Math.min(...known);
  const span = Math.max(...known) - worst;
  const length = (value) => (span > 0 ? SHORTEST + ((1 - SHORTEST) * (value - worst)) / span : 1);
  const entries = SLIDES.map((slide) => [slide, typeof values[slide] === "number" ? length(values[slide]) : 0]);
  return Object.fromEntries(entries);
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
    this.wanted = null;
    this.asking = false;
    this.clear();
  }

  /** The four buttons, to be placed around the board. */
  get elements() {
    return SLIDES.map((slide) => this.edges[slide].button);
  }

  /** Asks for the values of a position; only the answer to the last question is shown. */
  ask(request) {
    this.wanted = request;
    for (const { button } of Object.values(this.edges)) button.classList.add("stale");
    if (!this.asking) this.pump();
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

  show({ values, move }) {
    const lengths = barLengths(values);
    for (const slide of SLIDES) this.showEdge(slide, values[slide], lengths[slide], slide === move);
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
    const words = known ? `, value ${valueText(value)}${best ? ", the best" : ""}` : ", moves nothing";
    button.setAttribute("aria-label", `Slide ${slide}${words}`);
  }

  /** Removes the values; the edges are plain buttons again. */
  clear() {
    this.wanted = null;
    for (const slide of SLIDES) {
      const { button, text } = this.edges[slide];
      button.classList.remove("stale", "valued", "best");
      delete button.dataset.value;
      text.textContent = ARROWS[slide];
      button.setAttribute("aria-label", `Slide ${slide}`);
    }
  }
}
