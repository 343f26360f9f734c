/** A small encoder of the shape of BERT with weights from a seed: as an ONNX model, and computed here. */
import { randomNumbers } from "../../../support/random.ts";
import { OnnxGraph } from "./onnx.ts";

export interface BertShape {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly heads: number;
  readonly layers: number;
  readonly positions: number;
}

const TYPES = 2;
const INNER_FACTOR = 4;
const EPSILON = 1e-12;
const MASKED = -10_000;
/** Words count for more than positions and types, so that texts with equal words are alike. */
const SCALE = { word: 1, position: 0.1, type: 0.1, layer: 0.05 };

/** The weights by their names, each a matrix in rows. */
export type BertWeights = ReadonlyMap<string, Float32Array>;

/** Weights from a seed. The rows of `equal` tokens are equal, as those of words with one meaning. */
export function bertWeights(
  { vocabulary, hidden, layers, positions }: BertShape,
  seed: number,
  { equal = [], poison = [] }: { equal?: readonly number[][]; poison?: readonly number[] } = {},
): BertWeights {
  const random = randomNumbers(seed);
  const weights = new Map<string, Float32Array>();
  const fill = (name: string, length: number, scale: number, around = 0) => {
    weights.set(
      name,
      Float32Array.from({ length }, () => around + scale * (random() * 2 - 1)),
    );
  };
  fill("word", vocabulary * hidden, SCALE.word);
  fill("position", positions * hidden, SCALE.position);
  fill("type", TYPES * hidden, SCALE.type);
  const norm = (name: string) => {
    fill(`${name}.gamma`, hidden, SCALE.layer, 1);
    fill(`${name}.beta`, hidden, SCALE.layer);
  };
  norm("first");
  for (let layer = 0; layer < layers; layer++) {
    for (const part of ["query", "key", "value", "output"]) {
      fill(`${layer}.${part}`, hidden * hidden, SCALE.layer);
      fill(`${layer}.${part}.bias`, hidden, SCALE.layer);
    }
    fill(`${layer}.up`, hidden * hidden * INNER_FACTOR, SCALE.layer);
    fill(`${layer}.up.bias`, hidden * INNER_FACTOR, SCALE.layer);
    fill(`${layer}.down`, hidden * hidden * INNER_FACTOR, SCALE.layer);
    fill(`${layer}.down.bias`, hidden, SCALE.layer);
    norm(`${layer}.attended`);
    norm(`${layer}.last`);
  }
  const words = weights.get("word") as Float32Array;
  const row = (id: number) => words.subarray(id * hidden, (id + 1) * hidden);
  for (const [first, ...others] of equal) {
    for (const other of others) row(other).set(row(first as number));
  }
  for (const id of poison) row(id).fill(Number.NaN);
  return weights;
}

/** What is added to the scores of tokens that fill a text up. */
function addMask(graph: OnnxGraph): string {
  const seen = graph.add("Cast", ["attention_mask"], { to: 1 });
  const hiddenPart = graph.add("Sub", [graph.number(1), seen]);
  return graph.add("Unsqueeze", [
    graph.add("Mul", [hiddenPart, graph.number(MASKED)]),
    graph.integers([1, 2]),
  ]);
}

