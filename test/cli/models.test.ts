import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "../../support/faults.ts";
import { memoryFolder, temporaryFolder } from "../../support/folders.ts";
import { writeModel } from "../../support/model-folder.ts";
import { callCommand } from "../../support/processes/command.ts";
import { lacksSmallDisks, mountSmallDisk } from "../../support/processes/small-disk.ts";
import { needs } from "../../support/programs.ts";
import { broken, COMMIT, startHub } from "./model-hub.ts";
import { ADA, DOCS, openCli, PRODUCTION } from "./support.ts";

needs("onnxruntime");

const NAME = "tester/tiny-model";
const ONNX = "onnx/model.onnx";
const source = writeModel(temporaryFolder("model"));
const original = readFileSync(join(source.folder, ONNX));
writeFileSync(join(source.folder, "README.md"), "Is not needed.");
const hub = startHub(NAME, source.folder);
const cli = await openCli();
let dataDir = "";

beforeEach(() => {
  dataDir = memoryFolder("models");
});
afterEach(() => {
  hub.served.length = 0;
  hub.next.length = 0;
  hub.ranges = true;
});

const models = (args: readonly string[], env: Record<string, string> = {}) =>
  callCommand(["models", ...args], {
    env: { DATA_DIR: dataDir, DATABASE_URL: cli.database.url, ...env },
  });
const pullFrom = (address: string, name: string, ...options: string[]) =>
  models(["pull", name, "--hub", address, ...options]);
const pull = (...options: string[]) => pullFrom(hub.url, NAME, ...options);
const at = (path: string) => join(dataDir, "models", NAME, path);
const fetched = () => hub.served.map(({ path }) => path);

describe("tessera models pull", () => {
  test("fetches what a model needs by the checksums of the hub, records the commit, and fetches nothing twice", async () => {
    const { status, stdout, stderr } = await pull();
    expect([status, stdout]).toEqual([0, `${NAME} is there: ${NAME} at ${COMMIT}\n`]);
    expect(stderr).toContain("start the service again, which then has the embedder tiny-model");
    const files = ["tokenizer.json", "tokenizer_config.json", "config.json", ONNX];
    expect(fetched()).toEqual(files);
    expect(readFileSync(at(ONNX)).equals(original)).toBe(true);
    const manifest = JSON.parse(readFileSync(at("tessera.json"), "utf8"));
    expect(manifest).toMatchObject({ repository: NAME, revision: COMMIT });
    expect(manifest.files.map(({ path }: { path: string }) => path)).toEqual(files);
    expect((await pull()).status).toBe(0);
    expect(hub.served).toHaveLength(files.length);
  });

  test("goes on where the connection broke, and where an earlier command was interrupted", async () => {
    const begun = at(`${ONNX}.part`);
    mkdirSync(dirname(begun), { recursive: true });
    writeFileSync(begun, original.subarray(0, 1_000));
    hub.next.push(...Array.from({ length: 3 }, () => () => undefined));
    hub.next.push((_path, content) => broken(content.subarray(1_000), 5_000));
    expect((await pull()).status).toBe(0);
    const starts = hub.served.filter(({ path }) => path === ONNX).map(({ from }) => from);
    expect(starts).toEqual([1_000, 6_000]);
    expect(readFileSync(at(ONNX)).equals(original)).toBe(true);
    expect(existsSync(begun)).toBe(false);
  });

  test("begins again at a server that sends no ranges", async () => {
    const begun = at(`${ONNX}.part`);
    mkdirSync(dirname(begun), { recursive: true });
    writeFileSync(begun, "of another file");
    hub.ranges = false;
    expect((await pull()).status).toBe(0);
    expect(readFileSync(at(ONNX)).equals(original)).toBe(true);
  });

  test("keeps nothing of a file with a wrong checksum, and leaves no model behind", async () => {
    const wrong = Buffer.from(original);
    wrong[wrong.length - 1]! ^= 1;
    hub.next.push(...Array.from({ length: 3 }, () => () => undefined), () => new Response(wrong));
    const { status, stderr } = await pull();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`${ONNX} has another checksum than the hub states`),
    ]);
    expect(readdirSync(dirname(at(ONNX)))).toEqual([]);
    expect((await models(["list"])).stdout).toContain("not complete");
    expect((await pull()).status).toBe(0);
  });

  test("refuses more than the hub has stated, however much it sends", async () => {
    const more = Buffer.concat([original, original]);
    hub.next.push(...Array.from({ length: 3 }, () => () => undefined), () => new Response(more));
    expect((await pull()).stderr).toContain("the hub sends more than it has stated");
  });

  test("says what is not there", async () => {
    expect((await pullFrom(hub.url, "tester/none")).stderr).toContain(
      "has no model tester/none (main)",
    );
    expect((await pull("--revision", "v9")).stderr).toContain(`has no model ${NAME} (v9)`);
    const unknown = await pullFrom(hub.url, "nothing");
    expect(unknown.stderr).toContain(
      'no model is called "nothing": choose from multilingual-e5-small, bge-small-en-v1.5,',
    );
    hub.next.push(() => new Response("gone", { status: 404 }));
    expect((await pull()).stderr).toContain("the hub answered 404 for");
    const away = await pullFrom("http://127.0.0.1:9", NAME);
    expect(away.stderr).toMatch(/127\.0\.0\.1:9 cannot be reached: .*--hub names a mirror/);
    const other = await pullFrom(cli.database.url, NAME);
    expect(other.stderr).toContain("It must be an http:// or https:// URL.");
    expect((await models(["list"])).stderr).toContain("there are no models");
  });

  test.skipIf(lacksSmallDisks())(
    "says that the disk is full, and goes on when it has room",
    async () => {
      const disk = await mountSmallDisk(4);
      dataDir = disk.path;
      let filled: Fault | undefined;
      hub.next.push(...Array.from({ length: 3 }, () => () => undefined), () => {
        filled = disk.fill();
        return undefined;
      });
      expect((await pull()).stderr).toContain(
        "the disk is full: free some space, then the same command",
      );
      await filled?.end();
      expect((await pull()).status).toBe(0);
      expect(readFileSync(at(ONNX)).equals(original)).toBe(true);
    },
  );

  test("with --project embeds the project by the model", async () => {
    const imported = await cli.import([
      ...[ADA, DOCS, PRODUCTION],
      {
        record: "file",
        project: "docs",
        path: "a.md",
        content: "A doctor in the hospital.",
        environments: ["production"],
      },
    ]);
    expect(imported.status).toBe(0);
    const { status, stdout } = await pull("--project", "docs");
    expect(status).toBe(0);
    expect(stdout).toMatch(/embedded 1 chunks by tiny-model:tester\/tiny-model@[0-9a-f]{16}:32\n/);
    const [row] = await cli.sql`SELECT embedder FROM projects WHERE slug = 'docs'`;
    expect(row?.["embedder"]).toMatch(/^tiny-model:/);
  });
});

