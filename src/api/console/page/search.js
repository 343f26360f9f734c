import { call, listProjects, projectPath } from "./api.js";
import { element, failure, field, onSubmit, suggesting } from "./dom.js";
import { chunkItem, hitItem, lookupItem, timingOf } from "./results.js";
import { parseVector } from "./vector.js";

const MODES = { text: "Text", vector: "Vector", chunks: "Browse chunks" };

/**
 * Search by text and by vector, and the chunks of a project.
 *
 * @param {HTMLElement} place
 * @param {{ argument: string }} view
 */
export async function showSearch(place, { argument }) {
  const inputs = inputsOf(argument);
  const status = element("p", { class: "muted", role: "status" });
  const list = element("ol", { class: "results" });
  const more = element("div");
  const output = { status, list, more };
  const form = formOf(inputs);
  onSubmit(form, async () => {
    clear(output);
    const run = { text: searchText, vector: searchVector, chunks: browse }[inputs.mode.value];
    await run?.(inputs, output);
  });
  place.append(form, status, list, more);
  await suggestNames(inputs, argument);
}

/** @param {any} output */
function clear({ status, list, more }) {
  status.replaceChildren();
  list.replaceChildren();
  more.replaceChildren();
}

/** @param {string} slug */
function inputsOf(slug) {
  const option = (/** @type {[string, string]} */ [value, label]) =>
    element("option", { value }, label);
  return {
    project: suggesting("project", { required: true, value: slug }),
    kind: element(
      "select",
      {},
      option(["environment", "Environment"]),
      option(["release", "Release"]),
    ),
    name: suggesting("scope", { required: true, value: "production" }),
    mode: element("select", {}, ...Object.entries(MODES).map(option)),
    query: element("input", { type: "search", autocomplete: "off" }),
    vector: element("textarea", { spellcheck: "false", placeholder: "[0.1, 0.2, ...] or base64" }),
    limit: element("input", { type: "number", min: 1, max: 50, value: 10 }),
    threshold: element("input", { type: "number", min: 0, max: 1, step: "any", value: 0 }),
    exact: element("input", { type: "checkbox" }),
  };
}

/** @param {ReturnType<typeof inputsOf>} inputs */
function formOf({ project, kind, name, mode, query, vector, limit, threshold, exact }) {
  const text = field("Query", query);
  const pasted = field("Vector", vector);
  const options = element(
    "div",
    { class: "fields" },
    field("Threshold", threshold),
    element("label", { class: "check" }, exact, "Exact"),
  );
  const adapt = () => {
    text.hidden = mode.value !== "text";
    pasted.hidden = mode.value !== "vector";
    options.hidden = mode.value === "text";
  };
  mode.addEventListener("change", adapt);
  adapt();
  const scope = [field("Project", project.input), field("In", kind), field("Name", name.input)];
  const what = [field("Search by", mode), field("Results", limit)];
  return element(
    "form",
    { class: "card" },
    element("div", { class: "fields" }, ...scope, ...what, project.list, name.list),
    text,
    pasted,
    options,
    element("p", {}, element("button", { class: "primary" }, "Search")),
  );
}

/** Fills in the names that the caller may read. @param {any} inputs @param {string} slug */
async function suggestNames({ project, kind, name }, slug) {
  const projects = await listProjects();
  project.suggest(projects.map((each) => each.slug));
  if (slug === "" && projects.length > 0) project.input.value = projects[0].slug;
  const names = () => {
    const chosen = projects.find((each) => each.slug === project.input.value);
    const list = (kind.value === "release" ? chosen?.releases : chosen?.environments) ?? [];
    const known = list.map((/** @type {any} */ each) => each.name);
    name.suggest(known);
    if (known.length > 0 && !known.includes(name.input.value)) name.input.value = known[0];
  };
  kind.addEventListener("change", names);
  project.input.addEventListener("change", names);
  names();
}

/**
 * Finds passages by meaning and by words; without a query lists the files.
 *
 * @param {any} inputs
 * @param {any} output
 * @param {string} [cursor]
 */
