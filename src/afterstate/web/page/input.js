// Keys and swipes as slides.

const KEYS = {
  ArrowUp: "up",
  ArrowRight: "right",
  ArrowDown: "down",
  ArrowLeft: "left",
  KeyW: "up",
  KeyD: "right",
  KeyS: "down",
  KeyA: "left",
};
const START_PX = 6;
const SWIPE_PX = 22;

const HELD = new Set(["KeyZ", "KeyU"]); // these may be held down
const FIELDS = "select, textarea, dialog[open], input:not([type=range], [type=radio], [type=checkbox])";
const CONTROLS = "input, button, a, summary";

// Whether the element that has the focus uses this key itself.
function isTaken({ target, code }) {
  if (!(target instanceof Element)) return false;
  if (target.closest(FIELDS)) return true;
  if (code === "Space") return target.closest(CONTROLS) !== null;
  return code.startsWith("Arrow") && target.closest("input") !== null;
}

/** Calls `onslide(slide)` and `commands[code](repeated)` for key presses; returns a function that stops it. */
export function listenKeys(onslide, commands) {
  const listen = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
    const slide = KEYS[event.code] ?? KEYS[event.key];
    const command = commands[event.code];
    if (slide) onslide(slide);
    else if (command && (!event.repeat || HELD.has(event.code))) command(event.repeat);
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}

/** Takes the focus from controls in `root` after a choice by pointer: the arrow keys then slide the board, not the control. */
export function releaseAfterChoice(root) {
  root.addEventListener("change", ({ target }) => target.matches("textarea, :focus-visible") || target.blur());
}

/** Calls `onslide(slide)` once for each swipe that begins on the element. */
export function listenSwipes(element, onslide) {
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    start = { id: event.pointerId, x: event.clientX, y: event.clientY };
  });
  element.addEventListener("pointermove", (event) => {
    if (!start || event.pointerId !== start.id) return;
    const across = event.clientX - start.x;
    const down = event.clientY - start.y;
    const far = Math.max(Math.abs(across), Math.abs(down));
    // Not before it moves: a press that stays is a click of what is below.
    if (far >= START_PX && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    if (far < SWIPE_PX) return;
    start = null;
    if (Math.abs(across) > Math.abs(down)) onslide(across > 0 ? "right" : "left");
    else onslide(down > 0 ? "down" : "up");
  });
  for (const type of ["pointerup", "pointercancel"]) {
    element.addEventListener(type, () => {
      start = null;
    });
  }
}
