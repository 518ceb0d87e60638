// Where a game for the coach comes from: Play, a model that plays one now, or an episode file.

import { persist } from "./api.js";
import { h, selectField, whole } from "./dom.js";
import { countsOf, guessRecord, readEpisodes } from "./episodes.js";
import { fitRef, gameName, sizeOptions } from "./games.js";
import { keptOf } from "./kept.js";
import { loadGame } from "./store.js";
import { t } from "./texts.js";

const LISTED = 300;
const BATCH = { depth: 1, count: 20_000, budget: 100 };

/** The sources: {element, refresh(), mine(), close()}; `choose(request, about)` gets the request for /api/coach. */
export function sources(app, choose) {
  const mine = mySource(app, choose);
  const model = modelSource(app, choose);
  const file = fileSource(app, choose);
  const props = { class: "coach-sources", data: { testid: "coach-source" }, "aria-label": t("coach.choose") };
  const element = h("section", props, mine.element, model.element, file.element, file.chooser);
  return { element, refresh: model.refresh, mine: mine.choose, close: model.stop };
}

function part(title, ...children) {
  return h("div", { class: "card stack tight coach-part" }, h("h2", {}, title), children);
}

/** The request for a review of a kept game, and what the view says of it: [request, about]. */
export function askFor({ id, game, rules, size, seed, start, moves, marks, episode, slider }) {
  const ref = { game, rules, size };
  if (episode !== undefined) return [{ ...ref, episode }, { id, who: slider }];
  return [{ ...ref, seed, moves, marks, ...(start ? { start } : {}) }, { id, who: "" }];
}

function mySource(app, choose) {
  const game = loadGame();
  const played = Boolean(game?.moves.length);
  const facts = () => ({ name: gameName(app, game), n: whole(game.moves.length), score: whole(game.score) });
  const words = played ? t("coach.movesscore", facts())
    : t("coach.notplayed");
  const take = () => choose(...askFor(keptOf(loadGame())));
  const button = played
    ? h("button", { class: "button primary", type: "button", data: { testid: "coach-mine" }, onclick: take },
      t("coach.coachmine"))
    : h("a", { class: "button", href: "#play", data: { testid: "coach-mine" } }, t("coach.playone"));
  const others = h("a", { class: "button", href: "#coach/games", data: { testid: "coach-others" } }, t("games.yours"));
  const buttons = h("div", { class: "row" }, button, others);
  const element = part(t("coach.mine"), h("p", { class: "muted coach-grow" }, words), buttons);
  return { element, choose: played ? take : null };
}

function modelSource(app, choose) {
  const slot = h("div", { class: "coach-grow" });
  const told = h("p", { class: "muted little num", role: "status" });
  const button = h("button", { class: "button", type: "button", data: { testid: "coach-model-game" } },
    t("coach.letplay"));
  let id = null, playing = null, listed = null;
  const refresh = () => {
    const models = app.models();
    id = models.some((one) => one.id === id) ? id : models[0]?.id ?? null;
    const options = models.map((one) => [one.id, `${one.name}, ${gameName(app, one)}`]);
    if (listed === options.join()) return;
    listed = options.join();
    const link = h("a", { href: "#training" }, t("word.trainone"));
    const none = h("p", { class: "muted" }, t("coach.nomodel"), link, t("coach.in30"));
    const pick = (value) => { id = value; };
    const field = () => selectField(t("word.ai"), options, id, pick, { data: { testid: "coach-model" } });
    slot.replaceChildren(models.length ? field() : none);
    button.disabled = !models.length;
  };
  const play = async () => {
    const model = app.models().find((one) => one.id === id);
    playing = { stopped: false };
    button.textContent = t("coach.stop");
    try {
      const game = await playGame(app, model, playing, (moves, score) => {
        told.textContent = t("coach.sofar", { n: whole(moves), score: whole(score) });
      });
      const marks = `${game.moves.length}a`;
      if (game.moves && !playing.left) choose({ ...game, marks }, { who: t("word.ai") });
    } catch (problem) {
      app.toast(problem.message, "error");
    }
    playing = null;
    told.textContent = "";
    button.textContent = t("coach.letplay");
  };
  button.addEventListener("click", () => {
    if (playing) playing.stopped = true;
    else play();
  });
  refresh();
  const stop = () => {
    if (playing) Object.assign(playing, { stopped: true, left: true });
  };
  return { element: part(t("coach.byai"), slot, h("div", { class: "row" }, button, told)), refresh, stop };
}

