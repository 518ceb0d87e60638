// The dialog to choose a new game.

import { button, h, icon, segmented, selectField } from "./dom.js";
import { fitRef, ruleOptions, rulesOf, sizeOptions } from "./games.js";

export class NewGameDialog {
  /** `start({game, rules, size, seed})` starts the game, or throws an error. */
  constructor(app, start) {
    Object.assign(this, { app, start });
    this.choice = fitRef(app, null);
    this.element = h("dialog", { class: "panel card", "aria-labelledby": "new-game-title" });
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  /** Opens with the choices of the current game. */
  open(ref, inProgress) {
    this.choice = fitRef(this.app, ref);
    this.inProgress = inProgress;
    this.draw();
    this.element.showModal();
  }

  draw() {
    const { app, choice } = this;
    const titles = app.about.games.map((one) => [one.game, one.title]);
    const games = segmented("Game", titles, choice.game, (game) => this.choose({ game }));
    const note = h("p", { class: "muted little rule-note", data: { testid: "rule-note" } }, rulesOf(app, choice).note);
    const ruleField = selectField("Rules", ruleOptions(app, choice), choice.rules, (rules) => this.choose({ rules }));
    const sizeField = selectField("Size", sizeOptions(app, choice), choice.size, (size) => this.choose({ size }));
    const choices = h("div", { class: "choices" }, ruleField, sizeField);
    const form = h("form", { class: "stack" }, this.head(), games, choices, note, this.seedField(), this.foot());
    form.addEventListener("submit", (event) => this.submit(event));
    this.element.replaceChildren(form);
  }

  head() {
    const close = button(icon("close"), () => this.element.close(), { kind: "quiet", label: "Close" });
    return h("div", { class: "row apart" }, h("h2", { id: "new-game-title" }, "New game"), close);
  }

  seedField() {
    const hints = { inputmode: "numeric", placeholder: "random", autocomplete: "off" };
    this.seed = h("input", { type: "text", ...hints, data: { testid: "seed" } });
    return h("label", { class: "field" }, h("span", {}, "Seed (optional: same seed, same tiles)"), this.seed);
  }

  foot() {
    this.error = h("p", { class: "error", role: "alert" });
    const words = this.inProgress ? "This replaces your current game." : "";
    const start = h("button", { class: "button primary", type: "submit", data: { testid: "start-game" } }, "Start");
    return [this.error, h("p", { class: "muted little" }, words), start];
  }

  choose(change) {
    const focused = [...this.element.querySelectorAll("input, select")].indexOf(document.activeElement);
    const { value } = this.seed;
    this.choice = fitRef(this.app, { ...this.choice, ...change });
    this.draw();
    this.seed.value = value;
    this.element.querySelectorAll("input, select")[this.focusAfter(focused)]?.focus();
  }

  // The radio buttons are new elements, so the focus must be set on the chosen one again.
  focusAfter(focused) {
    const games = this.app.about.games.length;
    if (focused < 0 || focused >= games) return focused;
    return this.app.about.games.findIndex((one) => one.game === this.choice.game);
  }

  async submit(event) {
    event.preventDefault();
    const text = this.seed.value.trim();
    const seed = text === "" ? undefined : Number(text);
    if (seed !== undefined && !(/^\d+$/.test(text) && Number.isSafeInteger(seed))) {
      this.seed.setAttribute("aria-invalid", "true");
      this.error.textContent = "A seed is a whole number from 0 to 9007199254740991.";
      return;
    }
    try {
      await this.start({ ...this.choice, seed });
      this.element.close();
      document.getElementById("main").focus({ preventScroll: true });
    } catch (error) {
      this.error.textContent = error.message;
    }
  }
}
