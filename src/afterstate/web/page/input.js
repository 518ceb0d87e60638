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
const SWIPE_PX = 22;

function typing(target) {
  return target instanceof Element && target.closest("input, select, textarea, dialog[open]") !== null;
}

/** Calls `onslide(slide)` and `commands[code]()` for key presses; returns a function that stops it. */
export function listenKeys(onslide, commands) {
  const listen = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const slide = KEYS[event.code] ?? KEYS[event.key];
    const command = commands[event.code];
    if (slide) onslide(slide);
    else if (command && !event.repeat) command();
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}

/** Calls `onslide(slide)` once for each swipe that begins on the element. */
export function listenSwipes(element, onslide) {
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    start = { id: event.pointerId, x: event.clientX, y: event.clientY };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!start || event.pointerId !== start.id) return;
    const across = event.clientX - start.x;
    const down = event.clientY - start.y;
    if (Math.max(Math.abs(across), Math.abs(down)) < SWIPE_PX) return;
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
