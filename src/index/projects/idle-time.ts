/** The time since its last use counts at least by this share, so every project is idle after a minute. */
const INDEX_IDLE_SHARE_MIN = 1 / 12;

/** The properties of a project in memory that decide its eviction. */
interface Occupant {
  /** Who holds it. */
  readonly tenant: string;
  readonly bytes: number;
  /** When it was used last, in milliseconds. */
  readonly usedAt: number;
}

/**
 * Orders projects by the time for which they count as idle, in milliseconds, the longest first. The time counts in full
 * for the tenant with the most memory, and for others in proportion to their memory, but at least by
 * INDEX_IDLE_SHARE_MIN. So a tenant with more projects than fit into memory evicts mostly their own, and the
 * protection of a project ends after an idle minute.
 */
export function byIdleTime<T extends Occupant>(
  occupants: readonly T[],
  now: number,
): Array<T & { readonly idleMs: number }> {
  const held = new Map<string, number>();
  for (const { tenant, bytes } of occupants) held.set(tenant, (held.get(tenant) ?? 0) + bytes);
  const most = Math.max(1, ...held.values());
  return occupants
    .map((occupant) => {
      const share = Math.max(INDEX_IDLE_SHARE_MIN, (held.get(occupant.tenant) as number) / most);
      return { ...occupant, idleMs: (now - occupant.usedAt) * share };
    })
    .sort((a, b) => b.idleMs - a.idleMs);
}
