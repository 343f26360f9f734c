import { base64Of } from "../../src/domain/vector.ts";
import type { Caller, TestApi } from "../../support/api/api.ts";
import { cosineOf, type TestChunk } from "../../support/api/versions.ts";

/** What a search must find, computed by brute force. */
export function nearest(
  list: readonly TestChunk[],
  query: Float32Array,
  limit = 10,
  threshold = 0.7,
) {
  return list
    .map(({ id, vector }) => ({ id, score: cosineOf(vector, query) }))
    .filter(({ score }) => score >= threshold)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** The same search in each form of a body, with parameters of its own. */
export function searchForms(
  api: TestApi,
  as: Caller,
  path: string,
  query: Float32Array<ArrayBuffer>,
  more: Readonly<Record<string, number>> = {},
) {
  const options = { dimension: query.length, ...more };
  const binary = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  const numbers = JSON.stringify({ vector: Array.from(query), ...options });
  const json =
    (body: string, type = "application/json") =>
    (parameters: string) =>
      api.send("POST", parameters === "" ? path : `${path}?${parameters}`, {
        as,
        body,
        headers: { "content-type": type },
      });
  return [
    json(numbers),
    json(JSON.stringify({ vector: base64Of(query), ...options })),
    // A name may have escapes.
    json(numbers.replace('"vector"', '"\\u0076ector"'), "application/vnd.api+json; charset=utf-8"),
    (parameters: string) =>
      api.send("POST", `${path}?${binary.concat(parameters || []).join("&")}`, {
        as,
        body: new Uint8Array(query.buffer),
        headers: { "content-type": "application/octet-stream" },
      }),
  ];
}
