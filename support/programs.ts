/** Programs that tests start and that come with neither npm nor Bun. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findRuntime } from "../src/embed/models/runtime.ts";

/** Where Debian keeps PostgreSQL, off the PATH, in a folder per version. */
const DEBIAN_POSTGRES = "/usr/lib/postgresql";
/**
 * Runs a command as the account of Debian's package, because PostgreSQL refuses to run as root. A short PATH lacks the
 * programs of administrators.
 */
export const AS_POSTGRES =
  process.getuid?.() === 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : [];
/** What tests use of PostgreSQL; the embedded one has no pg_dump. */
const POSTGRES_PROGRAMS = ["initdb", "pg_ctl", "pg_dump", "pg_restore", "createdb"];

interface Program {
  /** The packages that contain it, of Debian and of Homebrew. What a command of Tessera installs is in none. */
  readonly debian?: string;
  readonly homebrew?: string;
  readonly command?: string;
  /** Its path; null if it is not installed. */
  readonly find: () => string | null;
}

/** Debian keeps servers off the PATH of ordinary users. */
const server = (name: string) => (): string | null => {
  const path = `/usr/sbin/${name}`;
  return Bun.which(name) ?? (existsSync(path) ? path : null);
};

const PROGRAMS = {
  chromium: {
    debian: "chromium",
    homebrew: "chromium",
    find: () => Bun.which("chromium") ?? Bun.which("google-chrome"),
  },
  nginx: { debian: "nginx-light", homebrew: "nginx", find: server("nginx") },
  haproxy: { debian: "haproxy", homebrew: "haproxy", find: server("haproxy") },
  wrk: { debian: "wrk", homebrew: "wrk", find: () => Bun.which("wrk") },
  "redis-server": {
    debian: "redis-server",
    homebrew: "redis",
    find: () => Bun.which("redis-server"),
  },
  strace: { debian: "strace", homebrew: "strace", find: () => Bun.which("strace") },
  pg_dump: { debian: "postgresql", homebrew: "postgresql", find: pgDump },
  // In the folder of this clone, where every data folder finds it.
  onnxruntime: { command: "./tessera models install", find: () => findRuntime("") ?? null },
} as const satisfies Record<string, Program>;

/** A program by its name. */
export type ProgramName = keyof typeof PROGRAMS;

export const PROGRAM_NAMES = Object.keys(PROGRAMS) as ProgramName[];

/** Debian's newest, or the one on the PATH, with a server: the tools of an older version refuse a newer server. */
function pgDump(): string | null {
  const versions = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES) : [];
  const numbers = versions.map(Number).filter(Boolean);
  const onPath = Bun.which("initdb");
  const folders = [
    ...numbers.sort((a, b) => b - a).map((version) => join(DEBIAN_POSTGRES, `${version}`, "bin")),
    ...(onPath === null ? [] : [dirname(onPath)]),
  ];
  const isWhole = (folder: string) =>
    POSTGRES_PROGRAMS.every((name) => existsSync(join(folder, name)));
  const folder = folders.find(isWhole);
  return folder === undefined ? null : join(folder, "pg_dump");
}

/** True where a program that is missing is a failure. */
export const isRequired = (): boolean => !["", undefined, "0", "false"].includes(process.env["CI"]);

/** Those programs that are not installed. */
export function missingPrograms(wanted: readonly ProgramName[]): ProgramName[] {
  return wanted.filter((name) => PROGRAMS[name].find() === null);
}

/** The programs that the tests in these files start. */
export function programsOf(files: readonly string[]): ProgramName[] {
  const texts = files.map((file) => readFileSync(file, "utf8"));
  const named = new Set(texts.flatMap((text) => [...needsOf(text), ...lacksOf(text)]));
  return PROGRAM_NAMES.filter((name) => named.has(name));
}

/** The packages that contain these programs. */
export function packagesOf(names: readonly ProgramName[]): string[] {
  return names.flatMap((name) => (PROGRAMS[name] as Program).debian ?? []);
}

/** The command that installs a program. */
export function remedyOf(name: ProgramName): string {
  const { debian, homebrew, command } = PROGRAMS[name] as Program;
  if (command !== undefined) return command;
  return `Debian: apt-get install ${debian}, macOS: brew install ${homebrew}`;
}

/** The path of an installed program. The files of tests that start it say so with `needs` or `lacks`. */
export function programPath(name: ProgramName): string {
  const path = PROGRAMS[name].find();
  if (path === null) throw new Error(`${name} is missing: install it (${remedyOf(name)})`);
  return path;
}

/**
 * Says that all tests of a file need programs: without them the test command skips the file, which is read, not
 * run, for that, and running it alone fails. So this is a statement of its own, with the names as literals.
 */
export function needs(...names: ProgramName[]): void {
  for (const name of names) programPath(name);
}

/** What the argument of `needs` in the text of a test file says. */
export function needsOf(text: string): string[] {
  return argumentsOf(text, /^needs\(([^)]*)\);$/gm);
}

/** The programs that single tests of a file need, by its text. */
export function lacksOf(text: string): string[] {
  return argumentsOf(text, /\blacks\(([^)]*)\)/g);
}

function argumentsOf(text: string, call: RegExp): string[] {
  return [...text.matchAll(call)].flatMap(([, list = ""]) =>
    [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name as string),
  );
}

/**
 * Whether a program is missing, for tests that are skipped then. The reason goes to standard error, which the
 * test command shows when a test was skipped. In continuous integration they run, and fail.
 */
export function lacks(...names: ProgramName[]): boolean {
  const missing = isRequired() ? [] : names.filter((name) => PROGRAMS[name].find() === null);
  for (const name of missing) {
    process.stderr.write(`tests are skipped because ${name} is missing (${remedyOf(name)})\n`);
  }
  return missing.length > 0;
}

/** Throws where missing programs are a failure, and names those of them that are wanted. */
export function requirePrograms(wanted: readonly ProgramName[]): void {
  const missing = isRequired() ? missingPrograms(wanted) : [];
  if (missing.length === 0) return;
  const remedies = missing.map((name) => `  ${name}: ${remedyOf(name)}`);
  throw new Error(`programs are missing, install them:\n${remedies.join("\n")}`);
}
