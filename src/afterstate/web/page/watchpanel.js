// The card of the model: which one, how far it looks ahead, its values, its play.

import { lookField, modelField } from "./choice.js";
import { brief, button, card, h, icon } from "./dom.js";
import { keep, setting } from "./store.js";
import { speedOf } from "./watch.js";

const RATE_EVERY_MS = 250;

function speedText(slider) {
  const speed = speedOf(slider);
  if (speed === Infinity) return "as fast as possible";
  return `${speed < 10 ? Number(speed.toFixed(1)) : brief(speed)} ${speed === 1 ? "move" : "moves"} a second`;
}

function speedControl(watcher) {
  const slider = h("input", { type: "range", min: "0", max: "1", step: "0.01", data: { testid: "watch-speed" } });
  const told = h("span", { class: "num" });
  slider.value = setting("speed");
  const apply = () => {
    watcher.speed = speedOf(Number(slider.value));
    told.textContent = speedText(Number(slider.value));
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.addEventListener("input", () => {
    keep("speed", Number(slider.value));
    apply();
    watcher.restart();
  });
  apply();
  return h("label", { class: "field" }, h("span", { class: "row apart" }, "Speed", told), slider);
}

function rateText(watcher) {
  const element = h("span", { class: "num", data: { testid: "watch-rate" } });
  let last = 0;
  watcher.addEventListener("rate", ({ detail }) => {
    const now = performance.now();
    if (now - last < RATE_EVERY_MS) return;
    last = now;
    element.textContent = `${brief(detail)} moves/s`;
  });
  watcher.addEventListener("start", () => {
    element.textContent = "";
  });
  return element;
}

/** The card: {element, refresh(), show(ref), close()}; `hints` is {on(), toggle()}. */
export function watchPanel(app, session, watcher, hints) {
  const models = modelField(app, session.ref);
  const playOrPause = () => (watcher.running ? watcher.pause() : watcher.play());
  const toggle = button("", playOrPause, { kind: "primary", testid: "watch-toggle" });
  const step = button([icon("step"), "Step", h("kbd", {}, ".")], () => watcher.step(), { testid: "watch-step" });
  const values = button(["Show values", h("kbd", {}, "H")], () => hints.toggle(), { testid: "hint-toggle" });
  const refresh = () => {
    const label = watcher.running ? "Pause" : "Watch";
    toggle.replaceChildren(icon(watcher.running ? "pause" : "play"), label, h("kbd", {}, "P"));
    toggle.disabled = step.disabled = session.state.position.over;
    values.setAttribute("aria-pressed", String(hints.on()));
  };
  watcher.addEventListener("start", refresh);
  watcher.addEventListener("stop", refresh);
  const choices = h("div", { class: "choices" }, lookField(app), values);
  const buttons = h("div", { class: "row" }, toggle, step);
  const note = h("p", { class: "row apart muted little" }, "Make a move to take over.", rateText(watcher));
  // On narrow screens the card is below the board: what is used while watching comes first.
  const element = card("The player", buttons, speedControl(watcher), note, h("hr", {}), models.element, choices);
  element.classList.add("player");
  refresh();
  const show = (ref) => {
    models.refresh(ref);
    refresh();
  };
  return { element, refresh, show, close: models.close };
}
