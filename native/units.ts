/** The sources of the addon: C++ files below `native/src`, and how they are grouped. */
import { readdirSync, readFileSync } from "node:fs";
import { join, parse } from "node:path";

export const sources = join(import.meta.dir, "src");

/** Sources that are compiled as one translation unit. */
export interface Unit {
  name: string;
  /** Relative to `native/src`, to the sources of a package, or to `vendor`. */
  files: readonly string[];
  /** Macros, each with its value. */
  defines?: readonly string[];
  /** The language; C++ by default. */
  language?: "c";
  /** Instruction set extensions that the compiler may use. */
  extensions: readonly string[];
}

export const AVX2 = ["avx2", "fma", "popcnt", "bmi"];
export const AVX512 = [...AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vpopcntdq"];

/** Files with these suffixes are for one architecture and are compiled alone, with its extensions. */
const INSTRUCTION_SETS: Readonly<
  Record<string, { arch: NodeJS.Architecture; extensions: readonly string[] }>
> = {
  _avx512: { arch: "x64", extensions: AVX512 },
  _avx2: { arch: "x64", extensions: AVX2 },
  _neon: { arch: "arm64", extensions: [] },
};

/**
 * Folders below `native/src` that are one unit each. They share most of their headers and templates, which
 * take most of the time to compile. So few units are cheap, and two of about the same size use two
 * cores. A folder that is not listed is a unit of its own. "" is `native/src` itself.
 */
const FOLDER_GROUPS: readonly (readonly string[])[] = [
  ["", "binding", "testing", "common", "storage", "project", "snapshot"],
  [
    "codes",
    "graph",
    "index",
    "search",
    "json",
    "text/segment",
    "text/query",
    "text/page",
    "retrieval",
  ],
];

/** zstd of the package zstd-napi, as one unit in C, in the order of its own amalgamation. */
const ZSTD_FILES = [
  "common/debug.c",
  "common/entropy_common.c",
  "common/error_private.c",
  "common/fse_decompress.c",
  "common/zstd_common.c",
  "compress/fse_compress.c",
  "compress/hist.c",
  "compress/huf_compress.c",
  "compress/zstd_compress_literals.c",
  "compress/zstd_compress_sequences.c",
  "compress/zstd_compress_superblock.c",
  "compress/zstd_preSplit.c",
  "compress/zstd_compress.c",
  "compress/zstd_double_fast.c",
  "compress/zstd_fast.c",
  "compress/zstd_lazy.c",
  "compress/zstd_ldm.c",
  "compress/zstd_opt.c",
  "decompress/huf_decompress.c",
  "decompress/zstd_ddict.c",
  "decompress/zstd_decompress.c",
  "decompress/zstd_decompress_block.c",
];
/** The addon compresses at level 1, so it needs none of the slower strategies. */
const ZSTD_STRATEGIES_LEFT_OUT = [
  "DFAST",
  "GREEDY",
  "LAZY",
  "LAZY2",
  "BTLAZY2",
  "BTOPT",
  "BTULTRA",
];
const ZSTD_SETTINGS = [
  ...ZSTD_STRATEGIES_LEFT_OUT.map((name) => `ZSTD_EXCLUDE_${name}_BLOCK_COMPRESSOR`),
  "ZSTD_DISABLE_ASM 1",
  "ZSTD_TRACE 0",
  "ZSTD_LEGACY_SUPPORT 0",
  "ZSTDLIB_VISIBLE",
  "ZSTDERRORLIB_VISIBLE",
  "ZSTD_DEPS_NEED_MALLOC",
  "XXH_NAMESPACE ZSTD_",
  "XXH_PRIVATE_API",
  "XXH_INLINE_ALL",
];

/** The folder of third-party sources, which come with the addon's. */
export const vendor = join(import.meta.dir, "vendor");

/** Every file below a folder with such a name, relative to `native`, sorted. */
function filesBelow(folder: string, name: RegExp): string[] {
  return readdirSync(join(import.meta.dir, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => name.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
}

/** Every third-party source file, relative to `native`, sorted. */
export const vendoredFiles = (): string[] => filesBelow("vendor", /\.[ch]$/);

/** Every C++ file of the addon and every table, relative to `native`, sorted. */
export const sourceFiles = (): string[] => filesBelow("src", /\.(cc|hpp|inc)$/);

/** All files that a unit may be compiled from, relative to `native`, sorted. */
export function sourcesOf({ files, language }: Unit): string[] {
  if (language === "c") return vendoredFiles();
  const found = new Set(files.map((file) => `src/${file}`));
  // A loop over a set visits members that are added during it.
  for (const file of found) {
    const text = readFileSync(join(import.meta.dir, file), "utf8");
    for (const [, name] of text.matchAll(/^#include "([^"]+)"/gm)) found.add(`src/${name}`);
  }
  return [...vendoredFiles(), ...found].sort();
}

const SNOWBALL_FOLDER = "vendor/snowball/";

/** Snowball's stemmers and their runtime. Each file is a unit, because the files define the same names. */
function snowballUnits(): Unit[] {
  const files = vendoredFiles().filter(
    (name) => name.startsWith(SNOWBALL_FOLDER) && name.endsWith(".c"),
  );
  return files.map((name) => ({
    name: `snowball-${parse(name).name}`,
    files: [name.slice(SNOWBALL_FOLDER.length)],
    extensions: [],
    language: "c",
  }));
}

/** The units for an architecture: groups of folders, and each file for an instruction set. */
export function unitsFor(arch: NodeJS.Architecture): Unit[] {
  const folders = new Map<string, string[]>();
  const units: Unit[] = [];
  for (const source of sourceFiles().filter((name) => name.endsWith(".cc"))) {
    const file = source.slice("src/".length);
    const { dir, name } = parse(file);
    const suffix = Object.keys(INSTRUCTION_SETS).find((ending) => name.endsWith(ending));
    const set = suffix === undefined ? undefined : INSTRUCTION_SETS[suffix];
    if (set === undefined) folders.set(dir, [...(folders.get(dir) ?? []), file]);
    else if (set.arch === arch) units.push({ name, files: [file], ...set });
  }
  const alone = [...folders.keys()].filter((dir) => !FOLDER_GROUPS.flat().includes(dir));
  const groups = [...FOLDER_GROUPS, ...alone.map((dir) => [dir])].map((dirs) => ({
    name: `folder-${dirs.at(-1)?.replaceAll("/", "-")}`,
    files: dirs.flatMap((dir) => folders.get(dir) ?? []),
    extensions: [],
  }));
  const zstd: Unit = {
    name: "zstd",
    files: ZSTD_FILES,
    extensions: [],
    defines: ZSTD_SETTINGS,
    language: "c",
  };
  return [...groups, ...units, zstd, ...snowballUnits()];
}
