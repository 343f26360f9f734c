import type { Queryable } from "../../db/client.ts";
import { fingerprintsOf, projectEmbedders } from "../embedders/project-embedders.ts";
import type { InputRecord } from "../records/batches.ts";
import { RecordError } from "../records/errors.ts";
import type { ParsedRecord } from "../records/parsed-record.ts";
import type { ImportTarget } from "../records/target.ts";
import { LookupPending } from "./lookup.ts";
import type { Lookups } from "./lookups.ts";
import type { BatchPlan, Fingerprints } from "./plan.ts";
import {
  planBranch,
  planBranchApproval,
  planConversation,
  planInputRequest,
  planMessage,
  planStatusCheck,
  planWebhookDefinition,
} from "./plan-collaboration.ts";
import { planEnvironment, planFile, planRelease, planRemoval } from "./plan-content.ts";
import { planApiKey, planProject, planUser } from "./plan-identity.ts";
import { RowBuffer } from "./row-buffer.ts";

const BUILT_IN = fingerprintsOf(projectEmbedders([], () => {}));

type Planner<K extends ParsedRecord["kind"]> = (
  record: Extract<ParsedRecord, { kind: K }>["record"],
  plan: BatchPlan,
  where: string,
) => void;

const PLANNERS: { readonly [K in ParsedRecord["kind"]]: Planner<K> } = {
  user: planUser,
  api_key: planApiKey,
  project: planProject,
  environment: planEnvironment,
  file: planFile,
  removed_file: planRemoval,
  release: planRelease,
  branch: planBranch,
  branch_approval: planBranchApproval,
  status_check: planStatusCheck,
  conversation: planConversation,
  message: planMessage,
  input_request: planInputRequest,
  webhook_definition: planWebhookDefinition,
};

export interface PlannedBatch {
  readonly plan: BatchPlan;
  /** The rejected records, with the reasons. */
  readonly rejected: ReadonlyMap<InputRecord, string>;
}

export interface PlanContext {
  readonly lookups: Lookups;
  readonly target: ImportTarget | undefined;
  /** The fingerprints of the embedders that records may name; only the built-in one by default. */
  readonly embedders?: Fingerprints | undefined;
  /** The number of the batch's first record within the import. */
  readonly firstRecord: number;
}

/**
 * Plans the records in line order. References that are not in the lookup caches are collected on the
 * way and looked up with one query per table. Then the batch is planned again, until nothing is
 * pending; this takes a few rounds.
 */
export async function planBatch(
  sql: Queryable,
  context: PlanContext,
  batch: readonly InputRecord[],
): Promise<PlannedBatch> {
  const { lookups } = context;
  const tables = Object.values(lookups);
  for (;;) {
    for (const table of tables) table.resetPlan();
    const planned = planOnce(context, batch);
    const pending = tables.filter((table) => table.isPending);
    if (pending.length === 0) return planned;
    for (const table of pending) await table.load(sql);
  }
}

function planOnce(
  { lookups, target, embedders = BUILT_IN, firstRecord }: PlanContext,
  batch: readonly InputRecord[],
): PlannedBatch {
  const plan: BatchPlan = {
    lookups,
    target,
    embedders,
    rows: new RowBuffer(firstRecord),
    projects: new Set(),
    newProjects: new Set(),
    changesProjects: false,
    releases: new Map(),
    activeReleases: [],
    newVersions: [],
    afterRows: [],
  };
  const rejected = new Map<InputRecord, string>();
  for (const [record, input] of batch.entries()) {
    plan.rows.record = record;
    try {
      if (input.parsed instanceof RecordError) throw input.parsed;
      planRecord(input.parsed, plan, input.where);
    } catch (error) {
      if (error instanceof RecordError) rejected.set(input, error.message);
      else if (!(error instanceof LookupPending)) throw error;
    }
  }
  return { plan, rejected };
}

function planRecord({ kind, record }: ParsedRecord, plan: BatchPlan, where: string): void {
  // TypeScript cannot relate the kind of the planner to the kind of the record.
  const planner = PLANNERS[kind] as (
    ...parameters: [ParsedRecord["record"], BatchPlan, string]
  ) => void;
  planner(record, plan, where);
}
