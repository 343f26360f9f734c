import type { LogLevel } from "../../config/schema.ts";
import type { UsableEmbedder } from "../../models/local-models.ts";
import type { ThreadProtocol } from "../../threads/protocol.ts";

export interface EmbeddingProtocol extends ThreadProtocol {
  readonly options: {
    readonly databaseUrl: string;
    readonly embedders: readonly UsableEmbedder[];
    /** The most texts that the first requests to an embedder have, as an earlier thread has found out, by name. */
    readonly batches?: Readonly<Record<string, number>>;
    readonly logLevel: LogLevel;
  };
  /** The name of an embedder whose model has to be started. */
  readonly event: string;
  /** Embed what waits and can be embedded now. */
  readonly task: null;
  readonly result: {
    /** The most texts that a request to an embedder may have now, by name. */
    readonly batches: Readonly<Record<string, number>>;
    /** True while some texts are still embedded, as long ones are for minutes. */
    readonly isBusy: boolean;
  };
}
