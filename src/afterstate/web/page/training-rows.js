// One row for each run: what it is, its progress, how well it plays, and its buttons.

import { h, whole } from "./dom.js";
import { percent, short } from "./scale.js";
import { t } from "./texts.js";

const ALIVE = new Set(["starting", "running", "stopping", "elsewhere"]);

/** Seconds as 30s, 2m 46s, 1h 05m. */
export function duration(seconds) {
  const all = Math.round(seconds);
  if (all < 60) return `${all}s`;
  if (all < 3600) return `${Math.floor(all / 60)}m ${String(all % 60).padStart(2, "0")}s`;
  return `${Math.floor(all / 3600)}h ${String(Math.floor((all % 3600) / 60)).padStart(2, "0")}m`;
}

/** Bytes as 350 kB, 12 MB, 1.1 GB. */
export function bytes(size) {
  const [unit, factor] = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]].find(([, least]) => size >= least) ?? ["kB", 1e3];
  const scaled = size / factor;
  return `${scaled < 9.95 ? scaled.toFixed(1).replace(".0", "") : Math.round(scaled)} ${unit}`;
}

/** Progress of a run, 0 to 1, or null if it has no end. */
export function shareDone(run) {
  if (run.total) return Math.min(1, run.games / run.total);
  if (run.limit) return Math.min(1, run.seconds / run.limit);
  return null;
}

/** How to resume a run; if it is done, with twice its limit. */
export function further(run) {
  if (run.status !== "done") return { body: {}, words: t("train.resume") };
  if (run.total) return { body: { games: String(2 * run.total) }, words: t("train.togames", { n: short(2 * run.total) }) };
  const twice = 2 * run.limit;
  if (run.limit) return { body: { time: `${Math.round(twice)}s` }, words: t("train.totime", { time: duration(twice) }) };
  return { body: {}, words: t("train.resume") };
}

/**
 * A row: {element, update(run, {chosen, color, name})}, where `name` is the name of the run's game.
 * The `actions` select, stop, resume, watch, rename and remove are called with the run.
 */
export function runRow(actions) {
  let run = null;
  const button = (testid, kind, action) =>
    h("button", { class: `button ${kind}`, type: "button", data: { testid }, onclick: () => actions[action](run) });
  const parts = {
    box: h("input", { type: "checkbox", data: { testid: "run-select" } }),
    swatch: h("span", { class: "train-swatch", "aria-hidden": "true" }),
    name: h("span", { class: "train-name" }),
    status: h("span", { class: "tag train-status" }),
    what: h("p", { class: "train-what muted" }),
    bar: h("progress", { max: 1 }),
    far: h("p", { class: "train-far num muted" }),
    figures: h("dl", { class: "train-figures num" }),
    kept: h("p", { class: "train-far num muted", data: { testid: "run-kept" } }),
    why: h("p", { class: "error" }),
    watch: button("run-watch", "primary", "watch"),
    stop: button("run-stop", "", "stop"),
    resume: button("run-resume", "", "resume"),
    rename: button("run-rename", "quiet", "rename"),
    remove: button("run-delete", "quiet", "remove"),
  };
  parts.watch.textContent = t("train.watch");
  parts.rename.textContent = t("train.rename");
  parts.remove.textContent = t("word.delete");
  parts.box.addEventListener("change", () => actions.select(run, parts.box.checked));
  const element = h("li", { class: "train-run", data: { testid: "run-row" } },
    h("div", { class: "train-head" }, h("label", { class: "check" }, parts.box, parts.swatch, parts.name),
      parts.status),
    parts.what, parts.bar, parts.far, parts.figures, parts.kept, parts.why,
    h("div", { class: "row train-buttons" }, parts.watch, parts.stop, parts.resume),
    h("div", { class: "row train-care" }, parts.rename, parts.remove));
  const update = (next, look) => {
    run = next;
    fill(element, parts, run, look);
  };
  return { element, update };
}

function fill(element, parts, run, { chosen, color, name }) {
  const alive = ALIVE.has(run.status);
  Object.assign(element.dataset, { id: run.id, status: run.status });
  parts.box.checked = chosen;
  parts.swatch.className = chosen ? `train-swatch chart-c${color}` : "train-swatch";
  say(parts.name, run.name);
  say(parts.status, t(`status.${run.doing === "compiling" ? run.doing : run.status}`));
  say(parts.what, [name, run.size, run.network, run.method].join(" · "));
  fillProgress(parts, run, alive);
  fillFigures(parts.figures, run);
  say(parts.why, run.why ?? "");
  parts.why.hidden = !run.why;
  parts.stop.hidden = !["starting", "running", "stopping"].includes(run.status);
  parts.stop.disabled = run.status === "stopping";
  say(parts.stop, run.status === "stopping" ? t("train.stopping") : t("word.stopit"));
  parts.resume.hidden = alive || !run.resumable;
  say(parts.resume, further(run).words);
  parts.watch.hidden = !run.model;
  for (const part of [parts.rename, parts.remove]) part.hidden = alive || !run.own;
  parts.rename.setAttribute("aria-label", t("train.renameit", { name: run.name }));
  parts.remove.setAttribute("aria-label", t("train.deleteit", { name: run.name }));
  say(parts.kept, keptText(run, alive));
}

/** What a run has kept: which block its figures are of, and how much room it takes. */
function keptText(run, alive) {
  const best = run.model && run.block !== null ? t("train.block", { n: whole(run.block) }) : "";
  const only = run.status === "done" && !run.resumable && !run.why ? t("train.playonly") : "";
  return [best, run.disk || !alive ? t("train.disk", { room: bytes(run.disk) }) : "", only].filter(Boolean).join(" · ");
}

function fillProgress(parts, run, alive) {
  const share = shareDone(run);
  parts.bar.hidden = share === null && !alive;
  parts.bar.setAttribute("aria-label", t("train.progress", { name: run.name }));
  if (share === null) parts.bar.removeAttribute("value");
  else parts.bar.value = share;
  const games = t(run.total ? "train.gamesof" : "train.games", { n: whole(run.games), all: whole(run.total ?? 0) });
  const spent = duration(run.seconds);
  const time = run.limit ? t("train.timeof", { n: spent, all: duration(run.limit) }) : spent;
  say(parts.far, [games, time, ...(alive && run.doing ? [t(`status.${run.doing}`)] : [])].join(" · "));
}

function fillFigures(list, run) {
  const rate = run.win_rate === null ? "–" : percent(run.win_rate);
  const figures = [
    [run.model ? t("train.bestmean") : t("games.mean"), run.mean === null ? "–" : whole(run.mean)],
    [run.win_tile ? t("word.reach", { tile: run.win_tile }) : t("train.winrate"), rate],
    [t("train.speed"), run.moves_per_s === null ? "–" : short(run.moves_per_s)],
  ];
  const key = JSON.stringify(figures);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(...figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
