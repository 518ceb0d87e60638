// The dialog that renames or deletes a run.

import { button, h } from "./dom.js";
import { t } from "./texts.js";
import { bytes } from "./training-rows.js";

export class CareDialog {
  /** `change(run, what, body)` asks the server, or throws an error. */
  constructor(change) {
    this.change = change;
    this.element = h("dialog", { class: "panel card", "aria-labelledby": "care-title" });
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  rename(run) {
    const plain = { type: "text", autocomplete: "off", spellcheck: "false" };
    const input = h("input", { ...plain, data: { testid: "rename-name" } });
    input.value = run.name;
    const field = h("label", { class: "field" }, h("span", {}, t("train.newname")), input);
    this.#open(t("train.renameit", { name: run.name }), [field], { words: t("train.rename"), testid: "rename-yes" },
      () => this.change(run, "rename", { name: input.value.trim() }));
    input.select();
  }

  remove(run) {
    const words = t("train.deletes", { room: bytes(run.disk) });
    const yes = { words: t("word.delete"), testid: "delete-yes", careful: true };
    this.#open(t("train.deletesure", { name: run.name }), [h("p", {}, words)], yes, () => this.change(run, "delete", {}));
  }

  #open(title, content, { words, testid, careful = false }, act) {
    const error = h("p", { class: "error", role: "alert" });
    const submit = h("button", { class: "button primary", type: "submit", data: { testid } }, words);
    const cancel = button(t("word.cancel"), () => this.element.close(), { testid: "care-cancel" });
    cancel.autofocus = careful;
    const form = h("form", { class: "stack", novalidate: true }, h("h2", { id: "care-title" }, title), content, error,
      h("div", { class: "row" }, submit, cancel));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      submit.disabled = true;
      try {
        await act();
        this.element.close();
      } catch (problem) {
        error.textContent = problem.message;
        submit.disabled = false;
      }
    });
    this.element.replaceChildren(form);
    this.element.showModal();
  }
}
