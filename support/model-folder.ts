/** A small model with the files of real ones. `test/fixtures/model/README.md` says how it was made. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_ROOT } from "./processes/process.ts";
import { programPath } from "./programs.ts";

/** Elements of its vectors. */
export const MODEL_DIMENSION = 32;
/** Tokens that it reads of a text. */
export const MODEL_TOKENS = 128;

const FIXTURE = join(PROJECT_ROOT, "test/fixtures/model");
const NAMES = ["tokenizer.json", "tokenizer_config.json", "config.json", "onnx"];

/** Copies the model into a folder, with one of its two tokenizers. */
export function writeModel(folder: string, tokenizer: "wordpiece" | "unigram" = "wordpiece") {
  // Without its runtime it is of no use.
  programPath("onnxruntime");
  for (const name of NAMES) cpSync(join(FIXTURE, name), join(folder, name), { recursive: true });
  if (tokenizer === "unigram") cpSync(join(FIXTURE, tokenizer), folder, { recursive: true });
  return { folder };
}

/** Makes it another model, by one of its weights. */
export function changeModel(folder: string): void {
  const path = join(folder, "onnx", "model.onnx");
  const bytes = readFileSync(path);
  // The middle of the file is within a matrix; the place of a weight there does not matter for a bit of its fraction.
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(path, bytes);
}

/** The vectors that a plain computation gives for some texts, by tokenizer and pooling. */
export interface ModelVectors {
  readonly texts: readonly string[];
  readonly wordpiece: Readonly<Record<"mean" | "cls" | "last", readonly (readonly number[])[]>>;
  readonly unigram: ModelVectors["wordpiece"];
}

export const modelVectors = (): ModelVectors =>
  JSON.parse(readFileSync(join(FIXTURE, "vectors.json"), "utf8"));
