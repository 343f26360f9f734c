import { describe, expect, spyOn, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import { type LocalModel, resolveModel } from "../../../../src/embed/models/local-model.ts";
import { Model } from "../../../../src/embed/models/server/model.ts";
import { ModelTokenizer } from "../../../../src/embed/models/server/tokens.ts";
import type { ModelConfig } from "../../../../src/ops/config/embedders.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import {
  changeModel,
  MODEL_DIMENSION,
  MODEL_TOKENS,
  modelVectors,
  writeModel,
} from "../../../../support/model-folder.ts";
import { needs, programPath } from "../../../../support/programs.ts";

needs("onnxruntime");

const runtime = programPath("onnxruntime");
const UNSET = {
  name: "local",
  dimension: undefined,
  pooling: undefined,
  threads: 1,
  idleSeconds: undefined,
  queryPrefix: undefined,
  documentPrefix: undefined,
};
const resolve = (settings: Partial<ModelConfig> & { onnx: string }): Promise<LocalModel> =>
  resolveModel({ ...UNSET, ...settings }, { dataDir: "/nowhere", socket: "/nowhere" });
const written = {
  wordpiece: writeModel(temporaryFolder("model")),
  unigram: writeModel(temporaryFolder("model"), "unigram"),
};
const { texts: TEXTS, ...VECTORS } = modelVectors();

function farthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - (b[i] as number))));
}

