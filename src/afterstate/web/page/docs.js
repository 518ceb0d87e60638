// The page of the API: shows /openapi.json with examples, curl commands and a form to try each operation.

import { copyFrom } from "./copy.js";
import { exampleOf, fieldsOf, limitsOf, operationsOf, typeOf } from "./docs-schema.js";
import { h } from "./dom.js";

// Bodies that work as they are; others are made from the description.
const EXAMPLES = {
  "/api/new": { game: "2048", seed: 1 },
  "/api/replay": { game: "2048", seed: 1, moves: "DLUR" },
  "/api/slide": { slide: "left" },
  "/api/try": { slide: "left" },
  "/api/episode": { game: "2048", seed: 1, moves: "DLUR" },
  "/api/coach": { game: "2048", seed: 1, moves: "DLUR" },
  "/api/versus": { games: 20, seed: 1 },
  "/api/runs": { game: "2048", network: "5x4", time: "30s", method: "tc" },
  "/api/runs/{run}/resume": { time: "2m" },
};

const nav = document.getElementById("docs-nav");
const main = document.getElementById("docs-main");
const about = document.getElementById("docs-about");

function pretty(value) {
  return JSON.stringify(value, null, 2);
}

/** Text with `code` in backticks, and blank lines as paragraphs. */
function prose(text) {
  return text.split(/\n\s*\n/).filter((part) => part.trim()).map((part) =>
    h("p", {}, ...part.split("`").map((piece, at) => (at % 2 ? h("code", {}, piece) : piece)))
  );
}

function table(caption, rows, withRequired) {
  if (!rows.length) return null;
  const limited = rows.some((row) => row.limits);
  const heads = ["Name", "Type", withRequired && "Required", limited && "Limits", "Meaning"].filter(Boolean);
  const line = (row) => h("tr", {},
    h("th", { scope: "row" }, h("code", {}, row.name)),
    h("td", {}, row.type),
    withRequired && h("td", {}, row.required ? "yes" : "no"),
    limited && h("td", { class: "docs-limits" }, row.limits),
    h("td", {}, row.meaning)
  );
  return h("div", { class: "docs-scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...rows.map(line))
    ));
}

function codeBlock(label, text) {
  const name = `Copy: ${label}`;
  const button = h("button", { class: "button quiet docs-copy", type: "button", "aria-label": name }, "Copy");
  button.addEventListener("click", () => copyFrom(button, text));
  return h("figure", { class: "docs-code" },
    h("figcaption", {}, label, button),
    h("pre", { tabindex: 0 }, h("code", {}, text)));
}

const TOKEN = '-H "Authorization: Bearer $AFTERSTATE_TOKEN"';

/** Examples of the parameters that an address needs. */
function neededBy(operation, root) {
  const needed = operation.parameters.filter((one) => one.in === "query" && one.required);
  return needed.map((one) => [one.name, exampleOf(one.schema, root)]);
}

function curl(operation, root) {
  const query = new URLSearchParams(neededBy(operation, root));
  const url = `${location.origin}${operation.path}`;
  const method = operation.method.toUpperCase();
  if (query.size) return `curl ${TOKEN} '${url}?${query}'`;
  if (!operation.body) return method === "GET" ? `curl ${TOKEN} ${url}` : `curl -X ${method} ${TOKEN} ${url}`;
  const body = JSON.stringify(operation.body.example).replaceAll("'", "'\\''");
  return `curl ${TOKEN} ${url} -H 'Content-Type: application/json' -d '${body}'`;
}

function tryIt(operation, root) {
  const examples = Object.fromEntries(neededBy(operation, root));
  const inPath = operation.parameters.map((one) => one.name);
  const controls = operation.parameters.map((one) =>
    h("label", { class: "field" }, h("span", {}, one.name),
      h("input", { name: one.name, value: examples[one.name] ?? "", autocomplete: "off", spellcheck: "false" })));
  const example = operation.body ? pretty(operation.body.example) : "";
  const rows = Math.min(14, example.split("\n").length + 1);
  const area = operation.body && h("textarea", { class: "docs-body-text", rows, spellcheck: "false" });
  if (area) area.value = example;
  const answer = h("pre", { class: "docs-answer", tabindex: 0, hidden: true });
  const said = h("p", { class: "docs-said num", role: "status" });
  const send = async (event) => {
    event.preventDefault();
    said.textContent = "Waiting for the answer …";
    const values = Object.fromEntries(new FormData(event.target));
    const result = await call(operation, inPath, values, area?.value);
    said.textContent = result.said;
    answer.textContent = result.text;
    answer.hidden = !result.text;
  };
  return h("details", { class: "docs-try" },
    h("summary", {}, "Try it"),
    h("form", { class: "stack", onsubmit: send }, ...controls,
      area && h("label", { class: "field" }, h("span", {}, "Body"), area),
      h("div", { class: "row" }, h("button", { class: "button primary", type: "submit" }, "Send"), said), answer));
}

