import { INDEX_ANNOUNCED_MAX } from "../../domain/limits.ts";

interface Announcement {
  readonly versions: readonly string[];
  /** In milliseconds of `performance.now()`. */
  readonly at: number;
}

/**
 * Stored file versions that a scope may hold soon, in the order in which they were announced. Beyond
 * INDEX_ANNOUNCED_MAX versions announcements are dropped, which only costs time: a version that was
 * not announced is indexed together with its scope.
 */
export class AnnouncedVersions {
  #announcements: Announcement[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How long the oldest version has waited, in milliseconds; 0 when none waits. */
  get waitingMs(): number {
    const [oldest] = this.#announcements;
    return oldest === undefined ? 0 : performance.now() - oldest.at;
  }

  add(versions: readonly string[]): void {
    if (versions.length === 0 || this.#size + versions.length > INDEX_ANNOUNCED_MAX) return;
    this.#announcements.push({ versions, at: performance.now() });
    this.#size += versions.length;
  }

  /** Removes and returns the oldest versions, at most `count` of them. */
  take(count: number): string[] {
    const taken: string[] = [];
    while (taken.length < count) {
      const [oldest] = this.#announcements;
      if (oldest === undefined) break;
      const { versions, at } = oldest;
      const missing = count - taken.length;
      taken.push(...versions.slice(0, missing));
      if (versions.length <= missing) this.#announcements.shift();
      else this.#announcements[0] = { versions: versions.slice(missing), at };
    }
    this.#size -= taken.length;
    return taken;
  }
}
