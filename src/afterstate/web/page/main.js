// The frame of the page: routes by location.hash, the object that views share, toasts, theme, lost connections.

import * as analyse from "./analyse.js";
import { AWAY, api, connection, persist } from "./api.js";
import * as coach from "./coach.js";
import { button, h } from "./dom.js";
import { gameFacts, isKnown } from "./games.js";
import { startKeys } from "./keys.js";
import * as play from "./play.js";
import { applyTheme, keep, loadGame, loadTheme, setting, showGamesIf } from "./store.js";
import * as training from "./training.js";
import * as versus from "./versus.js";

// All are there from the start: a view can be opened while the server is away.
const VIEWS = {
  play: { title: "Play", view: play },
  analyse: { title: "Analyse", view: analyse },
  coach: { title: "Coach", view: coach },
  versus: { title: "Versus", view: versus },
  training: { title: "Training", view: training },
};
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
  const close = h("button", { type: "button", "aria-label": "Close this message" }, "✕");
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
  document.title = `${VIEWS[name].title} · Afterstate`;
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
    showFailure(VIEWS[name].title, error);
  }
}

function place(name) {
  leave();
  const root = h("section", { class: "view" });
  main.replaceChildren(root);
  window.scrollTo(0, 0);
  unmount = VIEWS[name].view.mount(root, app);
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
  const retry = button("Reload the page", () => location.reload());
  const words = `${title} could not be shown: ${error.message}`;
  const parts = [h("h2", {}, "Something went wrong"), h("p", {}, words), retry];
  main.replaceChildren(h("div", { class: "empty", role: "alert" }, parts));
}

function startTheme() {
  const control = byId("theme");
  let theme = loadTheme();
  const tell = () => {
    control.textContent = `Theme: ${theme}`;
    control.dataset.value = theme;
  };
  control.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    applyTheme(theme);
    tell();
  });
  tell();
}

function startConnection() {
  const away = byId("away");
  connection.addEventListener("away", () => {
    away.textContent = `${AWAY} Your game is safe, and this page goes on by itself.`;
    away.hidden = false;
  });
  connection.addEventListener("locked", () => {
    away.textContent = "The server was started again. Open the link that afterstate play printed, then this page goes on.";
  });
  connection.addEventListener("back", () => {
    away.hidden = true;
    announce("The server is back.");
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
    showFailure("The page", error);
  }
}

start();
