// The panel in which a new game is chosen.

import { button, h, icon, segmented, selectField } from "./dom.js";

const NOTES = {
  standard: "Equal tiles merge. A new tile is a 2, or a 4 one time in ten.",
  tcg2022: "A bag of one each of 1, 2, 3. The next tile is shown.",
  tcg2018: "A bag of one each of 1, 2, 3. The next tile is hidden.",
  "tcg2018-bonus": "A bag of four each, and bonus tiles (+). The next tile is shown.",
  official: "As in the app: a bag of four each, bonus tiles (+), new tiles only in lines that moved.",
};

export class NewGameDialog {
  /** `start({game, rules, size, seed})` begins the game and throws what is refused. */
  constructor(app, start) {
    Object.assign(this, { app, start });
    this.choice = { game: "2048", rules: "standard", size: "4x4" };
    this.element = h("dialog", { class: "panel card", "aria-labelledby": "new-game-title" });
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  /** Opens with the choices of the game that is played. */
  open(ref, inProgress) {
    this.choice = { ...ref };
    this.inProgress = inProgress;
    this.draw();
    this.element.showModal();
  }

  draw() {
    const { app, choice } = this;
    const about = app.rules(choice.game);
    const titles = app.about.games.map((one) => [one.game, one.title]);
    const games = segmented("Game", titles, choice.game, (game) => this.choose({ game }));
    const rules = about.rules.map((one) => [one.name, one.name]);
    const note = h("p", { class: "muted little rule-note" }, NOTES[choice.rules] ?? "");
    const ruleField = selectField("Rules", rules, choice.rules, (name) => this.choose({ rules: name }));
    const sizes = about.sizes.map((size) => [size, size.replace("x", " × ")]);
    const sizeField = selectField("Size", sizes, choice.size, (size) => this.choose({ size }));
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
    return h("label", { class: "field" }, h("span", {}, "Seed (optional: the same number, the same tiles)"), this.seed);
  }

  foot() {
    this.error = h("p", { class: "error", role: "alert" });
    const words = this.inProgress ? "This replaces the game that you are playing." : "";
    const start = h("button", { class: "button primary", type: "submit", data: { testid: "start-game" } }, "Start");
    return [this.error, h("p", { class: "muted little" }, words), start];
  }

  choose(change) {
    const focused = [...this.element.querySelectorAll("input, select")].indexOf(document.activeElement);
    const next = { ...this.choice, ...change };
    const about = this.app.rules(next.game);
    if (!about.rules.some((one) => one.name === next.rules)) next.rules = about.rules[0].name;
    if (!about.sizes.includes(next.size)) next.size = "4x4";
    const { value } = this.seed;
    this.choice = next;
    this.draw();
    this.seed.value = value;
    this.element.querySelectorAll("input, select")[this.focusAfter(focused)]?.focus();
  }

  // The radio buttons are drawn anew; the chosen one takes the focus, as it does without us.
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