describe("tessera models", () => {
  test("lists models with their size and origin, also those that were brought by hand, and removes them", async () => {
    await pull();
    writeModel(join(dataDir, "models", "by-hand"));
    const { stdout } = await models(["list"]);
    expect(stdout).toMatch(/^name +model +size +from +commit\n/);
    expect(stdout).toMatch(/by-hand +model\.onnx +\d\.\d MB +brought by hand +-/);
    expect(stdout).toContain(COMMIT);
    const asked = await models(["remove", NAME]);
    expect([asked.status, asked.stderr]).toEqual([1, expect.stringContaining("--yes")]);
    expect((await models(["remove", NAME, "--yes"])).stdout).toBe(`removed ${NAME}\n`);
    expect((await models(["remove", "../models", "--yes"])).stderr).toContain("unknown model");
    expect((await models(["list", "--json"])).stdout.trim().split("\n")).toHaveLength(1);
  });

  test("tests a model: dimension, speed and how alike two texts are", async () => {
    await pull();
    const same = await models(["test", "a quick car", "a rapid vehicle"]);
    expect(same.stdout).toMatch(
      /^embedder +tiny-model .*\ndimension +32\nspeed +[\d.]+ texts per second\n/,
    );
    const similarity = (text: string) => Number(/similarity +(\S+)/.exec(text)?.[1]);
    const other = await models(["test", "a quick car", "tomato"]);
    expect(similarity(same.stdout)).toBeGreaterThan(0.99);
    expect(similarity(other.stdout)).toBeLessThan(0.9);
    appendFileSync(at(ONNX), "x");
    writeFileSync(at("config.json"), JSON.stringify({ hidden_size: 65 }));
    expect((await models(["test", "a text"])).stderr).toContain("cannot be");
    await models(["remove", NAME, "--yes"]);
    expect((await models(["test", "a text"])).stderr).toContain("there is no embedder to test");
  });

  test("installs the runtime once", async () => {
    const { status, stdout } = await models(["install"]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("onnxruntime-node-")]);
  });
});
