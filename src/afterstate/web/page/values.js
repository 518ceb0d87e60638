// The answer to "what now?": four values, and the best line as small boards.

import { Board, shapeOf } from "./board.js";
import { ARROWS, SLIDES, h, whole } from "./dom.js";
import { barLengths, bestSlides, valueText } from "./hints.js";
import { t, way } from "./texts.js";

const TITLES = { "keys.slide": "", "look.value": "", "look.points": "right points", "word.loss": "right" };

function bar(length) {
  const fill = h("span", { class: "value-fill" });
  fill.style.setProperty("--length", length);
  return h("span", { class: "value-bar", "aria-hidden": "true" }, fill);
}

function valueRow(slide, answer, length, chosen, onchoose) {
  const value = answer.values[slide];
  const best = bestSlides(answer).includes(slide);
  const known = typeof value === "number";
  const label = t("look.explain", { slide: way(slide) });
  const radio = h("input", { type: "radio", name: "explained", value: slide, "aria-label": label });
  radio.checked = slide === chosen;
  radio.disabled = !known;
  radio.addEventListener("change", () => onchoose(slide));
  const behind = known && !best ? valueText(answer.values[answer.move] - value) : "";
  const reward = known ? `+${whole(answer.rewards[slide] ?? 0)}` : "";
  const arrow = h("span", { class: "slide-arrow", "aria-hidden": "true" }, ARROWS[slide]);
  const name = h("label", { class: "slide-name" }, radio, arrow, way(slide));
  const number = () => [bar(length), h("span", { class: "num value-number" }, valueText(value))];
  const shown = known ? number() : h("span", { class: "muted" }, t("word.impossible"));
  const cells = [h("th", { scope: "row" }, name), h("td", { class: "value-cell" }, shown)];
  cells.push(h("td", { class: "num right points" }, reward));
  cells.push(h("td", { class: "num right" }, best ? h("span", { class: "tag best-tag" }, t("look.star")) : behind));
  const data = { slide, testid: `analyse-value-${slide}`, value: known ? value : "" };
  return h("tr", { class: best ? "best" : "", data }, cells);
}

/** A table of the four slides; choosing one calls `onchoose(slide)`. */
function valuesTable(answer, chosen, onchoose) {
  const lengths = barLengths(answer.values);
  const titles = Object.entries(TITLES).map(([text, classes]) => h("th", { scope: "col", class: classes }, t(text)));
  const rows = SLIDES.map((slide) => valueRow(slide, answer, lengths[slide], chosen, onchoose));
  const caption = h("caption", { class: "visually-hidden" }, t("look.worth"));
  const head = h("thead", {}, h("tr", {}, titles));
  return h("table", { class: "values", data: { testid: "analyse-values" } }, caption, head, h("tbody", {}, rows));
}

/** The answer as a card: what to do, at what cost, and the table. */
export function valuesCard(answer, onchoose) {
  const verdict = answer.move ? t("play.slide", { slide: bestSlides(answer).map(way).join(t("word.or")) }) : t("look.none");
  const ms = answer.ms < 10 ? answer.ms.toFixed(1) : Math.round(answer.ms);
  const cost = h("span", { class: "muted little num" }, t("look.cost", { depth: answer.depth, ms }));
  const head = h("div", { class: "row apart" }, h("h2", {}, verdict), cost);
  const scroll = h("div", { class: "table-scroll" }, valuesTable(answer, answer.move, onchoose));
  return h("section", { class: "card stack tight", "aria-label": t("look.values") }, head, scroll);
}

/** The best line: a small board after each slide; `ongo(text)` is called when one is chosen. */
export function bestLine(line, { game, size, faces }, ongo) {
  const steps = line.map((one, at) => {
    const board = new Board({ ...shapeOf(size), faces, game, small: true });
    board.set(one.tiles);
    const words = t("look.step", { n: at + 1, slide: way(one.slide), value: valueText(one.value) });
    const arrow = h("span", { class: "slide-arrow" }, ARROWS[one.slide]);
    const head = h("span", { class: "line-head num" }, arrow, valueText(one.value));
    const props = { class: "line-step", type: "button", "aria-label": words, title: t("look.analysethis") };
    const button = h("button", props, head, board.element);
    button.addEventListener("click", () => ongo(one.text));
    return h("li", {}, button);
  });
  return h("ol", { class: "line", data: { testid: "analyse-line" } }, steps);
}
