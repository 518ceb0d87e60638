// What survives a reload: the game that is played and the choices made.

const memory = new Map();

function read(key) {
  try {
    return localStorage.getItem(`afterstate.${key}`);
  } catch {
    return memory.get(key) ?? null;
  }
}

function write(key, value) {
  memory.set(key, value);
  try {
    localStorage.setItem(`afterstate.${key}`, value);
  } catch {
    // Storage is full or forbidden: the page goes on without it.
  }
}

function readObject(key) {
  try {
    const value = JSON.parse(read(key) ?? "null");
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const DEFAULTS = {
  models: {},
  look: "depth:1",
  hints: false,
  speed: 0.18,
  last: null,
};

const settings = { ...DEFAULTS, ...readObject("settings") };

/** A choice made earlier: "models", "look", "hints", "speed", "last". */
export function setting(name) {
  return settings[name];
}

/** Keeps a choice. */
export function keep(name, value) {
  settings[name] = value;
  write("settings", JSON.stringify(settings));
}

/** The look-ahead chosen for the whole page, as fields of a request: {depth} or {move_time}. */
export function lookAhead() {
  const [kind, value] = settings.look.split(":");
  return kind === "time" ? { move_time: Number(value) / 1000 } : { depth: Number(value) };
}

let isShown = () => true;

/** A kept game that the server cannot go on with, such as one of a game it was started without, is passed over. */
export function showGamesIf(test) {
  isShown = test;
}

/** The game that is played: {game, rules, size, seed, moves, position, rng, rewards, score, kept} or null. */
export function loadGame() {
  const game = readObject("game");
  const whole = game && typeof game.moves === "string" && game.position && typeof game.rng === "string";
  return whole && isShown(game) ? game : null;
}

/** Keeps the game that is played. */
export function saveGame(game) {
  write("game", JSON.stringify(game));
}

/** "auto", "light" or "dark". */
export function loadTheme() {
  const theme = read("theme");
  return theme === "light" || theme === "dark" ? theme : "auto";
}

/** Keeps the theme and shows it. */
export function applyTheme(theme) {
  write("theme", theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
