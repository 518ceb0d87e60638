// Helpers to build elements, used by all views.

/** An element: h("button", {class: "button", onclick: f, data: {testid: "x"}}, "text", child). */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProperty(element, name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function setProperty(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === "data") Object.assign(element.dataset, value);
  else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else element.setAttribute(name, value);
}

/** A button: `content` is text or nodes. */
export function button(content, onclick, { kind = "", testid, label } = {}) {
  const data = testid ? { testid } : {};
  return h("button", { class: `button ${kind}`.trim(), type: "button", "aria-label": label, onclick, data }, content);
}

/** A card with a heading, which is also its label. */
export function card(title, ...children) {
  return h("section", { class: "card stack tight", "aria-label": title }, h("h2", {}, title), children);
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes. */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const ICONS = {
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  step: "M6 5l9 7-9 7zM19 5v14",
  back: "M18 5l-9 7 9 7zM5 5v14",
  undo: "M9 5L4 10l5 5M4 10h11a5 5 0 0 1 0 10h-4",
  share: "M12 15V3M8 7l4-4 4 4M5 12v8h14v-8",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  earlier: "M15 5l-8 7 8 7",
  later: "M9 5l8 7-8 7",
};

/** A small line icon, hidden from assistive technology. */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** Radio buttons in one row: options are [value, label] pairs. */
export function segmented(label, options, chosen, onchange) {
  const name = `choice-${Math.random().toString(36).slice(2)}`;
  const radios = options.map(([value, text]) => {
    const input = h("input", { type: "radio", name, value });
    input.checked = value === chosen;
    input.addEventListener("change", () => onchange(value));
    return h("label", {}, input, h("span", {}, text));
  });
  return h("div", { class: "segmented", role: "radiogroup", "aria-label": label }, radios);
}

/** A select with a label above it: options are [value, label] pairs. */
export function selectField(label, options, chosen, onchange, props = {}) {
  const select = h("select", props, options.map(([value, text]) => h("option", { value }, text)));
  select.value = chosen;
  select.addEventListener("change", () => onchange(select.value));
  return h("label", { class: "field" }, h("span", {}, label), select);
}

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A whole number in groups of three: 12345 -> "12,345". */
export function whole(number) {
  return GROUPED.format(Math.round(number) + 0).replace("-", "−");
}

/** A number in at most five characters: 1234567 -> "1.23M". */
export function brief(number) {
  if (number < 0) return `−${brief(-number)}`;
  const size = number;
  if (size >= 999_500) return `${trim(number / 1e6, size < 1e8 ? 2 : 0)}M`;
  if (size >= 9_995) return `${trim(number / 1e3, size < 99_950 ? 1 : 0)}k`;
  if (size >= 99.5) return String(Math.round(number));
  return trim(number, size < 9.995 ? 2 : 1);
}

function trim(number, digits) {
  return digits ? number.toFixed(digits).replace(/\.?0+$/, "") : String(Math.round(number));
}

export const SLIDES = ["up", "right", "down", "left"];
export const ARROWS = { up: "↑", right: "→", down: "↓", left: "←" };
export const LETTERS = { up: "U", right: "R", down: "D", left: "L" };
export const NAMES = { U: "up", R: "right", D: "down", L: "left" };