describe("a model in a process of the service", () => {
  test.each(["wordpiece", "unigram"] as const)(
    "with a tokenizer %s returns the vectors that its weights give, in any batch and with any pooling",
    async (kind) => {
      const own = written[kind];
      for (const pooling of ["mean", "cls", "last"] as const) {
        const model = await Model.load(await resolve({ onnx: own.folder, pooling }), runtime);
        const tokens = TEXTS.map((text) => model.tokenizer.encode(text));
        const together = await model.run(tokens);
        for (const [i, encoded] of tokens.entries()) {
          const wanted = VECTORS[kind][pooling][i]!;
          const [alone] = await model.run([encoded]);
          expect(farthest(together[i]!, wanted)).toBeLessThan(1e-4);
          expect(farthest(alone!, wanted)).toBeLessThan(1e-4);
        }
      }
    },
  );

  test("divides a run of characters that its vocabulary lacks into one token, with work in proportion to its length", async () => {
    const tokenizer = new ModelTokenizer(await resolve({ onnx: written.unigram.folder }));
    const work = (chars: number) => {
      const looked = spyOn(Map.prototype, "get");
      const { ids } = tokenizer.encode(`car ${"字".repeat(chars)} car`);
      const sizes = looked.mock.calls.map(([key]) => (typeof key === "string" ? key.length : 1));
      looked.mockRestore();
      expect(ids).toEqual(tokenizer.encode("car 字 car").ids);
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    expect(work(900)).toBeLessThan(4 * work(300));
  });

  test("has the tokens that its tokenizer gives to any text, and divides none that is longer than it may read", async () => {
    const words = fc.constantFrom("car", "字", "字字", "ü", "ing", "<s>", " ", "\n", "😀");
    for (const { folder } of Object.values(written)) {
      const [settings, config] = ["tokenizer.json", "tokenizer_config.json"].map((name) =>
        JSON.parse(readFileSync(join(folder, name), "utf8")),
      );
      const plain = new Tokenizer(settings, config);
      const own = new ModelTokenizer(await resolve({ onnx: folder }));
      fc.assert(
        fc.property(fc.array(words), (parts) => {
          const text = parts.join("");
          expect(own.encode(text).ids).toEqual(plain.encode(text).ids);
        }),
      );
    }
    const tokenizer = new ModelTokenizer(await resolve({ onnx: written.unigram.folder }));
    const divided = spyOn(Tokenizer.prototype, "encode");
    tokenizer.encode("x".repeat(tokenizer.maxChars));
    expect(() => tokenizer.encode("x".repeat(tokenizer.maxChars + 1))).toThrow(RangeError);
    expect(divided.mock.calls.map(([text]) => text.length)).toEqual([tokenizer.maxChars]);
    divided.mockRestore();
  });

  test("reads as many tokens of a query as it can, and its end mark", async () => {
    const model = await Model.load(await resolve({ onnx: written.wordpiece.folder }), runtime);
    const { tokenizer } = model;
    const long = tokenizer.encode("garden ".repeat(2 * MODEL_TOKENS));
    const { ids } = tokenizer.cut(long);
    expect(ids).toEqual([...long.ids.slice(0, MODEL_TOKENS - 1), long.ids.at(-1)!]);
    expect((await model.run([tokenizer.cut(long)]))[0]).toHaveLength(MODEL_DIMENSION);
  });

  test("of another dimension than the configured one is refused, and longer vectors are cut on demand", async () => {
    const { folder } = written.wordpiece;
    await expect(
      Model.load(await resolve({ onnx: folder, dimension: 16 }), runtime),
    ).rejects.toThrow("the model returns vectors of 32 dimensions, and 16 are configured");
    const settings = await resolve({ onnx: folder, dimension: 16, truncate: true });
    const model = await Model.load(settings, runtime);
    const [vector] = await model.run([model.tokenizer.encode(TEXTS[0]!)]);
    expect(vector).toHaveLength(16);
    expect(Math.hypot(...vector!)).toBeCloseTo(1, 5);
  });

  test("whose files were changed is refused, and is another model at the next start", async () => {
    const { folder } = writeModel(temporaryFolder("model"));
    const before = await resolve({ onnx: folder });
    expect(before.model).toMatch(/^[\w.-]+@[0-9a-f]{16}$/);
    changeModel(folder);
    await expect(Model.load(before, runtime)).rejects.toThrow(
      "the files of the model have changed",
    );
    expect((await resolve({ onnx: folder })).identity).not.toBe(before.identity);
  });

  test("is told from others by every file and by every setting that changes stored vectors", async () => {
    const { folder } = writeModel(temporaryFolder("model"));
    const identities = [(await resolve({ onnx: folder })).identity];
    const add = async (settings: Partial<ModelConfig> = {}) => {
      identities.push((await resolve({ onnx: folder, ...settings })).identity);
    };
    await add({ pooling: "cls" });
    await add({ documentPrefix: "passage: " });
    await add({ dimension: 16, truncate: true });
    for (const name of ["tokenizer.json", "tokenizer_config.json", "config.json"]) {
      appendFileSync(join(folder, name), "\n");
      await add();
    }
    writeFileSync(join(folder, "onnx", "model.onnx_data"), "weights beside");
    await add();
    writeFileSync(join(folder, "onnx", "model_quantized.onnx"), "preferred");
    await add();
    expect(new Set(identities).size).toBe(identities.length);
    const same = await resolve({ onnx: folder, threads: 2, queryPrefix: "query: ", batch: 3 });
    expect(same.identity).toBe(identities.at(-1) as string);
  });

  test("says which file is missing or damaged", async () => {
    const folder = temporaryFolder("model");
    await expect(resolve({ onnx: folder })).rejects.toThrow("there is no model_quantized.onnx");
    writeFileSync(join(folder, "model.onnx"), "no model");
    await expect(resolve({ onnx: folder })).rejects.toThrow("there is no tokenizer.json");
    writeFileSync(join(folder, "tokenizer.json"), "{}");
    await expect(resolve({ onnx: folder })).rejects.toThrow("does not say its dimension");
    const model = await resolve({ onnx: folder, dimension: 32 });
    await expect(Model.load(model, runtime)).rejects.toThrow("model.onnx cannot be loaded");
    writeFileSync(join(folder, "config.json"), "{");
    await expect(resolve({ onnx: folder })).rejects.toThrow("config.json is damaged");
  });
});
