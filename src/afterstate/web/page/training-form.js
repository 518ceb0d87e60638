// The form that starts a run: a recipe, or your own options.

import { h, segmented, selectField } from "./dom.js";
import { fitRef, gameFacts, ruleOptions, sizeOptions } from "./games.js";

const NETWORKS = [["4x6", "4x6: four patterns of 6 cells"], ["8x6", "8x6: stronger, slower"], ["own", "own patterns"]];
const TIMES = [["30s", "30 seconds"], ["2m", "2 minutes"], ["10m", "10 minutes"], ["1h", "1 hour"]];
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
    "Start the run");
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
  const ways = segmented("How to train", [["recipe", "A recipe"], ["own", "Own options"]], way, choose);
  const props = { class: "card stack train-form", data: { testid: "train-form" }, onsubmit: send, novalidate: true };
  const element = h("form", props, h("h2", {}, "Start a run"), ways, recipe.element, own.element, keep.element,
    h("div", { class: "stack tight" }, submit, error));
  const focus = () => {
    element.scrollIntoView({ block: "center" });
    element.querySelector("input:checked").focus();
  };
  return { element, recipes: recipe.fill, focus };
}

function keepBox() {
  const box = h("input", { type: "checkbox", data: { testid: "train-keep" } });
  const hint = "For more training later. Takes up to three times the room on the disk. A run that you stop keeps it "
    + "anyway.";
  const element = h("div", { class: "train-keep" }, h("label", { class: "check" }, box, "Keep everything at the end"),
    h("p", { class: "muted train-hint" }, hint));
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
    facts.replaceChildren(...(one ? [["Takes", one.takes], ["Expect", one.expect]] : []).flatMap(([name, value]) =>
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
  const element = h("div", { class: "stack tight" }, h("label", { class: "field" }, h("span", {}, "Recipe"), control),
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
  const patterns = textField("Patterns", "0123,4567,012456,45689a", "Cells as hex digits, separated by commas.");
  const lambda = textField("Lambda", "0.5", "0 to 1; empty for the default.", "decimal");
  const games = textField("Games", "20k", "Such as 5000, 20k or 1M.");
  const name = textField("Name", "my run", "Leave empty to get one.");
  games.input.value = "20k";
  const ofGame = h("div", { class: "train-pair" });
  const times = selectField("Time", TIMES, chosen.time, (value) => { chosen.time = value; });
  const show = () => {
    patterns.element.hidden = chosen.network !== "own";
    times.hidden = chosen.until !== "time";
    games.element.hidden = chosen.until !== "games";
  };
  const pick = (change) => {
    Object.assign(chosen, fitRef(app, { ...chosen, ...change }));
    ofGame.replaceChildren(
      selectField("Rules", ruleOptions(app, chosen), chosen.rules, (rules) => pick({ rules })),
      selectField("Board", sizeOptions(app, chosen), chosen.size, (size) => pick({ size })));
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
    selectField("Game", app.about.games.map((one) => [one.game, one.title]), chosen.game,
      (game) => pick({ game, size: null })), ofGame,
    selectField("Network", NETWORKS, chosen.network, (value) => { chosen.network = value; show(); }), patterns.element,
    selectField("Method", methods, chosen.method, (value) => { chosen.method = value; }),
    h("div", { class: "train-pair" }, lambda.element, name.element),
    h("div", { class: "stack tight" }, h("span", { class: "legend" }, "Until"),
      segmented("Until", [["time", "a time"], ["games", "games"]], chosen.until,
        (value) => { chosen.until = value; show(); }),
      times, games.element));
  return { element, body };
}

/** Text -> {name: number}, or {} if it is empty; throws an Error if it is not a number from 0 to 1. */
function shareFrom(name, text) {
  const number = Number(text);
  if (!(number >= 0 && number <= 1)) throw new Error(`${name} must be a number from 0 to 1, not ${text}.`);
  return text ? { [name]: number } : {};
}

function textField(label, placeholder, hint, mode = "text") {
  const input = h("input", { type: "text", inputmode: mode, placeholder, autocomplete: "off", spellcheck: "false" });
  const note = h("span", { class: "muted train-hint" }, hint);
  return { input, element: h("label", { class: "field" }, h("span", {}, label), input, note) };
}
