/** Searches by the values of which tests vary one or two. */
import * as native from "../../native/index.ts";
import type { OwnedBytes } from "../../native/owned-bytes.ts";

export function searchJson(
  project: string,
  scope: string,
  body: Uint8Array | ArrayBuffer,
  selfPath: string,
  report?: native.SearchReport,
  exact?: boolean,
): native.SearchOutcome {
  const query = { project, scope, body, selfPath, ...(exact === undefined ? {} : { exact }) };
  return native.search(query, report);
}

export function searchVector(
  project: string,
  scope: string,
  body: Float32Array | Uint8Array,
  dimension: number,
  limit: number,
  threshold: number,
  selfPath: string,
  report?: native.SearchReport,
  exact = false,
): Exclude<native.SearchOutcome, native.SearchFaults> {
  const query = { project, scope, body, dimension, limit, threshold, selfPath, exact };
  return native.search(query, report) as OwnedBytes | typeof native.NOT_LOADED;
}
