/**
 * Makes everything that a release publishes, in `dist/`, from the commit that is checked out:
 * `npm run release [-- linux-x64 linux-arm64 ...]`. The names are those of the addons to bring along, by default
 * this machine's alone.
 *
 * Needs git, npm and GNU tar. docs/release.md says what each file is for.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/folders.ts";
import { PROJECT_ROOT, startServer } from "../support/processes/process.ts";
import { helpIfAsked } from "./help.ts";
import { buildAddons } from "./release-native.ts";

const USAGE = `usage: npm run release [-- linux-x64 linux-arm64 ...]

Makes everything that a release publishes, in dist/, with the addons of these machines, by default this one's.

  --help
`;

const DIST = join(PROJECT_ROOT, "dist");
const SNOWBALL_FOLDER = "native/vendor/snowball";

/** Runs a program of the machine. Throws with what it said if it fails. */
function run(command: readonly string[], cwd = PROJECT_ROOT): string {
  const { success, stdout, stderr } = Bun.spawnSync([...command], { cwd });
  if (!success) throw new Error(`${command.slice(0, 2).join(" ")} failed: ${stderr}`);
  return stdout.toString();
}

const textOf = (file: string) => readFileSync(join(PROJECT_ROOT, file), "utf8");

/** The version of the release. Throws unless service, client and changelog agree on it, and all is committed. */
function releasedVersion(): string {
  const { version } = JSON.parse(textOf("package.json"));
  const { version: client } = JSON.parse(textOf("client/package.json"));
  if (client !== version) throw new Error(`the client is ${client}, and the service ${version}`);
  if (!textOf("CHANGELOG.md").includes(`\n## [${version}] - `)) {
    throw new Error(`CHANGELOG.md has no section of version ${version}`);
  }
  const changes = run(["git", "status", "--porcelain"]);
  if (changes !== "") throw new Error(`commit or remove these first:\n${changes}`);
  return version;
}

/** The paths that the Dockerfile copies from its context. */
export function copiedPaths(dockerfile: string): string[] {
  const copies = dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  return [...copies].flatMap(([, sources = ""]) => sources.split(" "));
}

/** Packs a folder's contents. Equal contents of one commit make equal archives. */
function pack(folder: string, contents: readonly string[], archive: string): void {
  const date = run(["git", "log", "-1", "--format=%cI"]).trim();
  const same = ["--sort=name", `--mtime=${date}`, "--owner=0", "--group=0", "--numeric-owner"];
  const gzip = ["--use-compress-program", "gzip -n"];
  run(["tar", ...same, ...gzip, "-cf", archive, ...contents], folder);
}

/** The sources with the addons, as an archive for people and as the context of the container image. */
function packSources(version: string): void {
  const [folder, name] = [temporaryFolder("release"), `tessera-${version}`];
  run(["git", "archive", "--format=tar", `--prefix=${name}/`, "-o", `${folder}/all.tar`, "HEAD"]);
  run(["tar", "-xf", "all.tar"], folder);
  const root = join(folder, name);
  const prebuilt = join("native", "prebuilt");
  cpSync(join(PROJECT_ROOT, prebuilt), join(root, prebuilt), { recursive: true });
  pack(folder, [name], join(DIST, `${name}.tar.gz`));
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const context = ["Dockerfile", ".dockerignore", ...copiedPaths(dockerfile)];
  const entries = context.flatMap((path) => [
    ...new Bun.Glob(path).scanSync({ cwd: root, dot: true, onlyFiles: false }),
  ]);
  pack(root, entries, join(DIST, `tessera-image-${version}.tar.gz`));
  for (const file of readdirSync(join(root, prebuilt))) {
    cpSync(join(root, prebuilt, file), join(DIST, `tessera-${version}-${file}`));
  }
}

/** The OpenAPI document of a running service, with the address at which it listens by default. */
async function writeDocument(version: string): Promise<void> {
  const service = await startServer({
    env: { DATABASE_URL: process.env.DATABASE_URL, PUBLIC_URL: "http://127.0.0.1:3000" },
  });
  const document = await (await fetch(`${service.url}/docs/json`)).json();
  await service.stop();
  const text = `${JSON.stringify(document, null, 2)}\n`;
  writeFileSync(join(DIST, `tessera-openapi-${version}.json`), text);
}

/** A folder with the packages that the service uses alone: npm cannot tell them from those for development. */
function installedFolder(): string {
  const folder = temporaryFolder("bill");
  for (const part of ["package.json", "bun.lock", "patches"]) {
    cpSync(join(PROJECT_ROOT, part), join(folder, part), { recursive: true });
  }
  const install = ["install", "--frozen-lockfile", "--production", "--ignore-scripts"];
  run([process.execPath, ...install], folder);
  const { devDependencies: _, ...used } = JSON.parse(textOf("package.json"));
  writeFileSync(join(folder, "package.json"), JSON.stringify(used));
  return folder;
}

/** The bill of materials in CycloneDX: the packages that the service uses, and the sources that it contains. */
function writeBill(version: string): void {
  const bill = JSON.parse(run(["npm", "sbom", "--sbom-format", "cyclonedx"], installedFolder()));
  const [, snowball = ""] =
    /Snowball\]\(\S+\) (\d+\.\d+\.\d+)/.exec(textOf(`${SNOWBALL_FOLDER}/README.md`)) ?? [];
  bill.metadata.component.name = "tessera";
  bill.components.push({
    type: "library",
    name: "snowball",
    version: snowball,
    purl: `pkg:github/snowballstem/snowball@v${snowball}`,
    licenses: [{ license: { id: "BSD-3-Clause" } }],
  });
  const text = `${JSON.stringify(bill, null, 2)}\n`;
  writeFileSync(join(DIST, `tessera-${version}.cdx.json`), text);
}

/** One line per file, as `sha256sum -c` reads them. */
function writeChecksums(): void {
  const lines = readdirSync(DIST).map((file) => {
    const hash = createHash("sha256").update(readFileSync(join(DIST, file)));
    return `${hash.digest("hex")}  ${file}\n`;
  });
  writeFileSync(join(DIST, "SHA256SUMS"), lines.join(""));
}

async function main(): Promise<void> {
  const version = releasedVersion();
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST);
  const say = (step: string) => process.stderr.write(`tessera: ${step}\n`);
  say("building the addons");
  await buildAddons(Bun.argv.slice(2));
  say("packing the sources and the context of the image");
  packSources(version);
  say("packing the client");
  run(["npm", "pack", "--pack-destination", DIST], join(PROJECT_ROOT, "client"));
  say("writing the OpenAPI document and the bill of materials");
  await writeDocument(version);
  writeBill(version);
  writeChecksums();
  process.stdout.write(`${run(["ls", "-1", DIST])}`);
}

if (import.meta.main) {
  helpIfAsked(USAGE);
  try {
    await main();
  } catch (error) {
    process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
  await cleanUp();
}
