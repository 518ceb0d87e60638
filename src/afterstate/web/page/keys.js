// All keys of the page, in one dialog.

import { button, h, icon } from "./dom.js";
import { t } from "./texts.js";

const KEYS = [
  [["play", "analyse"], [
    [["↑", "→", "↓", "←"], "keys.slide"],
    [["W", "A", "S", "D"], "keys.slide"],
    [["Z"], "keys.undo"],
  ]],
  [["play"], [
    [["H"], "keys.values"],
    [["Space", "P"], "keys.watch"],
    [["."], "keys.step"],
    [["N"], "play.newgame"],
  ]],
  [["analyse"], [
    [["Y"], "keys.forward"],
    [["1", "2", "8"], "keys.write"],
    [["+", "−"], "keys.larger"],
    [["Esc"], "keys.leave"],
  ]],
  [["coach"], [
    [["←", "→"], "keys.onemove"],
    [["Home", "End"], "keys.ends"],
    [["N"], "coach.nextm"],
  ]],
  [[], [[["?"], "keys.show"]]],
];

function titleOf(views) {
  const [one, other] = views.map((name) => t(`view.${name}`));
  return other ? t("keys.and", { one, other }) : one ?? t("keys.everywhere");
}

function section([views, rows]) {
  const lines = rows.flatMap(([keys, words]) => [
    h("dt", {}, keys.flatMap((key) => [h("kbd", {}, key), " "])),
    h("dd", {}, t(words)),
  ]);
  return h("section", {}, h("h3", {}, titleOf(views)), h("dl", { class: "key-list" }, lines));
}

function makeDialog() {
  const dialog = h("dialog", { class: "panel card keys-panel", "aria-labelledby": "keys-title", data: { testid: "keys" } });
  const close = button(icon("close"), () => dialog.close(), { kind: "quiet", label: t("word.close") });
  const head = h("div", { class: "row apart" }, h("h2", { id: "keys-title" }, t("keys.keys")), close);
  dialog.append(h("div", { class: "stack" }, head, KEYS.map(section)));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

/** Shows all keys. */
export function showKeys() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = makeDialog();
  document.body.append(dialog);
  dialog.showModal();
}

/** Shows all keys when someone presses "?", except where text is written. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    const writing = event.target instanceof Element && event.target.closest("input:not([type=range]), textarea, select");
    if (event.key !== "?" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    showKeys();
  });
}
