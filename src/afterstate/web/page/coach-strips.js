// Bars below the chart of a game, on the same x axis: what each move lost, what each new tile gave.

import { svg } from "./dom.js";
import { full, short, signed } from "./scale.js";
import { t } from "./texts.js";

const TITLE = 18;

/** The highest and the lowest value of each pixel column: [[column, low, high], ..]. */
function columnsOf(values, columnOf) {
  const columns = [];
  values.forEach((value, index) => {
    const column = columnOf(index);
    const last = columns.at(-1);
    if (last?.[0] === column) [last[1], last[2]] = [Math.min(last[1], value), Math.max(last[2], value)];
    else columns.push([column, Math.min(0, value), Math.max(0, value)]);
  });
  return columns;
}

/** Bars as an SVG element with setCursor(ply) and destroy(). The square-root scale keeps small ones visible. */
export function strip({ values, title, both = false, height, margin, onPick }) {
  const plot = svg("g"), cursor = svg("g", { class: "chart-cursor" }), told = svg("g");
  const element = svg("svg", { class: "chart-strip", height, role: "img",
    "aria-label": describe(title, values, both) }, plot, told, cursor);
  const peak = values.reduce((top, value) => Math.max(top, Math.abs(value)), 0);
  const most = peak || 1;
  const middle = both ? TITLE + (height - TITLE) / 2 : height - 1;
  const reach = both ? (height - TITLE) / 2 - 1 : height - TITLE - 2;
  let width = 0, at = 0;
  const px = (ply) => margin.left + (ply / Math.max(1, values.length)) * (width - margin.left - margin.right);
  const tall = (value) => Math.sqrt(Math.abs(value) / most) * reach;

  function bars() {
    const pitch = (width - margin.left - margin.right) / Math.max(1, values.length);
    const wide = Math.max(1, Math.min(12, pitch * 0.7));
    const column = pitch < 1.5 ? (ply) => Math.round(px(ply)) : px;
    const paths = { up: "", down: "" };
    for (const [x, low, high] of columnsOf(values, column)) {
      const left = (x - wide / 2).toFixed(1);
      if (high > 0) paths.up += `M${left} ${middle}h${wide.toFixed(1)}v${-tall(high).toFixed(1)}h${-wide.toFixed(1)}z`;
      if (low < 0) paths.down += `M${left} ${middle}h${wide.toFixed(1)}v${tall(low).toFixed(1)}h${-wide.toFixed(1)}z`;
    }
    return paths;
  }

  function draw() {
    const { up, down } = bars();
    const scale = [[TITLE + 10, short(peak)], ...(both ? [[height - 2, short(-peak).replace("-", "−")]] : [])];
    plot.replaceChildren(
      svg("line", { class: "chart-base", x1: margin.left, x2: width - margin.right, y1: middle, y2: middle }),
      svg("path", { class: both ? "chart-good" : "chart-bad", d: up }), svg("path", { class: "chart-bad", d: down }));
    told.replaceChildren(svg("text", { x: margin.left, y: 12 }, title),
      ...scale.map(([y, words]) => svg("text", { x: margin.left - 8, y, "text-anchor": "end" }, words)));
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    setCursor(at);
  }

  function setCursor(ply) {
    at = ply;
    if (!width) return;
    const line = cursor.firstChild ?? cursor.appendChild(svg("line", { y1: TITLE, y2: height }));
    line.setAttribute("x1", px(ply));
    line.setAttribute("x2", px(ply));
  }

  const pick = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    const from = element.getBoundingClientRect().left + margin.left;
    const share = (event.clientX - from) / (width - margin.left - margin.right);
    onPick(Math.round(Math.max(0, Math.min(1, share)) * values.length));
  };
  element.addEventListener("pointerdown", pick);
  element.addEventListener("pointermove", pick);
  const observer = new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now === width || now < 40) return;
    width = now;
    draw();
  });
  observer.observe(element);
  return Object.assign(element, { setCursor, destroy: () => observer.disconnect() });
}

function describe(title, values, both) {
  const total = values.reduce((sum, value) => sum + value, 0);
  return t("coach.total", { title, sum: both ? signed(total) : full(total), n: full(values.length) });
}
