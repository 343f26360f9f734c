/** Writes ONNX models, as far as those of tests need it. The numbers of fields are those of onnx.proto. */
import { bytes, float, integer, message } from "./protobuf.ts";

const IR_VERSION = 8;
const OPSET_VERSION = 17;
const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE = { float: 1, integer: 2, integers: 7 };

type Attributes = Readonly<Record<string, number | readonly number[] | { readonly float: number }>>;

/** A graph that is built node by node. */
export class OnnxGraph {
  readonly #nodes: Uint8Array[] = [];
  readonly #constants: Uint8Array[] = [];
  #names = 0;

  /** Adds an operation, and returns the name of its output. */
  add(operation: string, inputs: readonly string[], attributes: Attributes = {}, name?: string) {
    const output = name ?? `${operation}_${++this.#names}`;
    const encoded = Object.entries(attributes).map(([key, value]) =>
      bytes(5, attribute(key, value)),
    );
    const sides = [...inputs.map((each) => bytes(1, each)), bytes(2, output)];
    this.#nodes.push(message(sides, bytes(3, output), bytes(4, operation), encoded));
    return output;
  }

  /** Adds weights, and returns their name. */
  weights(name: string, data: Float32Array, dims: readonly number[]): string {
    return this.#constant(name, FLOAT, new Uint8Array(data.buffer), dims);
  }

  /** Adds whole numbers; without dims one number. */
  integers(values: readonly number[], dims: readonly number[] = [values.length]): string {
    const data = BigInt64Array.from(values.map(BigInt));
    return this.#constant(`const_${++this.#names}`, INT64, new Uint8Array(data.buffer), dims);
  }

  number(value: number): string {
    return this.weights(`const_${++this.#names}`, Float32Array.of(value), []);
  }

  /** The bytes of the model. */
  model(inputs: readonly string[], output: string, width: number): Uint8Array {
    const graph = message(
      this.#nodes.map((node) => bytes(1, node)),
      bytes(2, "graph"),
      this.#constants.map((constant) => bytes(5, constant)),
      inputs.map((name) => bytes(11, value(name, INT64, ["batch", "sequence"]))),
      bytes(12, value(output, FLOAT, ["batch", "sequence", width])),
    );
    const opset = message(bytes(1, ""), integer(2, OPSET_VERSION));
    return message(integer(1, IR_VERSION), bytes(7, graph), bytes(8, opset));
  }

  #constant(name: string, type: number, data: Uint8Array, dims: readonly number[]): string {
    const shape = dims.map((dim) => integer(1, dim));
    this.#constants.push(message(shape, integer(2, type), bytes(8, name), bytes(9, data)));
    return name;
  }
}

function attribute(name: string, given: Attributes[string]): Uint8Array {
  if (typeof given === "number") {
    return message(bytes(1, name), integer(3, given), integer(20, ATTRIBUTE.integer));
  }
  if ("float" in given) {
    return message(bytes(1, name), float(2, given.float), integer(20, ATTRIBUTE.float));
  }
  const numbers = given.map((each) => integer(8, each));
  return message(bytes(1, name), numbers, integer(20, ATTRIBUTE.integers));
}

function value(name: string, type: number, dims: readonly (string | number)[]): Uint8Array {
  const shape = dims.map((dim) =>
    bytes(1, typeof dim === "number" ? integer(1, dim) : bytes(2, dim)),
  );
  const tensor = message(integer(1, type), bytes(2, message(shape)));
  return message(bytes(1, name), bytes(2, bytes(1, tensor)));
}
