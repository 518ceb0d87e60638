// Line charts in SVG. Colours come from chart.css, so a chart follows the theme without a redraw.

import { svg } from "./dom.js";
import { full, nearest, pushApart, short, thin, ticks } from "./scale.js";
import { t } from "./texts.js";

const TOP = 30, BOTTOM = 38, LINE = 17, LETTER = 6.6;
const itself = (x) => x;
let charts = 0;

/** A line chart: an SVG element with update(series), setCursor(x) and destroy(). */
export function lineChart(options) {
  const chart = new LineChart(options);
  return Object.assign(chart.element, {
    update: (series) => chart.update(series),
    setCursor: (x) => chart.setCursor(x),
    destroy: () => chart.observer.disconnect(),
  });
}

class LineChart {
  constructor({ series, title, xLabel = "", yLabel = "", xFormat = full, yFormat = short, height = 260, ...more }) {
    Object.assign(this, { title, xLabel, yLabel, xFormat, yFormat, height, ...more });
    this.width = 0;
    this.hover = null;
    this.#build();
    this.observer = new ResizeObserver(([entry]) => this.#resize(Math.round(entry.contentRect.width)));
    this.observer.observe(this.element);
    this.update(series);
  }

  #build() {
    const id = `chart-${++charts}`;
    this.about = svg("desc", { id: `${id}-desc` });
    this.parts = Object.fromEntries(
      ["grid", "lines", "labels", "cursor", "hover"].map((name) => [name, svg("g", { class: `chart-${name}` })])
    );
    const name = svg("title", { id: `${id}-title` }, this.title || this.yLabel);
    this.element = svg(
      "svg",
      {
        class: "chart", height: this.height, tabindex: 0, role: "slider", "aria-labelledby": `${id}-title`,
        "aria-describedby": `${id}-desc`, "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0,
      },
      name, this.about, ...Object.values(this.parts)
    );
    // An empty title keeps the browser from showing the chart's title as a tooltip.
    const hit = svg("rect", { class: "chart-hit", width: "100%", height: "100%" }, svg("title"));
    this.element.append(hit);
    this.#listen();
  }

  #listen() {
    const on = (name, listener) => this.element.addEventListener(name, listener);
    on("pointermove", (event) => {
      this.#hoverAt(this.#xOf(event));
      if (event.buttons && this.onPick) this.onPick(this.#snap(this.#xOf(event)));
    });
    on("pointerdown", (event) => this.onPick?.(this.#snap(this.#xOf(event))));
    on("pointerleave", () => this.#hoverAt(null));
    on("focus", () => {
      if (this.element.matches(":focus-visible")) this.#hoverAt(this.cursor ?? this.#steps().at(-1) ?? null);
    });
    on("blur", () => this.#hoverAt(null));
    on("keydown", (event) => this.#key(event));
  }

  /** Draws other series in the same frame; a visible crosshair stays where it is. */
  update(series) {
    this.series = series.map((one, index) => ({
      ...one,
      color: one.color ?? (index % 6) + 1,
      dash: one.dashed === undefined ? index % 4 : Number(one.dashed),
      marker: one.marker === true ? "circle" : one.marker,
    }));
    this.xs = null;
    this.#range();
    this.#describe();
    if (this.width) this.#draw();
  }

  /** Marks one x, such as the ply that a board shows; null removes the mark. */
  setCursor(x) {
    this.cursor = x;
    if (this.width) this.#drawCursor();
  }

  #resize(width) {
    if (width === this.width || width < 40) return;
    this.width = width;
    this.#draw();
  }

  #range() {
    const drawn = this.series.filter((one) => one.points.length);
    const edges = drawn.flatMap((one) => [one.points[0][0], one.points.at(-1)[0]]);
    this.x0 = this.xMin ?? Math.min(...edges, Infinity);
    this.x1 = Math.max(...edges, -Infinity);
    if (!edges.length) [this.x0, this.x1] = [0, 1];
    if (this.x1 <= this.x0) this.x1 = this.x0 + 1;
    let low = this.yMin ?? Infinity, high = this.yMax ?? -Infinity;
    for (const { points } of drawn) {
      for (const [, y, spread = 0] of points) {
        if (y - spread < low) low = y - spread;
        if (y + spread > high) high = y + spread;
      }
    }
    if (!(high > -Infinity)) [low, high] = [0, 1];
    [this.y0, this.y1] = [Math.min(low, this.yMin ?? 0), high > low ? high : low + 1];
    if (this.yMax === undefined) this.y1 += (this.y1 - this.y0) * 0.04;
  }

  #describe() {
    const ends = this.series
      .filter((one) => one.points.length && !one.silent)
      .map((one) => `${one.name ? `${one.name}: ` : ""}${this.yFormat(one.points.at(-1)[1])}`);
    this.about.textContent = ends.length
      ? t("chart.about", { y: this.yLabel, x: this.xLabel, ends: ends.join(", ") })
      : t("chart.nothing", { y: this.yLabel });
  }

  #draw() {
    const named = this.series.some((one) => one.name && one.points.length);
    const longest = Math.max(0, ...this.series.map((one) => (one.name ?? "").length)) * LETTER + 37;
    this.left = this.margin?.left ?? 46;
    this.right = this.width - (this.margin?.right ?? (named ? Math.min(longest, 190, this.width * 0.3) : 14));
    this.bottom = this.height - BOTTOM;
    this.element.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.#drawGrid();
    this.#drawLines();
    this.#drawLabels();
    this.#drawCursor();
    this.#drawHover();
  }

  #px(x) {
    return this.left + ((x - this.x0) / (this.x1 - this.x0)) * (this.right - this.left);
  }

