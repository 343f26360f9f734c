import type { UsableEmbedder } from "../../../embed/models/local-models.ts";
import type { LogLevel } from "../../../ops/config/schema.ts";
import type { ThreadProtocol } from "../../../ops/threads/protocol.ts";

export interface EmbeddingProtocol extends ThreadProtocol {
  readonly options: {
    readonly databaseUrl: string;
    readonly embedders: readonly UsableEmbedder[];
    /** The maximum texts of the first requests to an embedder, which an earlier thread has found out, by name. */
    readonly batches?: Readonly<Record<string, number>>;
    readonly logLevel: LogLevel;
  };
  /** The name of an embedder whose model has to be started. */
  readonly event: string;
  /** Embeds the waiting files whose embedder is available. */
  readonly task: null;
  readonly result: {
    /** The maximum texts of a request to an embedder at present, by name. */
    readonly batches: Readonly<Record<string, number>>;
    /** True while some texts are still embedded, as long ones are for minutes. */
    readonly isBusy: boolean;
  };
}
