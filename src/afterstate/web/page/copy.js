// Copying to the clipboard.

/** Copies text and says so on the button for a moment. */
export async function copyFrom(button, text) {
  button.dataset.words ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed here";
  }
  setTimeout(() => {
    button.textContent = button.dataset.words;
  }, 1600);
}
