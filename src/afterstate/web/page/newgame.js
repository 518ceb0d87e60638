// The dialog to choose a new game.

import { isCancelled } from "./api.js";
import { button, h, icon, segmented, selectField } from "./dom.js";
import { fitRef, ruleOptions, rulesOf, sizeOptions } from "./games.js";
import { t } from "./texts.js";

export class NewGameDialog {
  /** `start({game, rules, size, seed}, signal)` starts the game, or throws an error. */
  constructor(app, start) {
    Object.assign(this, { app, start });
    this.choice = fitRef(app, null);
    this.request = null;
    this.element = h("dialog", { class: "panel card", "aria-labelledby": "new-game-title" });
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
    this.element.addEventListener("close", () => this.request?.abort());
  }

  /** Opens with the choices of the current game. */
  open(ref, inProgress) {
    if (this.element.open) return;
    this.choice = fitRef(this.app, ref);
    this.inProgress = inProgress;
    this.draw();
    this.element.showModal();
    this.submitButton.focus();
  }

  draw() {
    const { app, choice } = this;
    const titles = app.about.games.map((one) => [one.game, one.title]);
    const games = segmented(t("word.game"), titles, choice.game, (game) => this.choose({ game }));
    const note = h("p", { class: "muted little rule-note", data: { testid: "rule-note" } }, rulesOf(app, choice).note);
    const ruleField = selectField(t("word.rules"), ruleOptions(app, choice), choice.rules, (rules) => this.choose({ rules }));
    const sizeField = selectField(t("word.size"), sizeOptions(app, choice), choice.size, (size) => this.choose({ size }));
    const choices = h("div", { class: "choices" }, ruleField, sizeField);
    const form = h("form", { class: "stack" }, this.head(), games, choices, note, this.seedField(), this.foot());
    form.addEventListener("submit", (event) => this.submit(event));
    this.element.replaceChildren(form);
  }

  head() {
    const close = button(icon("close"), () => this.element.close(), { kind: "quiet", label: t("word.close") });
    return h("div", { class: "row apart" }, h("h2", { id: "new-game-title" }, t("play.newgame")), close);
  }

  seedField() {
    const hints = { inputmode: "numeric", placeholder: t("play.random"), autocomplete: "off" };
    this.seed = h("input", { type: "text", ...hints, data: { testid: "seed" } });
    return h("label", { class: "field" }, h("span", {}, t("play.seedfield")), this.seed);
  }

  foot() {
    this.error = h("p", { class: "error", role: "alert" });
    const words = this.inProgress ? t("play.replaces") : "";
    const props = { class: "button primary", type: "submit", data: { testid: "start-game" } };
    this.submitButton = h("button", props, t("word.start"));
    return [this.error, h("p", { class: "muted little" }, words), this.submitButton];
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
    if (this.request) return;
    const text = this.seed.value.trim();
    const seed = text === "" ? undefined : Number(text);
    if (seed !== undefined && !(/^\d+$/.test(text) && Number.isSafeInteger(seed))) {
      this.seed.setAttribute("aria-invalid", "true");
      this.error.textContent = t("play.badseed");
      return;
    }
    await this.ask(seed);
  }

  // Closing the dialog cancels the request.
  async ask(seed) {
    const { submitButton } = this;
    this.request = new AbortController();
    submitButton.setAttribute("aria-busy", "true");
    submitButton.textContent = t("play.starting");
    try {
      await this.start({ ...this.choice, seed }, this.request.signal);
      this.element.close();
      document.getElementById("main").focus({ preventScroll: true });
    } catch (error) {
      if (!isCancelled(error)) this.error.textContent = error.message;
    } finally {
      this.request = null;
      submitButton.removeAttribute("aria-busy");
      submitButton.textContent = t("word.start");
    }
  }
}
