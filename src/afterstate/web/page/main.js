// The frame of the page: routes by location.hash, the object that views share, toasts, theme, lost connections.

import { api, connection, persist } from "./api.js";
import { button, h } from "./dom.js";
import { gameFacts, isKnown } from "./games.js";
import { applyTheme, keep, loadGame, loadTheme, setting, showGamesIf } from "./store.js";

const VIEWS = {
  play: { title: "Play", load: () => import("./play.js") },
  analyse: { title: "Analyse", load: () => import("./analyse.js") },
  coach: { title: "Coach", load: () => import("./coach.js") },
  training: { title: "Training", load: () => import("./training.js") },
};
const THEMES = ["auto", "light", "dark"];
const TOAST_MS = 6_000;
const BEGIN_MS = 1_000;

const byId = (id) => document.getElementById(id);
const main = byId("main");
let models = [];
let preferred = null;
let unmount = null;
let visit = 0;

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

function announce(text) {
  byId("live").textContent = text;
}

function readRoute() {
  const [name, ...rest] = location.hash.replace(/^#/, "").split("/");
  return { name: name || "play", rest: rest.join("/") };
}

function showNav(name) {
  for (const link of document.querySelectorAll(".site-nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${VIEWS[name].title} · Afterstate`;
}

async function showRoute() {
  if (location.hash === "#main") return;
  const route = readRoute();
  const name = route.name === "replay" ? "play" : route.name;
  if (!VIEWS[name]) return app.go("play");
  const turn = (visit += 1);
  app.route = route;
  showNav(name);
  try {
    const view = await VIEWS[name].load();
    if (turn === visit) place(view);
  } catch (error) {
    if (turn === visit) showFailure(VIEWS[name].title, error);
  }
}

function place(view) {
  leave();
  const root = h("section", { class: "view" });
  main.replaceChildren(root);
  window.scrollTo(0, 0);
  unmount = view.mount(root, app);
}

function leave() {
  try {
    unmount?.();
  } finally {
    unmount = null;
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
    away.textContent = "The server is not reachable. Your game is safe here and continues when it is back.";
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
  try {
    const [about] = await Promise.all([persist(() => api.get("/api/about")), persist(refreshModels)]);
    app.about = about;
    showGamesIf((ref) => isKnown(app, ref));
    tellBeginning(about);
    byId("version").textContent = `Afterstate ${about.version}`;
    window.addEventListener("hashchange", showRoute);
    await showRoute();
  } catch (error) {
    showFailure("The page", error);
  }
}

start();
