// Copying to the clipboard.

import { t } from "./texts.js";

/** Copies text and says so on the button for a moment. */
export async function copyFrom(button, text) {
  button.dataset.words ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = t("word.copied");
  } catch {
    button.textContent = t("word.notallowed");
  }
  setTimeout(() => {
    button.textContent = button.dataset.words;
  }, 1600);
}