async function playGame(app, model, turn, tell) {
  const { game, rules, size } = model;
  const ask = (path, body) => persist(() => app.api.post(path, body));
  let now = await ask("/api/new", { game, rules, size, seed: Math.floor(Math.random() * 2 ** 32) });
  const { seed } = now;
  let moves = "";
  while (!turn.stopped && !now.position.over && moves.length < app.about.limits.moves) {
    const { rng, rewards, position } = now;
    const count = Math.min(BATCH.count, app.about.limits.moves - moves.length);
    now = await ask("/api/watch", { ...BATCH, count, model: model.id, text: position.text, rng, rewards });
    moves += now.moves;
    tell(moves.length, now.score);
  }
  return { game, rules, size, seed, moves };
}

function fileSource(app, choose) {
  const error = h("p", { class: "error", role: "alert" });
  const accept = ".txt,.log,text/plain";
  const picker = h("input", { type: "file", accept, class: "visually-hidden", data: { testid: "coach-file" } });
  const drop = h("label", { class: "coach-drop coach-grow" }, picker, h("span", { class: "button" }, t("coach.file")),
    h("span", { class: "muted little" }, t("coach.drop")));
  const chooser = h("div", { class: "card coach-chooser", hidden: true });
  const read = async (file) => {
    error.textContent = "";
    chooser.hidden = true;
    try {
      const games = await readEpisodes(file);
      chooser.replaceChildren(...episodeChooser(app, file.name, games, choose));
      chooser.hidden = false;
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  picker.addEventListener("change", async () => {
    if (picker.files.length) await read(picker.files[0]);
    picker.value = "";
  });
  const over = (on) => (event) => {
    event.preventDefault();
    drop.classList.toggle("over", on);
  };
  drop.addEventListener("dragover", over(true));
  drop.addEventListener("dragleave", over(false));
  drop.addEventListener("drop", (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length) read(event.dataTransfer.files[0]);
  });
  return { element: part(t("coach.episode"), drop, error), chooser };
}

function episodeChooser(app, name, games, choose) {
  let ref = guessRecord(games[0], app);
  let index = 0;
  const listed = games.slice(0, LISTED);
  const options = listed.map((game, index) => {
    const { slides, score } = countsOf(game);
    const facts = { line: game.line, name: game.slider, n: whole(slides), score: whole(score) };
    return [String(index), t("coach.episodeline", facts)];
  });
  const refs = app.about.games.flatMap(({ game, rules }) => rules.map((one) => ({ game, rules: one.name })));
  const kindOf = ({ game, rules }) => `${game}/${rules}`;
  const kinds = refs.map((one) => [kindOf(one), gameName(app, one)]);
  const boardField = () => selectField(t("word.board"), sizeOptions(app, ref), ref.size, (size) => { ref = { ...ref, size }; });
  let board = boardField();
  const pickRules = (kind) => {
    ref = fitRef(app, { ...refs.find((one) => kindOf(one) === kind), size: ref.size });
    const drawn = boardField();
    board.replaceWith(drawn);
    board = drawn;
  };
  const byLine = h("input", { type: "number", min: 1, max: games.at(-1).line, placeholder: t("coach.line") });
  const pick = (value) => {
    index = Number(value);
    byLine.value = "";
  };
  const take = () => {
    const game = games.find((one) => one.line === Number(byLine.value)) ?? games[index];
    choose({ ...ref, episode: game.text }, { who: game.slider });
  };
  const more = games.length > LISTED && h("label", { class: "field" },
    h("span", {}, t("coach.byline", { n: whole(LISTED), all: whole(games.length) })), byLine);
  return [
    selectField(t("coach.gamesin", { name }), options, "0", pick, { data: { testid: "coach-games" } }),
    ...(more ? [more] : []),
    selectField(t("word.rules"), kinds, kindOf(ref), pickRules),
    board,
    h("button", { class: "button primary", type: "button", data: { testid: "coach-episode" }, onclick: take },
      t("word.coachthis")),
  ];
}
