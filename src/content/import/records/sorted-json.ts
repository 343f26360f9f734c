import { isWrittenNumber } from "../../../domain/json/parse.ts";

/**
 * JSON with sorted keys, so that equal values give equal text. Derived ids and fingerprints depend
 * on this text. It differs from canonicalJson, which normalises the digits of numbers as well.
 */
export function sortedJson(value: unknown): string {
  if (typeof value !== "object" || value === null || isWrittenNumber(value))
    return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${sortedJson(item)}`).join(",")}}`;
}
