import { isUuid } from "../../shared/formats.ts";

/** The namespace of definitions whose ids are not UUIDs. It must never change. */
const NAMESPACE = "7c0f5ec3-9d5b-4f0c-8f0e-3a1d8b6e2c54";

/**
 * The UUID of a webhook definition in results: its id if that is a UUID, otherwise the UUIDv5 of
 * the id. The same id always has the same UUID.
 */
export function definitionUuid(id: string): string {
  return isUuid(id) ? id.toLowerCase() : Bun.randomUUIDv5(id, NAMESPACE);
}
