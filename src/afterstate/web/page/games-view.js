// Your games: a list kept in the browser, statistics, open again, review, export and import.

import { persist } from "./api.js";
import { Board, shapeOf } from "./board.js";
import { lineChart } from "./chart.js";
import { button, card, h, selectField } from "./dom.js";
import { gameName, isKnown } from "./games.js";
import { download, episodeOf, fileName, jsonOf, pictureOf, readGames } from "./games-files.js";
import { bestScore, keepGame, keepState, listGames, removeGame, statisticsOf } from "./kept.js";
import { playedBy } from "./marks.js";
import { full, percent, short } from "./scale.js";
import { loadGame, saveGame } from "./store.js";
import { language, t } from "./texts.js";

const PAGE = 20;
const WHO = { you: "word.you", ai: "word.ai", both: "games.both" };

/** Shows the view in `root`; returns a function that removes it. */
export function gamesView(root, app) {
  keepState(loadGame());
  const view = new Games(app);
  root.append(view.element);
  return () => view.close();
}

class Games {
  constructor(app) {
    this.app = app;
    this.kind = null;
    this.shown = PAGE;
    this.summary = h("div", { class: "stack" });
    this.list = h("div", { class: "stack games-list" });
    this.element = h("div", { class: "stack games", data: { testid: "games" } }, this.summary, this.list, this.#files());
    this.refresh();
  }

  close() {
    this.chart?.destroy();
  }

  refresh() {
    const games = listGames().filter((one) => isKnown(this.app, one));
    const kinds = [...new Map(games.map((one) => [gameName(this.app, one), one])).keys()];
    if (!kinds.includes(this.kind)) this.kind = kinds[0] ?? null;
    const listed = games.filter((one) => gameName(this.app, one) === this.kind);
    this.chart?.destroy();
    this.chart = null;
    this.save.disabled = this.lines.disabled = !games.length;
    if (!games.length) return this.#empty();
    this.#summarise(listed, kinds);
    return this.#fill(listed);
  }

  #empty() {
    this.summary.replaceChildren();
    this.list.replaceChildren(h("div", { class: "empty" }, h("h2", {}, t("games.none")),
      h("p", { class: "coach-invite" },
        t("games.kept")),
      h("a", { class: "button primary", href: "#play" }, t("view.play"))));
  }

  // --- statistics

  #summarise(games, kinds) {
    const found = statisticsOf(games);
    const yours = games.filter((one) => playedBy(one.marks) === "you");
    const best = Math.max(bestScore(games[0]), ...yours.map((one) => one.score));
    const figures = [
      [t("word.games"), full(found.games)], [t("games.best"), full(best)], [t("games.mean"), full(found.mean)],
      [t("games.accuracy"), found.accuracy === null ? "–" : percent(found.accuracy / 100)],
      [t("coach.moves"), full(found.moves)],
    ].map(([name, value]) =>
      h("div", { class: "coach-figure" }, h("dt", {}, name), h("dd", { class: "num coach-value" }, value)));
    const tiles = found.tiles.map(([tile, count]) => h("li", { class: "tag num" }, `${tile} × ${count}`));
    const reached = h("div", { class: "coach-figure games-tiles" }, h("dt", {}, t("games.tiles")),
      h("dd", {}, h("ul", { class: "row" }, tiles)));
    const choice = kinds.length > 1 && selectField(t("word.game"), kinds.map((kind) => [kind, kind]), this.kind, (kind) => {
      this.kind = kind;
      this.shown = PAGE;
      this.refresh();
    }, { data: { testid: "games-kind" } });
    const statistics = h("dl", { class: "card games-figures", data: { testid: "games-statistics" } }, figures, reached);
    this.summary.replaceChildren(...[choice, statistics, games.length > 2 && this.#curve(games)].filter(Boolean));
  }

  #curve(games) {
    const points = [...games].reverse().map((one, at) => [at + 1, one.score]);
    this.chart = lineChart({
      series: [{ name: "", points, color: 1, dashed: 0, marker: points.length < 60 }], title: t("games.scores"),
      xLabel: t("games.axis"), yLabel: "", yFormat: short, valueFormat: full, height: 190, margin: { left: 52, right: 14 },
    });
    return card(t("games.scores"), this.chart);
  }

  // --- the list

  #fill(games) {
    const rows = games.slice(0, this.shown).map((one) => this.#row(one));
    const more = games.length > this.shown && button(t("games.more"), () => {
      this.shown += PAGE;
      this.refresh();
    });
    this.list.replaceChildren(...[h("ol", { class: "games-rows" }, rows), more].filter(Boolean));
  }

