// All keys of the page, in one dialog.

import { button, h, icon } from "./dom.js";

const KEYS = [
  ["Play and Analyse", [
    [["↑", "→", "↓", "←"], "Slide"],
    [["W", "A", "S", "D"], "Slide"],
    [["Z"], "Take a move back; hold it to take back more"],
  ]],
  ["Play", [
    [["H"], "Show or hide the values"],
    [["Space", "P"], "Let the AI play, or pause"],
    [["."], "One move of the AI"],
    [["N"], "New game"],
  ]],
  ["Analyse", [
    [["Y"], "Forward again"],
    [["1", "2", "8"], "In a cell: write a tile"],
    [["+", "−"], "In a cell: the next larger or smaller tile"],
    [["Esc"], "Leave the cell"],
  ]],
  ["Coach", [
    [["←", "→"], "One move back or forward"],
    [["Home", "End"], "The first or the last move"],
    [["N"], "Next mistake"],
  ]],
  ["Everywhere", [[["?"], "Show these keys"]]],
];

function section([title, rows]) {
  const lines = rows.flatMap(([keys, words]) => [
    h("dt", {}, keys.flatMap((key) => [h("kbd", {}, key), " "])),
    h("dd", {}, words),
  ]);
  return h("section", {}, h("h3", {}, title), h("dl", { class: "key-list" }, lines));
}

function makeDialog() {
  const dialog = h("dialog", { class: "panel card keys-panel", "aria-labelledby": "keys-title", data: { testid: "keys" } });
  const close = button(icon("close"), () => dialog.close(), { kind: "quiet", label: "Close" });
  const head = h("div", { class: "row apart" }, h("h2", { id: "keys-title" }, "Keys"), close);
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
