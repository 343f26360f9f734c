import type { Pooling } from "../../ops/config/embedders.ts";

/** The properties of a model that its authors document. */
export interface ModelFacts {
  readonly dimension: number;
  readonly pooling: Pooling;
  readonly queryPrefix: string;
  readonly documentPrefix: string;
}

interface Preset extends ModelFacts {
  /** The repository with its ONNX files and its tokenizer. */
  readonly repository: string;
}

const NO_PREFIXES = { queryPrefix: "", documentPrefix: "" };
const BGE = {
  pooling: "cls" as const,
  documentPrefix: "",
  queryPrefix: "Represent this sentence for searching relevant passages: ",
};

/** Models that need no settings, by the names that users give. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  "multilingual-e5-small": {
    repository: "Xenova/multilingual-e5-small",
    dimension: 384,
    pooling: "mean",
    queryPrefix: "query: ",
    documentPrefix: "passage: ",
  },
  "bge-small-en-v1.5": { ...BGE, repository: "Xenova/bge-small-en-v1.5", dimension: 384 },
  "bge-base-en-v1.5": { ...BGE, repository: "Xenova/bge-base-en-v1.5", dimension: 768 },
  "all-MiniLM-L6-v2": {
    repository: "Xenova/all-MiniLM-L6-v2",
    dimension: 384,
    pooling: "mean",
    ...NO_PREFIXES,
  },
  "gte-multilingual-base": {
    repository: "onnx-community/gte-multilingual-base",
    dimension: 768,
    pooling: "cls",
    ...NO_PREFIXES,
  },
  "nomic-embed-text-v1.5": {
    repository: "nomic-ai/nomic-embed-text-v1.5",
    dimension: 768,
    pooling: "mean",
    queryPrefix: "search_query: ",
    documentPrefix: "search_document: ",
  },
  "snowflake-arctic-embed-m-v2.0": {
    repository: "Snowflake/snowflake-arctic-embed-m-v2.0",
    dimension: 768,
    pooling: "cls",
    queryPrefix: "query: ",
    documentPrefix: "",
  },
};