async function searchText(inputs, output, cursor) {
  const { project, kind, name, query, limit } = inputs;
  const text = query.value.trim();
  const target = { [kind.value]: name.input.value };
  const question = text === "" ? { lookup_target: target } : { query: text, target };
  const operation = text === "" ? ["knowledge", "lookup"] : ["retrieve"];
  const { body, headers, ms } = await call(projectPath(project.input.value, ...operation), {
    method: "POST",
    body: {
      ...question,
      ...(cursor === undefined ? {} : { cursor }),
      limit: Number(limit.value),
    },
  });
  const similar = (/** @type {any} */ chunk) => searchLike(inputs, output, chunk);
  const item = (/** @type {any} */ hit) => hitItem(hit, similar);
  output.list.append(...body.data.map(text === "" ? lookupItem : item));
  const shown = output.list.children.length;
  const mode = headers.get("x-retrieval");
  const bound = mode === null || mode === "keyword" ? "" : "at least ";
  const how =
    mode === null ? "" : `, found by ${mode === "keyword" ? "words" : "meaning and words"}`;
  output.status.textContent = `${shown} of ${bound}${body.total_matches} matches${how}, ${ms.toFixed(1)} ms`;
  const { next } = body.page_info;
  const load = () => searchText(inputs, output, next);
  output.more.replaceChildren(...(next === null ? [] : [moreButton(output, load)]));
}

/** @param {any} inputs @param {any} output */
async function searchVector(inputs, output) {
  await searchWith(inputs, output, parseVector(inputs.vector.value));
}

/**
 * @param {any} inputs
 * @param {any} output
 * @param {{ vector: number[] | string, dimension: number }} query
 */
async function searchWith(inputs, output, query) {
  const { project, kind, name, limit, threshold, exact } = inputs;
  const scope = [`${kind.value}s`, name.input.value];
  const path = projectPath(project.input.value, ...scope, "search");
  const { body, headers, ms } = await call(exact.checked ? `${path}?effort=exact` : path, {
    method: "POST",
    body: { ...query, limit: Number(limit.value), threshold: Number(threshold.value) },
  });
  const similar = (/** @type {any} */ chunk) => searchLike(inputs, output, chunk);
  output.list.append(
    ...body.data.map((/** @type {any} */ found) => chunkItem(found.chunk, found.score, similar)),
  );
  const bound = headers.get("x-total-matches") === "exact" ? "" : "at least ";
  const matches = `${body.data.length} results of ${bound}${body.total_matches} matches`;
  output.status.textContent = `${matches}, ${timingOf(headers)}, ${ms.toFixed(1)} ms in all`;
}

/** Searches by the embedding of a chunk. @param {any} inputs @param {any} output @param {any} chunk */
async function searchLike(inputs, output, chunk) {
  clear(output);
  try {
    const path = projectPath(inputs.project.input.value, "chunks", chunk.id, "embedding");
    const { vector, dimension } = (await call(path)).body;
    await searchWith(inputs, output, { vector, dimension });
    const file = `${chunk.file_path}, chunk ${chunk.index}`;
    output.status.textContent = `Similar to ${file}: ${output.status.textContent}`;
  } catch (error) {
    output.more.replaceChildren(failure(error));
  }
}

/** @param {any} inputs @param {any} output @param {string} [link] */
async function browse(inputs, output, link) {
  const first = `${projectPath(inputs.project.input.value, "chunks")}?limit=${inputs.limit.value}`;
  const { body, ms } = await call(link ?? first);
  const similar = (/** @type {any} */ chunk) => searchLike(inputs, output, chunk);
  output.list.append(
    ...body.data.map((/** @type {any} */ chunk) => chunkItem(chunk, undefined, similar)),
  );
  output.status.textContent = `${output.list.children.length} chunks of the project, ${ms.toFixed(1)} ms`;
  const { next } = body.page_info;
  const load = () => browse(inputs, output, next);
  output.more.replaceChildren(...(next === null ? [] : [moreButton(output, load)]));
}

/** @param {any} output @param {() => Promise<void>} load */
function moreButton({ more }, load) {
  const onclick = async () => {
    try {
      await load();
    } catch (error) {
      more.replaceChildren(failure(error));
    }
  };
  return element("button", { type: "button", onclick }, "More");
}
