import { Problem } from "../../domain/problem/problem.ts";
import { COMPRESSIONS, type Encoding } from "../../ops/compression/decompressed.ts";

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map<string, Encoding>([
  ...["", "identity"].map((name) => [name, "identity"] as const),
  ...COMPRESSIONS.map((name) => [name, name] as const),
  ["x-gzip", "gzip"],
]);

/** How the body of a request is compressed. Throws `unsupported-media-type` for an unknown encoding. */
export function encodingOf({ headers }: Request): Encoding {
  const name = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const encoding = ENCODINGS.get(name);
  if (encoding !== undefined) return encoding;
  const accepted = [...COMPRESSIONS, "identity"].join(", ");
  throw new Problem("unsupported-media-type", {
    detail: `The body must have one of these content encodings: ${accepted}.`,
    headers: { "accept-encoding": accepted },
  });
}
