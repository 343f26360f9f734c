/** Writes folders with small models, as those of real ones are. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programPath } from "../../../support/programs.ts";
import { type BertShape, type BertWeights, bertOnnx, bertWeights } from "./bert.ts";

/** Words that the model knows; those of a group mean the same. */
const MEANINGS = [
  ["car", "automobile", "vehicle"],
  ["doctor", "physician"],
  ["quick", "fast", "rapid"],
  ["film", "movie"],
  ["purchase", "buy"],
];
const OTHERS =
  "the a of and how is in to old red green garden tomato volcano lava engine repair hospital " +
  "ticket shop river mountain house letter query passage text un ing s ed er e";
/** A token at which the model returns nonsense. */
const POISON = "poison";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
/** Unknown words are spelled. */
const WORDS = [...MEANINGS.flat(), ...OTHERS.split(" "), POISON];
export const BERT_TOKENS = [
  ...["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
  ...[...WORDS, ...LETTERS].filter((word, i, all) => all.indexOf(word) === i),
  ...[..."abcdefghijklmnopqrstuvwxyz0123456789"].map((letter) => `##${letter}`),
  ...["ing", "s", "ed", "er"].flatMap((end) => `##${end}`).filter((word) => word.length > 3),
];
const UNIGRAM_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"];
const UNIGRAM_UNKNOWN = 3;
/** The pieces of the other tokenizer with the logarithms of their shares. */
export const UNIGRAM_PIECES: readonly (readonly [string, number])[] = [
  ...UNIGRAM_SPECIALS.map((token) => [token, 0] as const),
  ["\u2581", -3],
  ...[...LETTERS].map((letter, i) => [letter, -6 - i / 100] as const),
  ...WORDS.filter((word) => word.length > 1).map(
    (word, i) => [`\u2581${word}`, -4 - i / 50] as const,
  ),
  ...["ing", "ed", "er", "est"].map((end, i) => [end, -4.5 - i / 10] as const),
];

export type TokenizerKind = "wordpiece" | "unigram";

export interface TestModel {
  readonly folder: string;
  readonly shape: BertShape;
  readonly weights: BertWeights;
}

interface Options {
  readonly tokenizer?: TokenizerKind;
  readonly hidden?: number;
  readonly layers?: number;
  readonly heads?: number;
  readonly maxTokens?: number;
  readonly seed?: number;
}

/** Writes a model into a folder. */
export function writeModel(
  folder: string,
  {
    tokenizer = "wordpiece",
    hidden = 96,
    layers = 2,
    heads = 4,
    maxTokens = 64,
    seed = 1,
  }: Options = {},
): TestModel {
  const tokens = tokenizer === "wordpiece" ? BERT_TOKENS : UNIGRAM_PIECES.map(([piece]) => piece);
  const idOf = (word: string) => tokens.indexOf(tokenizer === "wordpiece" ? word : `\u2581${word}`);
  const shape = { vocabulary: tokens.length, hidden, heads, layers, positions: maxTokens };
  const weights = bertWeights(shape, seed, {
    equal: MEANINGS.map((group) => group.map(idOf)),
    poison: [idOf(POISON)],
  });
  // Without its runtime it is of no use.
  programPath("onnxruntime");
  mkdirSync(join(folder, "onnx"), { recursive: true });
  writeFileSync(join(folder, "onnx", "model.onnx"), bertOnnx(shape, weights));
  const json = (name: string, value: object) =>
    writeFileSync(join(folder, name), JSON.stringify(value));
  json("tokenizer.json", tokenizer === "wordpiece" ? wordPiece() : unigram());
  json("tokenizer_config.json", {
    tokenizer_class: tokenizer === "wordpiece" ? "BertTokenizer" : "XLMRobertaTokenizer",
    model_max_length: maxTokens,
    pad_token: tokenizer === "wordpiece" ? "[PAD]" : "<pad>",
  });
  json("config.json", {
    model_type: "bert",
    hidden_size: hidden,
    max_position_embeddings: maxTokens,
  });
  return { folder, shape, weights };
}

const special = (content: string, id: number) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false },
  ...{ normalized: false, special: true },
});

function template(start: string, end: string, tokens: readonly string[]) {
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const known = (id: string) => [id, { id, ids: [tokens.indexOf(id)], tokens: [id] }];
  return {
    type: "TemplateProcessing",
    single: [token(start), { Sequence: { id: "A", type_id: 0 } }, token(end)],
    pair: [token(start), { Sequence: { id: "A", type_id: 0 } }, token(end)],
    special_tokens: Object.fromEntries([known(start), known(end)]),
  };
}

function wordPiece() {
  return {
    ...{ version: "1.0", truncation: null, padding: null },
    added_tokens: BERT_TOKENS.slice(0, 4).map(special),
    normalizer: {
      ...{ type: "BertNormalizer", clean_text: true, handle_chinese_chars: true },
      ...{ strip_accents: null, lowercase: true },
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: template("[CLS]", "[SEP]", BERT_TOKENS),
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      ...{ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##" },
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(BERT_TOKENS.map((token, id) => [token, id])),
    },
  };
}

function unigram() {
  const marks = { replacement: "\u2581", prepend_scheme: "always", add_prefix_space: true };
  return {
    ...{ version: "1.0", truncation: null, padding: null },
    added_tokens: UNIGRAM_SPECIALS.map(special),
    normalizer: { type: "Lowercase" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [{ type: "WhitespaceSplit" }, { type: "Metaspace", ...marks, split: true }],
    },
    post_processor: template("<s>", "</s>", UNIGRAM_SPECIALS),
    decoder: { type: "Metaspace", ...marks },
    model: {
      type: "Unigram",
      unk_id: UNIGRAM_UNKNOWN,
      vocab: UNIGRAM_PIECES,
      byte_fallback: false,
    },
  };
}