async function call(operation, names, values, body) {
  const query = new URLSearchParams();
  let path = operation.path;
  for (const name of names) {
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(values[name]));
    else if (values[name]) query.set(name, values[name]);
  }
  const url = query.size ? `${path}?${query}` : path;
  const started = performance.now();
  try {
    const headers = operation.method === "get" ? {} : { "Content-Type": "application/json" };
    const answer = await fetch(url, { method: operation.method.toUpperCase(), headers, body });
    const text = await answer.text();
    const took = Math.round(performance.now() - started);
    return { said: `${answer.status} ${answer.statusText} in ${took} ms`, text: shown(text) };
  } catch {
    return { said: "The server is not reachable. Start it again, then send again.", text: "" };
  }
}

function shown(text) {
  const most = 20000;
  let nice = text;
  try {
    nice = pretty(JSON.parse(text));
  } catch {
    // Not JSON: shown as it is.
  }
  const more = nice.length - most;
  return more > 0 ? `${nice.slice(0, most)}\n… ${more.toLocaleString("en")} more characters` : nice;
}

function parameterRows(operation, root) {
  return operation.parameters.map((one) => ({
    name: one.name, type: typeOf(one.schema, root), required: Boolean(one.required), limits: limitsOf(one.schema, root),
    meaning: one.description ?? `in the ${one.in}`,
  }));
}

function answerBlocks(answer, root) {
  const good = answer.status.startsWith("2");
  if (!good || !answer.schema) return [];
  const fields = table(`Answer ${answer.status}`, fieldsOf(answer.schema, root), false);
  return [fields, answer.example !== undefined && codeBlock("Example of an answer", pretty(answer.example))];
}

function errorsLine(operation) {
  const errors = operation.answers.filter((one) => !one.status.startsWith("2")).map((one) => one.status);
  if (!errors.length) return null;
  return h("p", { class: "muted little" }, `Errors have the status ${errors.join(", ")} and one sentence: `,
    h("code", {}, '{"error": "…"}'));
}

function section(operation, root) {
  const title = h("h3", { id: operation.id },
    h("span", { class: "docs-method", data: { method: operation.method } }, operation.method.toUpperCase()),
    h("code", { class: "docs-path" }, operation.path));
  const props = { class: "card docs-operation", data: { testid: "docs-operation" }, "aria-labelledby": operation.id };
  return h("article", props, title,
    operation.summary && h("p", { class: "docs-summary" }, operation.summary),
    ...prose(operation.description),
    table("Parameters", parameterRows(operation, root), true),
    operation.body && table("Request", operation.body.fields, true),
    operation.body && codeBlock("Example", pretty(operation.body.example)),
    codeBlock("From a shell", curl(operation, root)),
    ...operation.answers.flatMap((answer) => answerBlocks(answer, root)),
    errorsLine(operation),
    tryIt(operation, root));
}

function navGroup(name, operations) {
  const links = operations.map((one) => h("li", {}, h("a", { href: `#${one.id}` },
    h("span", { class: "docs-method", data: { method: one.method } }, one.method.toUpperCase()), " ", one.path)));
  return h("div", {}, h("h2", {}, name), h("ul", {}, ...links));
}

/** The example of a body, with the id of an existing model wherever one is asked for. */
function withExample(operation, model) {
  if (!operation.body) return operation;
  const example = { ...operation.body.example, ...EXAMPLES[operation.path] };
  for (const { name } of operation.body.fields) if (model && ["model", "other"].includes(name)) example[name] = model;
  return { ...operation, body: { ...operation.body, example } };
}

function draw(root, model) {
  const groups = grouped(operationsOf(root).map((one) => withExample(one, model)));
  about.replaceChildren(...prose(root.info?.description || "The page uses the same API."));
  nav.replaceChildren(...[...groups].map(([name, operations]) => navGroup(name, operations)));
  main.replaceChildren(...[...groups].flatMap(([name, operations]) => [
    h("h2", { class: "docs-group" }, name), ...operations.map((one) => section(one, root)),
  ]));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function grouped(operations) {
  const groups = new Map();
  for (const one of operations) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return groups;
}

async function load() {
  try {
    const answer = await fetch("/openapi.json");
    if (!answer.ok) throw new Error(`openapi.json: ${answer.status}`);
    const models = await fetch("/api/models").then((list) => list.json());
    draw(await answer.json(), models.default);
  } catch (error) {
    const again = h("button", { class: "button", type: "button", onclick: load }, "Try again");
    about.textContent = "";
    const words = h("p", {}, `The description could not be read (${error.message}).`);
    main.replaceChildren(h("div", { class: "banner", role: "alert" }, words, again));
  }
}

load();
