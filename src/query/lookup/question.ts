import { type Static, Type } from "@sinclair/typebox";
import { LookupTarget } from "../../content/scopes/target.ts";
import { LOOKUP_LIMIT_MAX, LOOKUP_SHARDS_MAX } from "../../domain/limits.ts";
import { nullable } from "../../domain/schemas.ts";

/** The question of a lookup. All pages of a cursor answer the same question. */
const LookupQuestion = Type.Object({
  projectId: Type.String(),
  target: nullable(LookupTarget),
  /** Null: browse. */
  query: nullable(Type.String()),
  /** The checked filter as canonical JSON text. Absent without one. */
  filter: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: LOOKUP_LIMIT_MAX }),
  shardIndex: Type.Integer({ minimum: 0, maximum: LOOKUP_SHARDS_MAX - 1 }),
  shardCount: Type.Integer({ minimum: 1, maximum: LOOKUP_SHARDS_MAX }),
});
export type LookupQuestion = Readonly<Static<typeof LookupQuestion>>;

export const LookupState = Type.Object({
  question: LookupQuestion,
  /** The state after the earlier pages, in the text core's own form. */
  progress: Type.String(),
});
export type LookupState = Readonly<Static<typeof LookupState>>;
