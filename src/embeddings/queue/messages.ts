import type { EmbedderConfig } from "../../config/embedders.ts";
import type { LogLevel } from "../../config/schema.ts";
import type { ThreadProtocol } from "../../threads/protocol.ts";

export interface EmbeddingProtocol extends ThreadProtocol {
  readonly options: {
    readonly databaseUrl: string;
    readonly embedders: readonly EmbedderConfig[];
    readonly logLevel: LogLevel;
  };
  /** Embed what waits and can be embedded now. */
  readonly task: null;
  /** The most texts that a request to an embedder may have, as found out so far, by name. */
  readonly result: Readonly<Record<string, number>>;
}
