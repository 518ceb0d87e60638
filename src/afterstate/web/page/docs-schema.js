// Turns an OpenAPI description of a body into rows of a table and an example.

const DEEPEST = 5;

/** The schema that a $ref points to, or the schema itself. */
export function resolve(schema, root) {
  let found = schema ?? {};
  for (let hops = 0; found.$ref && hops < 20; hops++) {
    const steps = found.$ref.replace(/^#\//, "").split("/");
    const target = steps.reduce((at, step) => at?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root) ?? {};
    const { $ref: _, ...beside } = found;
    found = { ...target, ...beside };
  }
  return found.allOf?.length === 1 ? { ...resolve(found.allOf[0], root), ...found, allOf: undefined } : found;
}

function variants(schema, root) {
  return (schema.anyOf ?? schema.oneOf ?? []).map((one) => resolve(one, root));
}

/** The main variant of a schema: "a number or null" -> the number. */
function main(schema, root) {
  const resolved = resolve(schema, root);
  const first = variants(resolved, root).find((one) => one.type !== "null");
  return first ? { ...first, ...resolved, type: first.type, anyOf: undefined, oneOf: undefined } : resolved;
}

/** A type in words: "integer", "text or null", "list of numbers". */
export function typeOf(schema, root) {
  const resolved = resolve(schema, root);
  const many = variants(resolved, root);
  if (many.length) return [...new Set(many.map((one) => typeOf(one, root)))].join(" or ");
  if (Array.isArray(resolved.type)) {
    return resolved.type.map((type) => typeOf({ ...resolved, type }, root)).join(" or ");
  }
  if (resolved.const !== undefined) return JSON.stringify(resolved.const);
  if (resolved.type === "array") return resolved.items ? `list of ${plural(typeOf(resolved.items, root))}` : "list";
  if (resolved.type === "object" || resolved.properties) return "object";
  return { string: "text", boolean: "true or false" }[resolved.type] ?? resolved.type ?? "anything";
}

function plural(type) {
  return ["text", "integer", "number", "object"].includes(type) ? `${type}s` : type;
}

/** Limits in words: "0 to 100", "at most 64 characters", "one of up, right". */
export function limitsOf(schema, root) {
  const resolved = resolve(schema, root);
  const parts = [resolved, ...variants(resolved, root)].flatMap((one) => limitsOfOne(one));
  const usual = resolved.default ?? null;
  if (usual !== null) parts.push(`default ${JSON.stringify(usual)}`);
  return [...new Set(parts)].join("; ");
}

function limitsOfOne(schema) {
  const said = [];
  const { minimum: low, maximum: high, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  if (schema.enum) said.push(`one of ${schema.enum.filter((one) => one !== null).join(", ")}`);
  if (low !== undefined && high !== undefined) said.push(`${low} to ${high}`);
  else if (low !== undefined) said.push(`at least ${low}`);
  else if (high !== undefined) said.push(`at most ${high}`);
  if (above !== undefined) said.push(`more than ${above}`);
  if (below !== undefined) said.push(`less than ${below}`);
  said.push(...sizes(schema.minLength, schema.maxLength, "character"));
  said.push(...sizes(schema.minItems, schema.maxItems, "item"));
  if (schema.pattern) said.push(`matches ${schema.pattern}`);
  return said;
}

function sizes(low, high, thing) {
  const name = (count) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
  if (low && low === high) return [name(low)];
  if (low && high !== undefined) return [`${low} to ${name(high)}`];
  if (high !== undefined) return [`at most ${name(high)}`];
  return low ? [`at least ${name(low)}`] : [];
}

/** Rows {name, type, required, limits, meaning} for a body, nested fields as `line[].slide`. */
export function fieldsOf(schema, root, prefix = "", depth = 0) {
  const body = main(schema, root);
  if (body.type === "array" && body.items) return fieldsOf(body.items, root, `${prefix}[]`, depth);
  const required = new Set(body.required ?? []);
  return Object.entries(body.properties ?? {}).flatMap(([name, field]) => {
    const whole = resolve(field, root);
    const full = prefix ? `${prefix}.${name}` : name;
    const row = {
      name: full, type: typeOf(field, root), required: required.has(name), limits: limitsOf(field, root),
      meaning: whole.description ?? "",
    };
    return depth < DEEPEST ? [row, ...fieldsOf(field, root, full, depth + 1)] : [row];
  });
}

/** An example of a body: the given one, or one made from types and defaults. */
export function exampleOf(schema, root, depth = 0) {
  const body = main(schema, root);
  const given = body.example ?? body.examples?.[0] ?? body.const ?? body.default;
  if (given !== undefined && given !== null) return given;
  if (body.enum) return body.enum[0];
  if (body.type === "array") return depth < DEEPEST && body.items ? [exampleOf(body.items, root, depth + 1)] : [];
  if (body.properties && depth < DEEPEST) {
    const wanted = Object.keys(body.properties).filter((name) => (body.required ?? []).includes(name));
    return Object.fromEntries(wanted.map((name) => [name, exampleOf(body.properties[name], root, depth + 1)]));
  }
  const least = body.minimum ?? 0;
  return { integer: least, number: least, string: "", boolean: false, object: {} }[body.type] ?? null;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

/** All operations of a description, in its order, each with its parameters, body and answers. */
export function operationsOf(root) {
  return Object.entries(root.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => operation(root, path, method, item))
  );
}

function operation(root, path, method, item) {
  const told = item[method];
  const body = resolve(told.requestBody, root).content?.["application/json"];
  const answers = Object.entries(told.responses ?? {}).map(([status, answer]) => {
    const resolved = resolve(answer, root);
    return { status, description: resolved.description ?? "", ...resolved.content?.["application/json"] };
  });
  return {
    method, path, id: `${method}${path.replace(/[^a-z0-9]+/gi, "-")}`.replace(/-$/, ""),
    group: told.tags?.[0] ?? "Other", summary: told.summary ?? "", description: told.description ?? "",
    parameters: [...(item.parameters ?? []), ...(told.parameters ?? [])].map((one) => resolve(one, root)),
    body: body && { fields: fieldsOf(body.schema, root), example: bodyExample(body, root) }, answers,
  };
}

function bodyExample(body, root) {
  const named = Object.values(body.examples ?? {})[0];
  return body.example ?? (named && resolve(named, root).value) ?? exampleOf(body.schema, root);
}
