// The form that starts a run: a recipe, or your own options.

import { h, segmented, selectField } from "./dom.js";
import { fitRef, gameFacts, ruleOptions, sizeOptions } from "./games.js";
import { t } from "./texts.js";

const NETWORKS = [["4x6", "train.4x6"], ["8x6", "train.8x6"], ["own", "train.ownpatterns"]];
const TIMES = [["30s", "train.30s"], ["2m", "train.2m"], ["10m", "train.10m"], ["1h", "train.1h"]];
const worded = (options) => options.map(([value, key]) => [value, t(key)]);
const FIRST = "quick";

/** The form: {element, recipes(list), focus()}; `start(body)` is called with the body for POST /api/runs. */
export function startForm(app, start) {
  const error = h("p", { class: "error", role: "alert", data: { testid: "train-error" } });
  const recipe = recipePart(app);
  const own = ownPart(app);
  const parts = { recipe, own };
  let way = "recipe";
  const choose = (value) => {
    way = value;
    for (const [name, part] of Object.entries(parts)) part.element.hidden = name !== way;
  };
  const submit = h("button", { class: "button primary", type: "submit", data: { testid: "train-start" } },
    t("train.startrun"));
  const send = async (event) => {
    event.preventDefault();
    error.textContent = "";
    submit.disabled = true;
    try {
      await start({ ...parts[way].body(), ...keep.body() });
    } catch (problem) {
      error.textContent = problem.message;
    } finally {
      submit.disabled = false;
    }
  };
  choose(way);
  const keep = keepBox();
  const ways = segmented(t("train.how"), [["recipe", t("train.arecipe")], ["own", t("train.own")]], way, choose);
  const props = { class: "card stack train-form", data: { testid: "train-form" }, onsubmit: send, novalidate: true };
  const element = h("form", props, h("h2", {}, t("train.start")), ways, recipe.element, own.element, keep.element,
    h("div", { class: "stack tight" }, submit, error));
  const focus = () => {
    element.scrollIntoView({ block: "center" });
    element.querySelector("input:checked").focus();
  };
  return { element, recipes: recipe.fill, focus };
}

function keepBox() {
  const box = h("input", { type: "checkbox", data: { testid: "train-keep" } });
  const element = h("div", { class: "train-keep" }, h("label", { class: "check" }, box, t("train.keep")),
    h("p", { class: "muted train-hint" }, t("train.keephint")));
  return { element, body: () => (box.checked ? { keep: true } : {}) };
}

function recipePart(app) {
  const control = h("select", { data: { testid: "train-recipe" } });
  const about = h("p", { class: "train-about" });
  const facts = h("dl", { class: "train-facts" });
  let list = [];
  const tell = () => {
    const one = list.find((recipe) => recipe.name === control.value);
    about.textContent = one ? sentence(one.about) : "";
    const told = one ? [[t("train.takes"), one.takes], [t("train.expect"), one.expect]] : [];
    facts.replaceChildren(...told.flatMap(([name, value]) =>
      [h("dt", {}, name), h("dd", {}, value)]));
  };
  const fill = (recipes) => {
    if (recipes.map((one) => one.name).join() === list.map((one) => one.name).join()) return;
    const before = control.value || FIRST;
    list = recipes;
    const titleOf = ({ game }) => gameFacts(app, game)?.title ?? game;
    control.replaceChildren(...list.map((one) => h("option", { value: one.name }, `${one.name} (${titleOf(one)})`)));
    if (list.some((one) => one.name === before)) control.value = before;
    tell();
  };
  control.addEventListener("change", tell);
  const element = h("div", { class: "stack tight" }, h("label", { class: "field" }, h("span", {}, t("train.recipe")), control),
    about, facts);
  return { element, fill, body: () => ({ recipe: control.value }) };
}

function sentence(text) {
  const plain = text.replaceAll("`", "");
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? "" : ".");
}

function ownPart(app) {
  const methods = app.about.methods.map((one) => [one.name, `${one.name.toUpperCase()}: ${one.about}`]);
  const chosen = { ...fitRef(app, null), network: "4x6", method: methods.at(-1)[0], until: "time", time: "30s" };
  const patterns = textField(t("train.patterns"), "0123,4567,012456,45689a", t("train.cells"));
  const lambda = textField(t("train.lambda"), "0.5", t("train.default"), "decimal");
  const games = textField(t("word.games"), "20k", t("train.such"));
  const name = textField(t("train.name"), t("train.myrun"), t("train.getone"));
  games.input.value = "20k";
  const ofGame = h("div", { class: "train-pair" });
  const times = selectField(t("train.time"), worded(TIMES), chosen.time, (value) => { chosen.time = value; });
  const show = () => {
    patterns.element.hidden = chosen.network !== "own";
    times.hidden = chosen.until !== "time";
    games.element.hidden = chosen.until !== "games";
  };
  const pick = (change) => {
    Object.assign(chosen, fitRef(app, { ...chosen, ...change }));
    ofGame.replaceChildren(
      selectField(t("word.rules"), ruleOptions(app, chosen), chosen.rules, (rules) => pick({ rules })),
      selectField(t("word.board"), sizeOptions(app, chosen), chosen.size, (size) => pick({ size })));
  };
  pick({});
  show();
  const body = () => ({
    game: chosen.game, rules: chosen.rules, size: chosen.size, method: chosen.method,
    network: chosen.network === "own" ? patterns.input.value.trim() : chosen.network,
    ...shareFrom("lambda", lambda.input.value.trim().replace(",", ".")),
    ...(name.input.value.trim() ? { name: name.input.value.trim() } : {}),
    ...(chosen.until === "time" ? { time: chosen.time } : { games: games.input.value.trim() }),
  });
  const element = h("div", { class: "stack train-own" },
    selectField(t("word.game"), app.about.games.map((one) => [one.game, one.title]), chosen.game,
      (game) => pick({ game, size: null })), ofGame,
    selectField(t("train.network"), worded(NETWORKS), chosen.network,
      (value) => { chosen.network = value; show(); }), patterns.element,
    selectField(t("train.method"), methods, chosen.method, (value) => { chosen.method = value; }),
    h("div", { class: "train-pair" }, lambda.element, name.element),
    h("div", { class: "stack tight" }, h("span", { class: "legend" }, t("train.until")),
      segmented(t("train.until"), [["time", t("train.atime")], ["games", t("games.axis")]], chosen.until,
        (value) => { chosen.until = value; show(); }),
      times, games.element));
  return { element, body };
}

/** Text -> {name: number}, or {} if it is empty; throws an Error if it is not a number from 0 to 1. */
function shareFrom(name, text) {
  const number = Number(text);
  if (!(number >= 0 && number <= 1)) throw new Error(t("train.share", { name, text }));
  return text ? { [name]: number } : {};
}

function textField(label, placeholder, hint, mode = "text") {
  const input = h("input", { type: "text", inputmode: mode, placeholder, autocomplete: "off", spellcheck: "false" });
  const note = h("span", { class: "muted train-hint" }, hint);
  return { input, element: h("label", { class: "field" }, h("span", {}, label), input, note) };
}
