// Which model is asked and how far it looks ahead: one choice for the whole page.

import { brief, h, selectField } from "./dom.js";
import { keep, setting } from "./store.js";
import { t } from "./texts.js";

const TIMES = [10, 50, 200, 1000];

function lookOptions(deepest) {
  const depth = (slides) => [`depth:${slides}`, t(slides === 1 ? "look.slide" : "look.slides", { n: slides })];
  const depths = Array.from({ length: deepest }, (_, at) => depth(at + 1));
  const times = TIMES.map((ms) => [`time:${ms}`, ms < 1000 ? t("look.ms", { n: ms }) : t("look.s", { n: ms / 1000 })]);
  return [...depths, ...times];
}

/** A select for the depth or time of a move; sends the event "look" to app.events. */
export function lookField(app) {
  const onchange = (value) => {
    keep("look", value);
    app.events.dispatchEvent(new Event("look"));
  };
  const options = lookOptions(app.about.limits.depth);
  const chosen = options.some(([value]) => value === setting("look")) ? setting("look") : "depth:1";
  return selectField(t("look.ahead"), options, chosen, onchange, { data: { testid: "depth-select" } });
}

/** The label of a model in a list. */
export function modelLabel(model) {
  const mean = model.mean === null ? "" : t("look.mean", { mean: brief(model.mean) });
  return `${model.name} (${model.network}${mean})`;
}

/** A select of the models for this game, kept up to date. Returns {element, refresh(ref), close()}. */
export function modelField(app, ref) {
  const select = h("select", { data: { testid: "model-select" } });
  const element = h("label", { class: "field" }, h("span", {}, t("word.model")), select);
  let shown = ref;
  const fill = () => {
    const { game, rules, size } = shown;
    const fitting = app.models().filter((one) => one.game === game && one.rules === rules && one.size === size);
    select.replaceChildren(...fitting.map((one) => h("option", { value: one.id }, modelLabel(one))));
    select.value = app.model(game, rules, size)?.id ?? "";
    select.disabled = !fitting.length;
  };
  select.addEventListener("change", () => app.chooseModel(select.value));
  app.events.addEventListener("models", fill);
  app.events.addEventListener("model", fill);
  fill();
  const refresh = (next) => {
    shown = next;
    fill();
  };
  const close = () => {
    app.events.removeEventListener("models", fill);
    app.events.removeEventListener("model", fill);
  };
  return { element, refresh, close };
}
