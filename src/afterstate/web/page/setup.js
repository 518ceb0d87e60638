// The left side of Analyse: which game, the board with its edges, moves back and forward, text, tiles.

import { button, h, icon, segmented, selectField } from "./dom.js";
import { ruleOptions, rulesOf, sizeOptions } from "./games.js";
import { LONGEST } from "./notation.js";
import { keep, setting } from "./store.js";
import { t } from "./texts.js";

const TYPING_MS = 350;

export class Setup {
  /** `hooks` are {text(text), change(change), next(next), mine(), clear(), back(), forward(), play()}. */
  constructor(app, hints, hooks) {
    Object.assign(this, { app, hooks });
    this.choices = h("div", { class: "stack tight" });
    this.place = h("div", { class: "board-place" });
    const stage = h("div", { class: "stage" }, hints.elements, this.place);
    this.verdict = h("p", { class: "verdict", data: { testid: "analyse-verdict" } });
    this.tryoutSlot = h("div", { class: "tryout-slot" });
    this.nextSlot = h("div", { class: "next-choice" });
    this.paletteSlot = h("div", {});
    const board = h("div", { class: "analyse-board" }, stage, this.verdict, this.moveButtons(), this.tryoutSlot);
    const parts = [this.choices, board, this.nextSlot, this.textField(), this.paletteSlot, this.buttons()];
    this.element = h("section", { class: "card stack analyse-setup", "aria-label": t("look.theboard") }, parts);
  }

  moveButtons() {
    const { hooks } = this;
    this.back = button(icon("earlier"), hooks.back, { testid: "analyse-back", label: t("look.back") });
    this.forward = button(icon("later"), hooks.forward, { testid: "analyse-forward", label: t("look.forward") });
    this.play = button(t("look.playfrom"), hooks.play, { testid: "play-from-here" });
    const choose = (value) => keep("choose", value === "choose");
    const ways = [["draw", t("look.drawn")], ["choose", t("look.ichoose")]];
    const tiles = segmented(t("look.newtile"), ways, setting("choose") ? "choose" : "draw", choose);
    const label = h("span", { class: "legend" }, t("look.newtile"));
    return h("div", { class: "row analyse-moves" }, this.back, this.forward, this.play, h("div", { class: "row" }, label, tiles));
  }

  textField() {
    const props = { rows: "2", spellcheck: "false", maxlength: LONGEST, "aria-describedby": "analyse-error" };
    this.field = h("textarea", { ...props, data: { testid: "analyse-text" } });
    this.field.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.hooks.text(this.field.value.trim()), TYPING_MS);
    });
    this.field.addEventListener("paste", (event) => this.checkPaste(event));
    this.error = h("p", { class: "error", role: "alert", id: "analyse-error", data: { testid: "analyse-error" } });
    const label = h("label", { class: "field" }, h("span", {}, t("look.paste")), this.field);
    return h("div", {}, label, this.error);
  }

  // A text of megabytes is no board, and would freeze the field.
  checkPaste(event) {
    const { length } = event.clipboardData?.getData("text") ?? "";
    if (length <= LONGEST) return;
    event.preventDefault();
    this.tellError(t("look.toolong", { n: length.toLocaleString("en") }));
  }

  buttons() {
    const mine = button(t("look.mine"), this.hooks.mine);
    return h("div", { class: "row" }, mine, button(t("look.clear"), this.hooks.clear, { testid: "analyse-clear" }));
  }

  /** Shows another game. */
  showGame(ref, editor) {
    this.ref = ref;
    for (const name of ["rows", "columns"]) this.element.style.setProperty(`--${name}`, editor[name]);
    this.place.replaceChildren(editor.board.element);
    this.paletteSlot.replaceChildren(editor.palette);
    const { change } = this.hooks;
    const titles = this.app.about.games.map((one) => [one.game, one.title]);
    const game = segmented(t("word.game"), titles, ref.game, (name) => change({ game: name }));
    const rules = selectField(t("word.rules"), ruleOptions(this.app, ref), ref.rules, (name) => change({ rules: name }));
    const sizes = selectField(t("word.size"), sizeOptions(this.app, ref), ref.size, (size) => change({ size }));
    this.choices.replaceChildren(game, h("div", { class: "choices" }, rules, sizes));
  }

  /** Shows what depends on the position: {timeline, position, tryout, nextTile}. */
  refresh({ timeline, position, tryout, nextTile }) {
    this.back.disabled = !timeline.canGoBack && !tryout && Boolean(position);
    this.forward.disabled = !timeline.canGoForward;
    this.play.disabled = !position || position.over;
    this.tryoutSlot.replaceChildren(...(tryout ? [tryout.element] : []));
    if (tryout) this.verdict.textContent = "";
    this.drawNext(nextTile);
  }

  drawNext(nextTile) {
    const offered = rulesOf(this.app, this.ref).next.map(({ text }) => [text, text]);
    const shown = JSON.stringify([offered, nextTile]);
    if (shown === this.shownNext) return;
    this.shownNext = shown;
    const legend = h("span", { class: "legend" }, t("look.nexttile"));
    const choice = h("div", { class: "row" }, legend, segmented(t("look.nexttile"), offered, nextTile, this.hooks.next));
    this.nextSlot.replaceChildren(...(offered.length ? [choice] : []));
  }

  /** Writes the board's text, unless someone is typing there. */
  tellText(text) {
    if (document.activeElement !== this.field && this.field.value !== text) this.field.value = text;
  }

  tellVerdict(words) {
    this.verdict.textContent = words;
  }

  tellError(message) {
    this.error.textContent = message;
    if (message) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
  }

  close() {
    clearTimeout(this.typing);
  }
}
