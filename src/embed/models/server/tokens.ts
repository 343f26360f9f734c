import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import type { LocalModel } from "../local-model.ts";
import { readJson, TOKENIZER_CONFIG } from "../model-folder.ts";

/**
 * Maximum characters of a text, per token that the model reads. A longer text is refused before time is spent on
 * dividing it into tokens. Prose has four or five. A text with more than this is mostly blank, or its words are unknown
 * to the model.
 */
const TOKEN_CHARS_MAX = 16;

/** A text as a model reads it. */
export interface Tokens {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

/** Cuts texts into the tokens of a model. */
export class ModelTokenizer {
  readonly #tokenizer: Tokenizer;
  /** The id of the token that pads short texts of a batch. */
  readonly padding: number;
  /** The special tokens after each text, which stay when it is cut. */
  readonly #tail: readonly number[];
  readonly maxTokens: number;
  /** Longer texts are not divided into tokens. */
  readonly maxChars: number;
  /** The token of unknown pieces, if adjacent ones become one token. */
  readonly #fusedUnknown: number | undefined;

  constructor({ files, maxTokens }: LocalModel) {
    const settings = JSON.parse(readFileSync(files.tokenizer, "utf8"));
    const config = readJson(files.folder, TOKENIZER_CONFIG);
    this.#tokenizer = new Tokenizer(settings, config);
    this.#fusedUnknown = this.#fuseById();
    const named = settings.padding?.pad_token ?? contentOf(config["pad_token"]) ?? "[PAD]";
    this.padding = this.#tokenizer.token_to_id(named) ?? 0;
    this.#tail = this.#tailOf();
    this.maxTokens = maxTokens;
    this.maxChars = maxTokens * TOKEN_CHARS_MAX;
  }

  /** The tokens of a text of at most `maxChars`. They may be more than the model reads. */
  encode(text: string): Tokens {
    if (text.length > this.maxChars) throw new RangeError(`the text has ${text.length} characters`);
    // Neither the model nor its regular expressions see lone surrogates.
    const { ids, token_type_ids: types = [] } = this.#tokenizer.encode(text.toWellFormed(), {
      return_token_type_ids: true,
    });
    return this.#fused({ ids, types });
  }

  /** The beginning of a text, with at most `maxTokens`. */
  cut({ ids, types }: Tokens): Tokens {
    if (ids.length <= this.maxTokens) return { ids, types };
    const kept = this.maxTokens - this.#tail.length;
    return {
      ids: [...ids.slice(0, kept), ...this.#tail],
      types: types.slice(0, this.maxTokens),
    };
  }

  /**
   * The tokenizer joins the texts of unknown pieces one after the other and looks up the result each time. The time
   * grows with the square of their number, so they are joined here, by their ids.
   */
  #fuseById(): number | undefined {
    const { model } = this.#tokenizer;
    if (model === null || !model.fuse_unk) return undefined;
    model.fuse_unk = false;
    return model.unk_token_id;
  }

  #fused({ ids, types }: Tokens): Tokens {
    const unknown = this.#fusedUnknown;
    if (unknown === undefined) return { ids, types };
    const isKept = (_: number, at: number) => ids[at] !== unknown || ids[at - 1] !== unknown;
    return { ids: ids.filter(isKept), types: types.filter(isKept) };
  }

  /** The special tokens at the end of any text: the common end of the tokens of two texts. */
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
