// The frame of the page: routes by location.hash, the object that views share, toasts, theme, lost connections.

import * as analyse from "./analyse.js";
import { api, connection, persist } from "./api.js";
import * as coach from "./coach.js";
import { button, h } from "./dom.js";
import { gameFacts, isKnown } from "./games.js";
import { startKeys } from "./keys.js";
import * as play from "./play.js";
import { applyTheme, keep, loadGame, loadTheme, setting, showGamesIf } from "./store.js";
import { language, otherLanguage, setLanguage, t } from "./texts.js";
import * as training from "./training.js";
import * as versus from "./versus.js";

// All are there from the start: a view can be opened while the server is away.
const VIEWS = { play, analyse, coach, versus, training };
const THEMES = ["auto", "light", "dark"];
const TOAST_MS = 6_000;
const BEGIN_MS = 1_000;

const byId = (id) => document.getElementById(id);
const main = byId("main");
let models = [];
let preferred = null;
let unmount = null;
let shown = null;

const app = {
  about: null,
  api,
  events: new EventTarget(),
  route: { name: "play", rest: "" },
  faces: (game) => gameFacts(app, game).faces,
  game: loadGame,
  models: () => models,
  model: chosenModel,
  defaultModel: () => models.find((model) => model.id === preferred) ?? models[0] ?? null,
  chooseModel,
  refreshModels,
  toast,
  announce,
  go: (hash) => {
    location.hash = hash;
  },
};

function keyOf({ game, rules, size }) {
  return `${game}/${rules}/${size}`;
}

function chosenModel(game, rules, size) {
  const key = keyOf({ game, rules, size });
  const fitting = models.filter((model) => keyOf(model) === key);
  const byChoice = fitting.find((model) => model.id === setting("models")[key]);
  return byChoice ?? fitting.find((model) => model.id === preferred) ?? fitting[0] ?? null;
}

function chooseModel(id) {
  const model = models.find((one) => one.id === id);
  if (!model) return;
  keep("models", { ...setting("models"), [keyOf(model)]: id });
  app.events.dispatchEvent(new Event("model"));
}

async function refreshModels() {
  const answer = await api.get("/api/models");
  models = answer.models;
  preferred = answer.default;
  app.events.dispatchEvent(new Event("models"));
  return models;
}

function toast(text, kind = "info") {
  const same = [...byId("toasts").children].find((one) => one.dataset.text === text);
  same?.remove();
  const role = kind === "error" ? "alert" : "status";
  const close = h("button", { type: "button", "aria-label": t("app.close") }, "✕");
  const element = h("div", { class: "toast", role, data: { kind, text, testid: "toast" } }, h("span", {}, text), close);
  close.addEventListener("click", () => element.remove());
  byId("toasts").append(element);
  setTimeout(() => element.remove(), kind === "error" ? 2 * TOAST_MS : TOAST_MS);
}

// The same words twice are read twice only if the text changes.
function announce(text) {
  const live = byId("live");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

function readRoute() {
  const [, name, rest] = /^#?([^/=]*)[/=]?(.*)$/s.exec(location.hash);
  return { name: name || "play", rest };
}

function showNav(name) {
  for (const link of document.querySelectorAll(".site-nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${t(`view.${name}`)} · Afterstate`;
}

function showRoute() {
  if (location.hash === "#main") return;
  const route = readRoute();
  const name = route.name === "replay" ? "play" : route.name;
  if (!VIEWS[name]) {
    app.go("play");
    return;
  }
  app.route = route;
  showNav(name);
  try {
    // A view may follow its own addresses: what `mount` returns has `follow` then.
    if (shown === name && unmount?.follow) unmount.follow();
    else place(name);
  } catch (error) {
    showFailure(t(`view.${name}`), error);
  }
}

function place(name) {
  leave();
  const root = h("section", { class: "view" });
  main.replaceChildren(root);
  window.scrollTo(0, 0);
  unmount = VIEWS[name].mount(root, app);
  shown = name;
}

function leave() {
  try {
    unmount?.();
  } finally {
    unmount = shown = null;
  }
}

function showFailure(title, error) {
  leave();
  const retry = button(t("app.reload"), () => location.reload());
  const words = t("app.notshown", { title, why: error.message });
  const parts = [h("h2", {}, t("app.wrong")), h("p", {}, words), retry];
  main.replaceChildren(h("div", { class: "empty", role: "alert" }, parts));
}

/** Writes a text of the frame; it changes with the language. */
function tell(element, key) {
  element.dataset.t = key;
  element.textContent = t(key);
}

function tellFrame() {
  document.documentElement.lang = language();
  for (const element of document.querySelectorAll("[data-t]")) tell(element, element.dataset.t);
  for (const one of document.querySelectorAll("[data-tlabel]")) one.setAttribute("aria-label", t(one.dataset.tlabel));
  document.querySelector("meta[name=description]").content = t("app.about");
  byId("language").lang = otherLanguage();
  byId("live").textContent = "";
}

// The view is made anew in the other language, where it is; the game and the choices are kept.
function startLanguage() {
  const change = async () => {
    await setLanguage(otherLanguage());
    tellFrame();
    if (!shown) return;
    unmount.follow = null;
    showRoute();
  };
  byId("language").addEventListener("click", () => change().catch(() => toast(t("app.away"), "error")));
  tellFrame();
}

function startTheme() {
  const control = byId("theme");
  let theme = loadTheme();
  const show = () => {
    tell(control, `theme.${theme}`);
    control.dataset.value = theme;
  };
  control.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    applyTheme(theme);
    show();
  });
  show();
}

function startConnection() {
  const away = byId("away");
  connection.addEventListener("away", () => {
    tell(away, "app.gone");
    away.hidden = false;
  });
  connection.addEventListener("locked", () => {
    tell(away, "app.locked");
  });
  connection.addEventListener("back", () => {
    away.hidden = true;
    announce(t("app.back"));
    refreshModels().catch(() => undefined);
  });
}

// The very first start compiles for a minute: say so until it is over.
async function tellBeginning(about) {
  const note = byId("beginning");
  for (let { state } = about; state !== "ready"; ) {
    note.hidden = state !== "compiling";
    await new Promise((resolve) => setTimeout(resolve, BEGIN_MS));
    ({ state } = await persist(() => api.get("/api/about")));
  }
  note.hidden = true;
}

function startSkipLink() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
}

async function start() {
  startLanguage();
  startTheme();
  startConnection();
  startSkipLink();
  startKeys();
  try {
    const [about] = await Promise.all([persist(() => api.get("/api/about")), persist(refreshModels)]);
    app.about = about;
    showGamesIf((ref) => isKnown(app, ref));
    tellBeginning(about);
    byId("version").textContent = `Afterstate ${about.version}`;
    window.addEventListener("hashchange", showRoute);
    showRoute();
  } catch (error) {
    showFailure(t("app.page"), error);
  }
}

start();
