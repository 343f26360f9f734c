import { element } from "./dom.js";

const SCORE_DIGITS = 4;

/** An item of a lookup. @param {any} item */
export function lookupItem({ path, title, snippet, score, matched_fields: fields }) {
  const facts = [
    score === undefined ? null : `score ${score.toFixed(SCORE_DIGITS)}`,
    fields.length === 0 ? null : `in ${fields.join(", ")}`,
  ];
  return element(
    "li",
    { class: "card" },
    element("h3", {}, title ?? path),
    element("p", { class: "muted" }, element("code", {}, path)),
    snippet === undefined ? null : element("p", {}, ...marked(snippet)),
    element("p", { class: "muted" }, facts.filter((fact) => fact !== null).join("; ")),
  );
}

/**
 * A hit of a retrieval: a chunk, or a file without chunks.
 *
 * @param {any} hit
 * @param {(chunk: any) => void} similar
 */
export function hitItem(
  { chunk, file, highlight, title, heading, score, match_type: type, scores },
  similar,
) {
  const path = chunk?.file_path ?? file.path;
  const place = heading && heading !== title ? `${title}: ${heading}` : title;
  const onclick = () => similar(chunk);
  const label = `Chunks similar to ${path}, chunk ${chunk?.index}`;
  return element(
    "li",
    { class: "card" },
    element("h3", {}, place ?? path),
    element("p", { class: "muted" }, element("code", {}, path)),
    element("p", {}, ...marked(highlight)),
    element("p", { class: "muted" }, `score ${score.toFixed(SCORE_DIGITS)}, ${type}`),
    scores.semantic === null
      ? null
      : element("button", { type: "button", "aria-label": label, onclick }, "Similar chunks"),
  );
}

/**
 * The text of a snippet in pieces, its matches marked by their offsets.
 *
 * @param {{ text: string, matches: [number, number][] }} snippet
 */
function marked({ text, matches }) {
  const pieces = [];
  let from = 0;
  for (const [start, end] of matches) {
    pieces.push(text.slice(from, start), element("mark", {}, text.slice(start, end)));
    from = end;
  }
  return [...pieces, text.slice(from)];
}

/**
 * A chunk, found by a search or listed.
 *
 * @param {any} chunk
 * @param {number | undefined} score
 * @param {(chunk: any) => void} similar
 */
export function chunkItem(chunk, score, similar) {
  const label = `Chunks similar to ${chunk.file_path}, chunk ${chunk.index}`;
  const onclick = () => similar(chunk);
  return element(
    "li",
    { class: "card" },
    element("h3", {}, chunk.file_path),
    element(
      "p",
      { class: "muted" },
      score === undefined ? null : `score ${score.toFixed(SCORE_DIGITS)}; `,
      `chunk ${chunk.index}, ${chunk.token_count} tokens`,
    ),
    element("pre", {}, chunk.content),
    element("button", { type: "button", "aria-label": label, onclick }, "Similar chunks"),
  );
}

/** The plan of a search and the milliseconds of its stages. @param {Headers} headers */
export function timingOf(headers) {
  const stages = (headers.get("server-timing") ?? "").matchAll(/(\w+);dur=([\d.]+)/g);
  const times = [...stages].map(([, stage, ms]) => `${stage} ${ms} ms`);
  return [`plan ${headers.get("x-search-plan") ?? "unknown"}`, ...times].join(", ");
}
