import { readFileSync } from "node:fs";

/**
 * What anonymous memory is for, as far as the mappings of a process tell:
 * - scripts: the heaps of all JavaScript threads, their buffers, and text segments
 * - code: compiled JavaScript
 * - arenas: the C library's heaps, with the allocations of native code
 * - columns: native columns that are not in a mapped file, large native allocations, and stacks
 */
export const MEMORY_KINDS = ["scripts", "code", "arenas", "columns"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

const MIB = 2 ** 20;
const KIB_PER_MIB = 1_024;
/** The C library reserves this much for an arena, which begins at a multiple of it. */
const ARENA_BYTES = 64 * MIB;
/** JavaScriptCore and its allocator reserve address space in much larger pieces than anything else. */
const RESERVATION_MIN_BYTES = 512 * MIB;

interface Mapping {
  readonly start: number;
  readonly end: number;
  readonly rights: string;
  readonly name: string;
  /** In MiB. */
  anonymous: number;
}

function mappingsOf(pid: number): Mapping[] {
  const mappings: Mapping[] = [];
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const head = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)$/.exec(line);
    if (head !== null) {
      const [, start = "", end = "", rights = "", name = ""] = head;
      const [from, to] = [Number.parseInt(start, 16), Number.parseInt(end, 16)];
      mappings.push({ start: from, end: to, rights, name, anonymous: 0 });
    } else if (line.startsWith("Anonymous:")) {
      const last = mappings.at(-1);
      if (last !== undefined) last.anonymous = Number(line.split(/\s+/)[1]) / KIB_PER_MIB;
    }
  }
  return mappings;
}

function kindOf({ start, end, rights, name }: Mapping, next: Mapping | undefined): MemoryKind {
  if (rights.includes("x")) return "code";
  if (name === "[heap]") return "arenas";
  if (end - start >= RESERVATION_MIN_BYTES) return "scripts";
  const isWhole = end - start === ARENA_BYTES;
  const isGrown = next?.start === end && next.rights.startsWith("---");
  const arenaEnd = isGrown ? next.end : end;
  if (start % ARENA_BYTES === 0 && (isWhole || arenaEnd - start === ARENA_BYTES)) return "arenas";
  return "columns";
}

/** The resident anonymous memory of a process by kind, in MiB. */
export function memoryByKind(pid: number): Record<MemoryKind, number> {
  const sums = { scripts: 0, code: 0, arenas: 0, columns: 0 };
  const mappings = mappingsOf(pid);
  mappings.forEach((mapping, at) => {
    sums[kindOf(mapping, mappings[at + 1])] += mapping.anonymous;
  });
  return sums;
}