/** The model as an ONNX file. */
export function bertOnnx(shape: BertShape, weights: BertWeights): Uint8Array {
  const { hidden, heads, layers, vocabulary, positions } = shape;
  const graph = new OnnxGraph();
  const weight = (name: string, dims: readonly number[]) =>
    graph.weights(name, weights.get(name) as Float32Array, dims);
  const norm = (x: string, name: string, output?: string) => {
    const parts = [weight(`${name}.gamma`, [hidden]), weight(`${name}.beta`, [hidden])];
    const attributes = { axis: -1, epsilon: { float: EPSILON } };
    return graph.add("LayerNormalization", [x, ...parts], attributes, output);
  };
  const dense = (x: string, name: string, from: number, to: number) =>
    graph.add("Add", [
      graph.add("MatMul", [x, weight(name, [from, to])]),
      weight(`${name}.bias`, [to]),
    ]);

  const length = graph.add("Slice", [
    graph.add("Shape", ["input_ids"]),
    graph.integers([1]),
    graph.integers([2]),
  ]);
  const places = [weight("position", [positions, hidden]), graph.integers([0]), length];
  const words = graph.add("Gather", [weight("word", [vocabulary, hidden]), "input_ids"]);
  const types = graph.add("Gather", [weight("type", [TYPES, hidden]), "token_type_ids"]);
  const sum = graph.add("Add", [graph.add("Add", [words, types]), graph.add("Slice", places)]);
  let x = norm(sum, "first");

  const masked = addMask(graph);
  const split = graph.integers([0, 0, heads, hidden / heads]);
  const join = graph.integers([0, 0, hidden]);
  const scale = graph.number(1 / Math.sqrt(hidden / heads));
  for (let layer = 0; layer < layers; layer++) {
    const head = (part: string, perm: readonly number[]) =>
      graph.add(
        "Transpose",
        [graph.add("Reshape", [dense(x, `${layer}.${part}`, hidden, hidden), split])],
        { perm },
      );
    const products = graph.add("MatMul", [head("query", [0, 2, 1, 3]), head("key", [0, 2, 3, 1])]);
    const scores = graph.add("Add", [graph.add("Mul", [products, scale]), masked]);
    const shares = graph.add("Softmax", [scores], { axis: -1 });
    const mixed = graph.add("MatMul", [shares, head("value", [0, 2, 1, 3])]);
    const joined = graph.add("Reshape", [
      graph.add("Transpose", [mixed], { perm: [0, 2, 1, 3] }),
      join,
    ]);
    const attended = dense(joined, `${layer}.output`, hidden, hidden);
    x = norm(graph.add("Add", [attended, x]), `${layer}.attended`);
    const inner = hidden * INNER_FACTOR;
    const up = dense(x, `${layer}.up`, hidden, inner);
    const erf = graph.add("Erf", [graph.add("Mul", [up, graph.number(Math.SQRT1_2)])]);
    const gate = graph.add("Mul", [
      graph.add("Add", [erf, graph.number(1)]),
      graph.add("Mul", [up, graph.number(0.5)]),
    ]);
    const down = dense(gate, `${layer}.down`, inner, hidden);
    const isLast = layer === layers - 1;
    x = norm(
      graph.add("Add", [down, x]),
      `${layer}.last`,
      isLast ? "last_hidden_state" : undefined,
    );
  }
  return graph.model(["input_ids", "attention_mask", "token_type_ids"], x, hidden);
}

/** The vectors of the tokens of one text, computed in a plain way. */
export function bertForward(
  { hidden, heads, layers }: BertShape,
  weights: BertWeights,
  ids: readonly number[],
): number[][] {
  const weight = (name: string) => weights.get(name) as Float32Array;
  const row = (name: string, at: number) => [
    ...weight(name).subarray(at * hidden, (at + 1) * hidden),
  ];
  const plus = (a: number[], b: ArrayLike<number>) => a.map((value, i) => value + (b[i] as number));
  const norm = (x: number[], name: string) => {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    return x.map(
      (value, i) =>
        ((value - mean) / Math.sqrt(variance + EPSILON)) * (weight(`${name}.gamma`)[i] as number) +
        (weight(`${name}.beta`)[i] as number),
    );
  };
  const dense = (x: number[], name: string) => {
    const to = weight(`${name}.bias`).length;
    const sums = Array.from({ length: to }, (_, column) =>
      x.reduce((sum, value, i) => sum + value * (weight(name)[i * to + column] as number), 0),
    );
    return plus(sums, weight(`${name}.bias`));
  };
  let x = ids.map((id, at) =>
    norm(plus(plus(row("word", id), row("type", 0)), row("position", at)), "first"),
  );
  const width = hidden / heads;
  for (let layer = 0; layer < layers; layer++) {
    const [q, k, v] = ["query", "key", "value"].map((part) =>
      x.map((each) => dense(each, `${layer}.${part}`)),
    ) as [number[][], number[][], number[][]];
    const attended = q.map((query) => {
      const mixed = Array.from({ length: hidden }, () => 0);
      for (let head = 0; head < heads; head++) {
        const part = (vector: number[]) => vector.slice(head * width, (head + 1) * width);
        const scores = k.map(
          (key) =>
            part(query).reduce((sum, value, i) => sum + value * (part(key)[i] as number), 0) /
            Math.sqrt(width),
        );
        const most = Math.max(...scores);
        const powers = scores.map((score) => Math.exp(score - most));
        const total = powers.reduce((sum, value) => sum + value, 0);
        v.forEach((value, token) => {
          part(value).forEach((element, i) => {
            mixed[head * width + i]! += ((powers[token] as number) / total) * element;
          });
        });
      }
      return dense(mixed, `${layer}.output`);
    });
    x = x.map((each, at) => norm(plus(attended[at] as number[], each), `${layer}.attended`));
    x = x.map((each) => {
      const inner = dense(each, `${layer}.up`).map(gelu);
      return norm(plus(dense(inner, `${layer}.down`), each), `${layer}.last`);
    });
  }
  return x;
}

const gelu = (x: number) => 0.5 * x * (1 + erf(x * Math.SQRT1_2));

/** Terms of the series below, which are enough up to 6; beyond, the function is 1. */
const ERF_TERMS = 200;

/** By its series, to about ten digits. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; n < ERF_TERMS; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
