// Versus: two models side by side, on boards in step and over many games.

import { h, button, icon, segmented, selectField } from "./dom.js";
import { modelLabel } from "./choice.js";
import { gameName } from "./games.js";
import { keep, setting } from "./store.js";
import { t } from "./texts.js";
import { BoardPair } from "./versus-boards.js";
import { MatchCard } from "./versus-match.js";

const DEPTHS = [[1, "1"], [2, "2"], [3, "3"]];
const SPEEDS = [["4", "versus.slow"], ["20", "versus.medium"], ["60", "versus.fast"], ["600", "versus.veryfast"]];

/** Shows Versus in `root`; returns a function that removes it. */
export function mount(root, app) {
  const view = new VersusView(root, app);
  return () => view.close();
}

class VersusView {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.pair = new BoardPair(app);
    this.match = new MatchCard(app);
    this.onmodels = () => this.fill();
    app.events.addEventListener("models", this.onmodels);
    this.build();
    this.fill();
  }

  close() {
    this.pair.pause();
    this.pair.turn += 1;
    this.match.close();
    this.app.events.removeEventListener("models", this.onmodels);
  }

  build() {
    this.players = h("div", { class: "versus-players" });
    const numeric = { type: "text", inputmode: "numeric", autocomplete: "off" };
    this.seed = h("input", { ...numeric, data: { testid: "versus-seed" } });
    this.seed.value = "1";
    this.seed.addEventListener("change", () => this.begin());
    this.toggle = button("", () => (this.pair.running ? this.pair.pause() : this.pair.play()),
      { kind: "primary", testid: "versus-toggle" });
    this.next = button([icon("step"), t("play.step")], () => this.step(), { testid: "versus-step" });
    const another = button(t("versus.another"), () => this.another(), { testid: "versus-another" });
    const speeds = SPEEDS.map(([value, key]) => [value, t(key)]);
    const speed = segmented(t("word.speed"), speeds, "20", (value) => { this.pair.speed = Number(value); });
    this.pair.speed = 20;
    for (const type of ["start", "stop"]) this.pair.addEventListener(type, () => this.showButtons());
    this.pair.addEventListener("over", () => this.tellEnd());
    const seedField = h("label", { class: "field versus-seed" }, h("span", {}, t("versus.seed")), this.seed);
    const controls = h("div", { class: "card row versus-controls" }, this.toggle, this.next, speed, seedField, another);
    this.content = h("div", { class: "stack versus" }, this.players, controls, this.pair.element, this.match.element);
    const link = h("a", { class: "button primary", href: "#training" }, t("versus.totraining"));
    this.none = h("div", { class: "empty" }, h("h2", {}, t("versus.nomodel")),
      h("p", {}, t("versus.two")), link);
    this.root.append(h("h1", { class: "visually-hidden" }, t("view.versus")), this.none, this.content);
    this.showButtons();
  }

  /** Fills the choices; they stay as they are if their models are still there. */
  fill() {
    const models = this.app.models();
    this.none.hidden = models.length > 0;
    this.content.hidden = !models.length;
    if (!models.length) return;
    const kept = setting("versus") ?? {};
    const known = (id) => models.find((one) => one.id === id);
    const first = known(kept.model) ?? this.app.defaultModel();
    const fitting = models.filter((one) => sameGame(one, first));
    const second = fitting.find((one) => one.id === kept.other) ?? fitting.find((one) => one.id !== first.id) ?? first;
    const depth = kept.depth ?? 1;
    const otherDepth = kept.otherDepth ?? (second === first ? (depth % 3) + 1 : 1);
    const chosen = { model: first.id, depth, other: second.id, otherDepth };
    const same = this.chosen && JSON.stringify(this.chosen) === JSON.stringify(chosen);
    this.chosen = chosen;
    this.draw(models, fitting);
    if (!same) this.begin();
  }

  draw(models, fitting) {
    const label = (one) => `${modelLabel(one)}, ${gameName(this.app, one)}`;
    const many = new Set(models.map((one) => `${one.game}/${one.rules}/${one.size}`)).size > 1;
    const { model, depth, other, otherDepth } = this.chosen;
    const field = (name, list, value, testid, change) =>
      selectField(name, list, value, (to) => this.choose(change(to)), { data: { testid } });
    const options = (list) => list.map((one) => [one.id, many ? label(one) : modelLabel(one)]);
    const box = (letter, ...fields) => {
      const mark = { class: `versus-letter chart-c${letter === "A" ? 1 : 2}`, "aria-hidden": "true" };
      return h("div", { class: "card versus-player" }, h("span", mark, letter), fields);
    };
    this.players.replaceChildren(
      box("A", field(t("versus.model", { name: "A" }), options(models), model, "versus-model-a", (id) => ({ model: id })),
        field(t("versus.depth", { name: "A" }), DEPTHS, depth, "versus-depth-a", (to) => ({ depth: Number(to) }))),
      box("B", field(t("versus.model", { name: "B" }), options(fitting), other, "versus-model-b", (id) => ({ other: id })),
        field(t("versus.depth", { name: "B" }), DEPTHS, otherDepth, "versus-depth-b", (to) => ({ otherDepth: Number(to) }))));
  }

  choose(change) {
    const focused = document.activeElement?.dataset.testid;
    keep("versus", { ...setting("versus"), ...change });
    this.fill();
    if (focused) this.players.querySelector(`[data-testid=${focused}]`)?.focus();
  }

  async begin() {
    const models = this.app.models();
    const { model, depth, other, otherDepth } = this.chosen;
    const [first, second] = [model, other].map((id) => models.find((one) => one.id === id));
    this.match.offer({ model, depth, other, other_depth: otherDepth });
    const seed = Number(this.seed.value.trim());
    const wrong = !Number.isSafeInteger(seed) || seed < 0 || !this.seed.value.trim();
    this.seed.toggleAttribute("aria-invalid", wrong);
    if (wrong) return this.app.toast(t("versus.badseed"), "error");
    const ref = { game: first.game, rules: first.rules, size: first.size };
    const players = [{ model, name: first.name, depth }, { model: other, name: second.name, depth: otherDepth }];
    try {
      await this.pair.begin(ref, seed, players);
    } catch (problem) {
      this.app.toast(problem.message, "error");
    }
    return this.showButtons();
  }

  another() {
    this.seed.value = String(Math.floor(Math.random() * 1e6));
    return this.begin();
  }

  step() {
    return this.pair.step().then(() => this.showButtons(), (problem) => this.app.toast(problem.message, "error"));
  }

  showButtons() {
    const { running } = this.pair;
    this.toggle.replaceChildren(icon(running ? "pause" : "play"), running ? t("word.pause2") : t("word.play"));
    const over = Boolean(this.pair.sides[0].state) && this.pair.over;
    this.toggle.disabled = this.next.disabled = over;
  }

  tellEnd() {
    const [a, b] = this.pair.sides.map((side) => side.shown);
    this.showButtons();
    const facts = { who: a > b ? "A" : "B", more: Math.max(a, b), less: Math.min(a, b) };
    this.app.announce(t(a === b ? "versus.same" : "versus.ended", facts));
  }
}

function sameGame(one, other) {
  return one.game === other.game && one.rules === other.rules && one.size === other.size;
}
