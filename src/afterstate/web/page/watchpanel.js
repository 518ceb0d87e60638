// The card of the AI: play and pause, speed, how its games went, which model, how far it looks ahead, its values.

import { lookField, modelField } from "./choice.js";
import { brief, button, card, h, icon, whole } from "./dom.js";
import { speedOf } from "./pace.js";
import { percent } from "./scale.js";
import { keep, setting } from "./store.js";
import { t } from "./texts.js";

const RATE_EVERY_MS = 250;

function speedText(slider) {
  const speed = speedOf(slider);
  if (speed === Infinity) return t("play.fastest");
  return t(speed === 1 ? "play.onespeed" : "play.speed", { n: speed < 10 ? Number(speed.toFixed(1)) : brief(speed) });
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
  return h("label", { class: "field" }, h("span", { class: "row apart" }, t("word.speed"), told), slider);
}

function rateText(watcher) {
  const element = h("span", { class: "num", data: { testid: "watch-rate" } });
  let last = 0;
  watcher.addEventListener("rate", ({ detail }) => {
    const now = performance.now();
    if (now - last < RATE_EVERY_MS) return;
    last = now;
    element.textContent = t("play.rate", { n: brief(detail) });
  });
  watcher.addEventListener("start", () => {
    element.textContent = "";
  });
  return element;
}

/** How the watched games went: {element, refresh()}. Its place is always there, so that nothing jumps. */
function tallyLine(tallyOf) {
  const element = h("p", { class: "tally num little", data: { testid: "watch-tally" } });
  const part = (label, value) => h("span", {}, h("span", { class: "muted" }, label), " ", value);
  const refresh = () => {
    const tally = tallyOf();
    const tiles = tally.reached().map(([face, share]) => part(String(face), percent(share, 0)));
    const known = (value) => (value === null ? "–" : whole(value));
    const figures = [["word.games", whole(tally.games)], ["play.mean", known(tally.mean)], ["play.best", known(tally.best)]];
    const parts = figures.map(([key, value]) => part(t(key), value));
    element.replaceChildren(...[...parts, ...tiles].flatMap((one) => [one, " "]));
  };
  return { element, refresh };
}

function goOnField() {
  const box = h("input", { type: "checkbox", data: { testid: "watch-on" } });
  box.checked = setting("goOn");
  box.addEventListener("change", () => keep("goOn", box.checked));
  return h("label", { class: "check" }, box, t("play.after"));
}

function watchLabel(watcher, session) {
  if (watcher.running) return t("word.pause2");
  return session.state.position.over ? t("play.nextgame") : t("play.watch");
}

/** The card: {element, refresh(), close()}; `hooks` is {toggle(), hintsOn(), toggleHints(), tally()}. */
export function watchPanel(app, session, watcher, hooks) {
  const models = modelField(app, session.ref);
  const toggle = button("", hooks.toggle, { kind: "primary", testid: "watch-toggle" });
  const step = button([icon("step"), t("play.step"), h("kbd", {}, ".")], () => watcher.step(), { testid: "watch-step" });
  const values = button([t("play.values"), h("kbd", {}, "H")], hooks.toggleHints, { testid: "hint-toggle" });
  const tally = tallyLine(hooks.tally);
  const refresh = () => {
    toggle.replaceChildren(icon(watcher.running ? "pause" : "play"), watchLabel(watcher, session), h("kbd", {}, "P"));
    step.disabled = session.state.position.over;
    values.setAttribute("aria-pressed", String(hooks.hintsOn()));
    tally.refresh();
  };
  watcher.addEventListener("start", refresh);
  watcher.addEventListener("stop", refresh);
  const choices = h("div", { class: "choices" }, lookField(app), values);
  const buttons = h("div", { class: "row" }, toggle, step);
  const note = h("div", { class: "row apart muted little" }, goOnField(), rateText(watcher));
  // On narrow screens the card is below the board: what is used while watching comes first.
  const parts = [buttons, speedControl(watcher), note, tally.element, h("hr", {}), models.element, choices];
  const element = card(t("word.ai"), ...parts);
  element.classList.add("player");
  refresh();
  const close = () => {
    models.close();
    for (const type of ["start", "stop"]) watcher.removeEventListener(type, refresh);
  };
  return { element, refresh, close };
}