  #py(y) {
    return this.bottom - ((y - this.y0) / (this.y1 - this.y0)) * (this.bottom - TOP);
  }

  #drawGrid() {
    const rows = ticks(this.y0, this.y1, Math.max(2, (this.bottom - TOP) / 46)).flatMap((y) => [
      this.#rule(y),
      text(this.left - 8, this.#py(y) + 4, this.yFormat(y), "end"),
    ]);
    const room = Math.max(2, (this.right - this.left) / 84);
    const columns = ticks(this.x0, this.x1, room, 1).flatMap((x) => [
      svg("line", { class: "chart-tick", x1: this.#px(x), x2: this.#px(x), y1: this.bottom, y2: this.bottom + 4 }),
      text(this.#px(x), this.bottom + 17, short(x), "middle"),
    ]);
    const names = [
      text(this.margin ? this.left : 2, 14, this.yLabel, "start", "chart-name"),
      text(this.right, this.height - 4, this.xLabel, "end", "chart-name"),
    ];
    const none = this.series.some((one) => one.points.length) ? [] : [
      text((this.left + this.right) / 2, (TOP + this.bottom) / 2, this.empty ?? t("chart.none"), "middle",
        "chart-none"),
    ];
    this.parts.grid.replaceChildren(...rows, ...columns, ...names, ...none);
  }

  #rule(y) {
    const [x1, x2, at] = [this.left, this.right, this.#py(y)];
    return svg("line", { class: y === 0 ? "chart-base" : "chart-rule", x1, x2, y1: at, y2: at });
  }

  #drawLines() {
    this.parts.lines.replaceChildren(...this.series.map((one) => {
      const group = svg("g", { class: `chart-series chart-c${one.color} chart-d${one.dash}` });
      const points = thin(one.points, (x) => Math.round(this.#px(x)));
      const places = points.map(([x, y]) => `${this.#px(x).toFixed(1)} ${this.#py(y).toFixed(1)}`);
      const path = places.length ? `M${places.join("L")}` : "";
      if (one.line !== false && path) group.append(svg("path", { d: path }));
      if (one.marker || one.points.length === 1) group.append(...points.flatMap((point) => this.#mark(one, point)));
      return group;
    }));
  }

  #mark(one, [x, y, spread]) {
    const [cx, cy] = [this.#px(x), this.#py(y)];
    const shape = shapeOf(one.marker || "circle", cx, cy);
    if (!spread) return [shape];
    const [low, high] = [this.#py(y - spread), this.#py(y + spread)];
    const bar = `M${cx - 4} ${high}h8M${cx} ${high}V${low}M${cx - 4} ${low}h8`;
    return [svg("path", { class: "chart-spread", d: bar }), shape];
  }

  #drawLabels() {
    const shown = this.series.filter((one) => one.name && one.points.length);
    const wanted = shown.map((one) => this.#py(one.points.at(-1)[1]));
    const places = pushApart(wanted, LINE, TOP + 2, this.bottom - 2);
    const room = Math.floor((this.width - this.right - 34) / LETTER);
    this.parts.labels.replaceChildren(...shown.map((one, index) => {
      const [from, to] = [this.right + 8, places[index]];
      const name = one.name.length > room ? `${one.name.slice(0, Math.max(1, room - 1))}…` : one.name;
      const group = svg("g", { class: `chart-series chart-c${one.color} chart-d${one.dash}` });
      if (one.line === false) group.append(shapeOf(one.marker, from + 8, to));
      else group.append(svg("path", { d: `M${from} ${to}h16` }));
      group.append(text(from + 21, to + 4, name, "start", "chart-label"));
      const end = this.#px(one.points.at(-1)[0]);
      if (end > this.right - 12) {
        group.append(svg("path", { class: "chart-leader", d: `M${end + 2} ${wanted[index]}L${from - 1} ${to}` }));
      }
      return group;
    }));
  }

  #drawCursor() {
    const at = this.cursor;
    const inside = at !== null && at !== undefined && at >= this.x0 && at <= this.x1;
    if (!inside) return this.parts.cursor.replaceChildren();
    const x = this.#px(at);
    const dots = this.series.filter((one) => one.points.length && !one.silent).map((one) => {
      const [, y] = one.points[nearest(one.points, at)];
      return svg("circle", { class: `chart-dot chart-c${one.color}`, cx: x, cy: this.#py(y), r: 5 });
    });
    this.parts.cursor.replaceChildren(svg("line", { x1: x, x2: x, y1: TOP - 6, y2: this.bottom }), ...dots);
    if (this.hover === null) this.#say(at);
  }

  #drawHover() {
    if (this.hover === null) return this.parts.hover.replaceChildren();
    const at = this.hover, x = this.#px(at);
    const rows = this.#rows(at);
    const dots = rows.map(({ one, point }) =>
      svg("circle", { class: `chart-dot chart-c${one.color}`, cx: this.#px(point[0]), cy: this.#py(point[1]), r: 4 })
    );
    this.parts.hover.replaceChildren(
      svg("line", { x1: x, x2: x, y1: TOP - 6, y2: this.bottom }), ...dots, this.#readout(at, x, rows)
    );
    this.#say(at);
  }

  /** The point of each series near x, largest value first. */
  #rows(at) {
    const slack = (this.x1 - this.x0) / 25;
    return this.series
      .filter((one) => one.points.length && !one.silent)
      .map((one) => ({ one, point: one.points[nearest(one.points, at)] }))
      .filter(({ point }) => Math.abs(point[0] - at) <= slack)
      .sort((first, second) => second.point[1] - first.point[1]);
  }

  #readout(at, x, rows) {
    const head = `${this.xLabel ? `${this.xLabel} ` : ""}${this.xFormat(at)}`;
    const lines = rows.map(({ one, point }) => [one.name ?? "", this.#value(point), one]);
    const letters = Math.max(head.length, ...lines.map(([name, value]) => name.length + value.length + 5));
    const width = Math.min(letters * LETTER + 20, this.width - 8), height = LINE * (lines.length + 1) + 10;
    const left = x + 12 + width < this.width ? x + 12 : Math.max(4, x - 12 - width);
    const top = Math.max(2, Math.min(TOP, this.height - height - 2));
    const group = svg("g", { class: "chart-readout" }, svg("rect", { x: left, y: top, width, height, rx: 6 }));
    group.append(text(left + 10, top + LINE + 1, head, "start", "chart-name"));
    lines.forEach(([name, value, one], index) => {
      const y = top + LINE * (index + 2) + 1;
      if (name) group.append(svg("circle", { class: `chart-dot chart-c${one.color}`, cx: left + 14, cy: y - 4, r: 4 }));
      group.append(text(left + (name ? 24 : 10), y, name), text(left + width - 10, y, value, "end", "chart-value"));
    });
    return group;
  }

  #value([, y, spread]) {
    const format = this.valueFormat ?? this.yFormat;
    return spread ? `${format(y)} ± ${format(spread)}` : format(y);
  }

  #say(at) {
    const values = this.#rows(at).map(({ one, point }) => `${one.name ? `${one.name} ` : ""}${this.#value(point)}`);
    const attributes = {
      "aria-valuemin": this.x0, "aria-valuemax": this.x1, "aria-valuenow": at,
      "aria-valuetext": `${this.xLabel} ${this.xFormat(at)}: ${values.join(", ")}`,
    };
    for (const [name, value] of Object.entries(attributes)) this.element.setAttribute(name, value);
  }

  #xOf(event) {
    const box = this.element.getBoundingClientRect();
    const share = (event.clientX - box.left - this.left) / (this.right - this.left);
    return this.x0 + Math.max(0, Math.min(1, share)) * (this.x1 - this.x0);
  }

  #steps() {
    const all = () => new Set(this.series.flatMap((one) => one.points.map(([x]) => x)));
    this.xs ??= [...all()].sort((one, other) => one - other);
    return this.xs;
  }

  #snap(x) {
    const steps = this.#steps();
    return steps.length ? steps[nearest(steps, x, itself)] : x;
  }

  #hoverAt(x) {
    const to = x === null || !this.#steps().length ? null : this.#snap(x);
    if (to === this.hover) return;
    this.hover = to;
    this.#drawHover();
    this.onHover?.(to);
  }

  #key(event) {
    const jump = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
    const steps = this.#steps();
    if (jump === undefined || !steps.length || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const from = nearest(steps, this.onPick ? this.cursor ?? 0 : this.hover ?? steps.at(-1), itself);
    const to = steps[Math.max(0, Math.min(steps.length - 1, from + jump))];
    if (this.onPick) this.onPick(to);
    this.#hoverAt(to);
  }
}

function text(x, y, content, anchor = "start", name = "chart-text") {
  return svg("text", { x, y, class: name, "text-anchor": anchor }, content);
}

function shapeOf(marker, x, y) {
  const paths = {
    circle: `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z`,
    square: `M${x - 4} ${y - 4}h8v8h-8z`,
    diamond: `M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`,
    triangle: `M${x} ${y - 5}l5 9h-10z`,
  };
  return svg("path", { class: "chart-mark", d: paths[marker] ?? paths.circle });
}
