import { createHash } from "node:crypto";
import { isUuid } from "../shared/formats.ts";

/** The namespace of definitions whose ids are no UUIDs. It must never change. */
const NAMESPACE = "7c0f5ec3-9d5b-4f0c-8f0e-3a1d8b6e2c54";

function uuidV5(namespace: string, name: string): string {
  const hash = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest();
  // The version and the variant have their places in the bits.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString("hex");
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, at) => hex.slice(cuts[at], end))
    .join("-");
}

/**
 * The UUID by which results name a webhook definition: its id where that is one, else a UUID
 * derived from the id, the same for ever and everywhere.
 */
export function definitionUuid(id: string): string {
  return isUuid(id) ? id.toLowerCase() : uuidV5(NAMESPACE, id);
}
