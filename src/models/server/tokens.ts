import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import type { LocalModel } from "../local-model.ts";
import { readJson, TOKENIZER_CONFIG } from "../model-folder.ts";

/** A text as a model reads it. */
export interface Tokens {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

/** Cuts texts into the tokens of a model. */
export class ModelTokenizer {
  readonly #tokenizer: Tokenizer;
  /** What fills short texts of a batch up. */
  readonly padding: number;
  /** Tokens that stand after each text, which stay when it is cut. */
  readonly #tail: readonly number[];

  constructor({ files, maxTokens }: LocalModel) {
    const settings = JSON.parse(readFileSync(files.tokenizer, "utf8"));
    const config = readJson(files.folder, TOKENIZER_CONFIG);
    this.#tokenizer = new Tokenizer(settings, config);
    const named = settings.padding?.pad_token ?? contentOf(config["pad_token"]) ?? "[PAD]";
    this.padding = this.#tokenizer.token_to_id(named) ?? 0;
    this.#tail = this.#tailOf();
    this.maxTokens = maxTokens;
  }

  readonly maxTokens: number;

  encode(text: string): Tokens {
    // The model sees no lone surrogates, and neither do its regular expressions.
    const { ids, token_type_ids: types } = this.#tokenizer.encode(text.toWellFormed(), {
      return_token_type_ids: true,
    });
    return { ids, types };
  }

  /** The beginning of a text, as far as the model reads it. */
  cut({ ids, types }: Tokens): Tokens {
    if (ids.length <= this.maxTokens) return { ids, types };
    const kept = this.maxTokens - this.#tail.length;
    return {
      ids: [...ids.slice(0, kept), ...this.#tail],
      types: types.slice(0, this.maxTokens),
    };
  }

  /** What is equal at the end of the tokens of different texts. */
  #tailOf(): number[] {
    const [a, b] = ["a", "b c"].map((text) => this.#tokenizer.encode(text).ids) as [
      number[],
      number[],
    ];
    const plain = this.#tokenizer.encode("a", { add_special_tokens: false }).ids;
    const tail: number[] = [];
    for (let i = 1; i <= a.length - plain.length && a.at(-i) === b.at(-i); i++) {
      tail.unshift(a.at(-i) as number);
    }
    return tail;
  }
}

/** Configurations name a token by its text, or by an object with it. */
function contentOf(token: unknown): string | undefined {
  if (typeof token === "string") return token;
  const content = (token as { content?: unknown } | null | undefined)?.content;
  return typeof content === "string" ? content : undefined;
}