  #row(game) {
    const board = new Board({ ...shapeOf(game.size), faces: this.app.faces(game.game), game: game.game, small: true });
    board.set(game.tiles);
    const moves = game.moves?.length ?? game.plies;
    const by = WHO[playedBy(game.marks)];
    const who = game.slider ?? (by ? t(by) : "");
    const end = game.over ? "" : t("games.unfinished");
    const largest = t("games.largest", { tile: full(game.largest) });
    const facts = [dateOf(game.ended), t("play.moves", { n: full(moves) }), largest, who, end];
    const accuracy = Number.isFinite(game.accuracy)
      ? h("span", { class: "tag num" }, t("games.accurate", { share: percent(game.accuracy / 100) })) : null;
    const text = h("div", { class: "games-text" },
      h("p", { class: "row" }, h("strong", { class: "num games-score" }, full(game.score)), accuracy),
      h("p", { class: "muted little num" }, facts.filter(Boolean).join(" · ")));
    return h("li", { class: "card games-row", data: { testid: "games-row", id: game.id } },
      h("div", { class: "games-board" }, board.element), text, this.#buttons(game));
  }

  #buttons(game) {
    const named = (words) => t("games.named", { words, score: full(game.score), date: dateOf(game.ended) });
    const open = button(t("games.open"), () => this.#open(game), { testid: "games-open", label: named(t("games.open")) });
    const coach = h("a", { class: "button", href: `#coach/game/${game.id}`, "aria-label": named(t("view.coach")),
      data: { testid: "games-coach" } }, t("view.coach"));
    const item = (words, action, testid) => button(words, () => this.#try(action), { kind: "quiet", testid });
    const remove = button(t("word.delete"), () => this.#remove(game, remove), { kind: "quiet", testid: "games-delete" });
    const items = [
      game.start === undefined && item(t("games.episode"), () => this.#saveLine(game), "games-episode"),
      item("JSON", () => download(fileName(game, "json"), jsonOf([game]), "application/json"), "games-json"),
      item(t("games.picture"), () => this.#savePicture(game), "games-picture"), remove,
    ];
    const others = t("games.others");
    const more = h("details", { class: "games-more" }, h("summary", { class: "button", "aria-label": named(others) }, others),
      h("div", { class: "row" }, items));
    return h("div", { class: "row games-buttons" }, game.episode === undefined && open, coach, more);
  }

  async #try(action) {
    try {
      await action();
    } catch (problem) {
      this.app.toast(problem.message, "error");
    }
  }

  /** Makes it the current game; the one that was is kept here. */
  #open(game) {
    return this.#try(async () => {
      const { game: name, rules, size, seed, start, moves, marks, begun } = game;
      const request = { game: name, rules, size, seed, moves, ...(start ? { start } : {}) };
      const { position, rng, rewards, score } = await persist(() => this.app.api.post("/api/replay", request));
      keepState(loadGame());
      saveGame({ ...request, marks, begun, position, rng, rewards, score, kept: true });
      this.app.go("play");
    });
  }

  #remove(game, control) {
    if (control.dataset.sure) {
      removeGame(game.id);
      return this.refresh();
    }
    control.dataset.sure = "yes";
    control.textContent = t("games.sure");
    return undefined;
  }

  async #saveLine(game) {
    download(fileName(game, "txt"), `${await episodeOf(this.app, game)}\n`, "text/plain");
  }

  async #savePicture(game) {
    download(fileName(game, "png"), await pictureOf(this.app, game), "image/png");
  }

  // --- files

  #files() {
    const all = () => listGames().filter((one) => isKnown(this.app, one));
    const write = () => download("games.json", jsonOf(all()), "application/json");
    this.save = button(t("games.savejson"), write, { testid: "games-save" });
    this.lines = button(t("games.savelines"), () => this.#try(async () => {
      const plain = all().filter((one) => one.start === undefined && gameName(this.app, one) === this.kind);
      const lines = [];
      for (const game of plain) lines.push(await episodeOf(this.app, game));
      download("games.txt", `${lines.join("\n")}\n`, "text/plain");
    }), { testid: "games-lines" });
    const accept = ".json,.txt,.log,application/json,text/plain";
    const picker = h("input", { type: "file", accept, class: "visually-hidden", data: { testid: "games-import" } });
    picker.addEventListener("change", () => this.#try(() => this.#import(picker)));
    const load = h("label", { class: "button games-import" }, picker, t("games.import"));
    const note = h("p", { class: "muted little" }, t("games.only"));
    return h("section", { class: "card stack tight games-files", "aria-label": t("games.files") },
      h("div", { class: "row" }, this.save, this.lines, load), note);
  }

  async #import(picker) {
    const [file] = picker.files;
    picker.value = "";
    if (!file) return;
    const entries = await readGames(this.app, file);
    for (const entry of entries) keepGame(entry);
    if (entries.length) this.kind = gameName(this.app, entries[0]);
    this.refresh();
    this.app.toast(t(entries.length === 1 ? "games.imported1" : "games.imported", { n: entries.length }));
  }
}

const DATE = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };

function dateOf(ms) {
  return ms ? new Intl.DateTimeFormat(language(), DATE).format(ms) : "";
}
