const SEEDS = [0x7e55e2an, 0x5ea2c4n] as const;

function hash(bytes: Uint8Array, text: string): string {
  return SEEDS.map((seed) => Bun.hash.wyhash(text, Bun.hash.wyhash(bytes, seed)).toString(36)).join(
    "-",
  );
}

/**
 * Names the answer to a query of a frozen release: the same query of the same release has the same
 * results for ever. It is made from the request alone, so every node names it alike.
 */
export function etagOf(scopeId: string, selfPath: string, bytes: Uint8Array): string {
  return `"${hash(bytes, `${scopeId} ${selfPath}`)}"`;
}

/** True when an If-None-Match header names the tag. `*` names nothing that a body could change. */
export function matches(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(",").some((part) => part.trim().replace(/^W\//, "") === etag);
}
