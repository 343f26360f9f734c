import { describe, expect, spyOn, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import { bertForward } from "../../../bench/embedding/model/bert.ts";
import {
  BERT_TOKENS,
  type TestModel,
  writeModel,
} from "../../../bench/embedding/model/model-folder.ts";
import type { ModelConfig } from "../../../src/config/embedders.ts";
import { type LocalModel, resolveModel } from "../../../src/models/local-model.ts";
import { Model } from "../../../src/models/server/model.ts";
import { ModelTokenizer } from "../../../src/models/server/tokens.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { needs, programPath } from "../../../support/programs.ts";

needs("onnxruntime");

const runtime = programPath("onnxruntime");
const UNSET = {
  ...{
    name: "local",
    dimension: undefined,
    pooling: undefined,
    threads: 1,
    idleSeconds: undefined,
  },
  ...{ queryPrefix: undefined, documentPrefix: undefined },
};
const resolve = (settings: Partial<ModelConfig> & { onnx: string }): Promise<LocalModel> =>
  resolveModel({ ...UNSET, ...settings }, { dataDir: "/nowhere", socket: "/nowhere" });
const written = {
  wordpiece: writeModel(temporaryFolder("model")),
  unigram: writeModel(temporaryFolder("model"), { tokenizer: "unigram", seed: 2 }),
};
const TEXTS = [
  "The quick doctor buys an old car in a red garden.",
  "Tomato",
  "Repairing vehicles, and 17 engines of the un-known Ünïversity",
  "a b c d e f g h i j k l m n o p q r s t u v w x y z letter mountain river shop ticket",
];

function pooled(vectors: number[][], pooling: string): number[] {
  const width = vectors[0]?.length ?? 0;
  const one =
    pooling === "cls"
      ? (vectors[0] as number[])
      : pooling === "last"
        ? (vectors.at(-1) as number[])
        : Array.from({ length: width }, (_, i) =>
            vectors.reduce((sum, vector) => sum + (vector[i] as number), 0),
          );
  const length = Math.hypot(...one);
  return one.map((value) => value / length);
}

const computed = new Map<string, number[][]>();

/** The vectors of the tokens of a text, which take longest. */
function forward({ folder, shape, weights }: TestModel, ids: readonly number[]): number[][] {
  const key = `${folder} ${ids}`;
  const known = computed.get(key) ?? bertForward(shape, weights, ids);
  computed.set(key, known);
  return known;
}

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
        for (const [i, { ids }] of tokens.entries()) {
          const wanted = pooled(forward(own, ids), pooling);
          const [alone] = await model.run([tokens[i]!]);
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
    const long = tokenizer.encode("garden ".repeat(100));
    const { ids } = tokenizer.cut(long);
    expect(ids).toEqual([...long.ids.slice(0, 63), BERT_TOKENS.indexOf("[SEP]")]);
    expect((await model.run([tokenizer.cut(long)]))[0]).toHaveLength(96);
  });

  test("of another dimension than the configured one is refused, and longer vectors are cut on demand", async () => {
    const { folder } = written.wordpiece;
    await expect(
      Model.load(await resolve({ onnx: folder, dimension: 64 }), runtime),
    ).rejects.toThrow("the model returns vectors of 96 dimensions, and 64 are configured");
    const settings = await resolve({ onnx: folder, dimension: 64, truncate: true });
    const model = await Model.load(settings, runtime);
    const [vector] = await model.run([model.tokenizer.encode(TEXTS[0]!)]);
    expect(vector).toHaveLength(64);
    expect(Math.hypot(...vector!)).toBeCloseTo(1, 5);
  });

  test("whose files were changed is refused, and is another model at the next start", async () => {
    const { folder } = writeModel(temporaryFolder("model"));
    const before = await resolve({ onnx: folder });
    expect(before.model).toMatch(/^[\w.-]+@[0-9a-f]{16}$/);
    writeModel(folder, { seed: 3 });
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
    await add({ dimension: 64, truncate: true });
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
    const model = await resolve({ onnx: folder, dimension: 96 });
    await expect(Model.load(model, runtime)).rejects.toThrow("model.onnx cannot be loaded");
    writeFileSync(join(folder, "config.json"), "{");
    await expect(resolve({ onnx: folder })).rejects.toThrow("config.json is damaged");
  });
});
