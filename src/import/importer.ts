import { CommandError } from "../cli/command-error.ts";
import type { Sql } from "../db/client.ts";
import { isRetryable } from "../db/errors.ts";
import { createDirectory, NotLoaded } from "./placement/directory.ts";
import type { Item } from "./placement/items.ts";
import {
  placeBranch,
  placeBranchApproval,
  placeConversation,
  placeInputRequest,
  placeMessage,
  placeStatusCheck,
  placeWebhookDefinition,
} from "./placement/place-collaboration.ts";
import { placeEnvironment, placeFile, placeRelease } from "./placement/place-content.ts";
import { placeApiKey, placeProject, placeUser } from "./placement/place-identity.ts";
import type { ActiveRelease, Placement } from "./placement/placement.ts";
import { Rows } from "./placement/rows.ts";
import {
  applyActiveRelease,
  applyEnvironment,
  applyRelease,
  countMessages,
  createStage,
  dropStage,
  stagedEnvironments,
} from "./placement/scopes.ts";
import { LineError } from "./records/line-error.ts";
import type { Entry } from "./records/parse.ts";
import { Session } from "./session.ts";

export interface ImportOptions {
  /** One bad line, and nothing is kept. */
  readonly strict: boolean;
  /** Hears of every refused line, in their order. */
  readonly onError: (where: string, reason: string) => void;
  /** Hears of every batch that was written: how many of its records were kept. */
  readonly onKept?: (kinds: ReadonlyMap<string, number>) => void;
  /** Runs after the last record, in its own transaction; returns how many rows it changed. */
  readonly finally?: (sql: Session["sql"]) => Promise<number>;
}

export interface ImportSummary {
  /** Records kept, by kind; none in a strict import with a bad line. */
  readonly kept: ReadonlyMap<string, number>;
  readonly refused: number;
  /** Rows that were inserted, changed or removed. 0: everything was there already. */
  readonly changed: number;
}

/** Ends a strict import that found a bad line: the transaction rolls back. */
class Refused extends Error {}

/** Data that PostgreSQL refuses: data exceptions, broken constraints, exceeded limits. */
const DATA_FAULT = /^(22|23|54)/;

/** Writes batches of records, in their order. */
export async function importItems(
  pool: Sql,
  batches: AsyncIterable<Item[]>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const session = await Session.open(pool);
  try {
    await createStage(session.sql);
    const work = new Import(session, options);
    if (!options.strict) return await work.run(batches);
    try {
      return await session.atomically(async () => {
        const summary = await work.run(batches);
        if (summary.refused > 0) throw new Refused();
        return summary;
      });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { kept: new Map(), refused: work.refused, changed: 0 };
    }
  } finally {
    await dropStage(session.sql).catch(() => {});
    await session.close();
  }
}

interface Outcome {
  readonly placement: Placement;
  readonly faults: Map<Item, string>;
  readonly changed: number;
}

class Import {
  refused = 0;
  #changed = 0;
  readonly #kept = new Map<string, number>();
  readonly #directory = createDirectory();
  readonly #releases = new Set<string>();
  readonly #activeReleases: ActiveRelease[] = [];

  constructor(
    private readonly session: Session,
    private readonly options: ImportOptions,
  ) {}

  async run(batches: AsyncIterable<Item[]>): Promise<ImportSummary> {
    // While PostgreSQL writes one batch, the next one is read and checked.
    let writing: Promise<void> = Promise.resolve();
    for await (const batch of batches) {
      await writing;
      writing = this.#writeBatch(batch);
      // A failure is seen at the next await; until then it must not count as unhandled.
      writing.catch(() => {});
    }
    await writing;
    await this.#finish();
    return { kept: this.#kept, refused: this.refused, changed: this.#changed };
  }

  async #writeBatch(batch: Item[]): Promise<void> {
    try {
      this.#keep(batch, await this.session.atomically(() => this.#store(batch)));
    } catch (error) {
      if (dataFault(error) === undefined && !isRetryable(error)) throw error;
      // One record spoils the whole batch: taken one by one, it spoils itself alone.
      this.#forget();
      await this.session.atomically(async () => {
        for (const item of batch) await this.#writeOne(item);
      });
    }
  }

  async #writeOne(item: Item): Promise<void> {
    try {
      this.#keep([item], await this.session.atomically(() => this.#store([item])));
    } catch (error) {
      const reason = dataFault(error);
      if (reason === undefined) throw error;
      this.#forget();
      this.#refuse(item.where, reason);
    }
  }

  async #store(batch: Item[]): Promise<Outcome> {
    const { placement, faults } = await this.#place(batch);
    const changed = await placement.rows.write(this.session.sql);
    for (const work of placement.afterwards) {
      await work(this.session.sql);
      this.#directory.releaseFiles.forget();
    }
    return { placement, faults, changed };
  }

  /**
   * Places the records in line order. What they need to know about stored rows is noted on the
   * way, read in one query a table, and then the records are placed anew; after a few rounds
   * nothing is missing.
   */
  async #place(batch: Item[]): Promise<Pick<Outcome, "placement" | "faults">> {
    const lookups = Object.values(this.#directory);
    for (;;) {
      for (const lookup of lookups) lookup.reset();
      const placement: Placement = {
        directory: this.#directory,
        rows: new Rows(),
        releases: new Set(),
        activeReleases: [],
        afterwards: [],
      };
      const faults = new Map<Item, string>();
      for (const item of batch) {
        try {
          if (item.entry instanceof LineError) throw item.entry;
          place(item.entry, placement, item.where);
        } catch (error) {
          if (error instanceof LineError) faults.set(item, error.message);
          else if (!(error instanceof NotLoaded)) throw error;
        }
      }
      const wanting = lookups.filter((lookup) => lookup.wantsRows);
      if (wanting.length === 0) return { placement, faults };
      for (const lookup of wanting) await lookup.load(this.session.sql);
    }
  }

  #keep(batch: Item[], { placement, faults, changed }: Outcome): void {
    for (const lookup of Object.values(this.#directory)) lookup.keep();
    for (const id of placement.releases) this.#releases.add(id);
    this.#activeReleases.push(...placement.activeReleases);
    this.#changed += changed;
    const kept = new Map<string, number>();
    for (const item of batch) {
      const fault = faults.get(item);
      if (fault !== undefined) this.#refuse(item.where, fault);
      else if (!(item.entry instanceof LineError)) count(kept, item.entry.kind, 1);
    }
    for (const [kind, number] of kept) count(this.#kept, kind, number);
    this.options.onKept?.(kept);
  }

  #forget(): void {
    for (const lookup of Object.values(this.#directory)) lookup.forget();
  }

  #refuse(where: string, reason: string): void {
    this.refused++;
    this.options.onError(where, reason);
  }

  /** Lets the scopes take what is staged for them. */
  async #finish(): Promise<void> {
    const { session } = this;
    const { sql } = session;
    const step = async (work: () => Promise<number>) => {
      this.#changed += await session.atomically(work);
    };
    await session.commitDurably();
    for (const id of this.#releases) {
      await step(() => applyRelease(sql, id).catch(explainFrozen));
    }
    for (const id of await stagedEnvironments(sql)) await step(() => applyEnvironment(sql, id));
    // Of several records about one environment, the last one counts.
    const active = new Map(this.#activeReleases.map((one) => [one.environmentId, one]));
    for (const one of this.#activeReleases) {
      if (active.get(one.environmentId) === one) await this.#activate(one);
    }
    await step(() => countMessages(sql));
    const last = this.options.finally;
    if (last !== undefined) await step(() => last(sql));
  }

  async #activate(one: ActiveRelease): Promise<void> {
    const { session } = this;
    const changed = await session.atomically(() => applyActiveRelease(session.sql, one));
    if (changed === undefined) {
      const reason = "active_release: the project has no release of this name, also not by the end";
      this.#refuse(one.where, reason);
    } else {
      this.#changed += changed;
    }
  }
}

type Placer<K extends Entry["kind"]> = (
  record: Extract<Entry, { kind: K }>["record"],
  placement: Placement,
  where: string,
) => void;

const PLACERS: { readonly [K in Entry["kind"]]: Placer<K> } = {
  user: placeUser,
  api_key: placeApiKey,
  project: placeProject,
  environment: placeEnvironment,
  file: placeFile,
  release: placeRelease,
  branch: placeBranch,
  branch_approval: placeBranchApproval,
  status_check: placeStatusCheck,
  conversation: placeConversation,
  message: placeMessage,
  input_request: placeInputRequest,
  webhook_definition: placeWebhookDefinition,
};

function place(entry: Entry, placement: Placement, where: string): void {
  // The compiler does not see that kind and record belong together.
  const placer = PLACERS[entry.kind] as (...given: [Entry["record"], Placement, string]) => void;
  placer(entry.record, placement, where);
}

/** Why a record was refused, or undefined when the failure is not the record's. */
function dataFault(error: unknown): string | undefined {
  if (error instanceof LineError) return error.message;
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code !== "string" || code.length !== 5 || !DATA_FAULT.test(code)) return undefined;
  return `PostgreSQL refuses it: ${message}`;
}

function explainFrozen(error: unknown): never {
  if ((error as { constraint_name?: string }).constraint_name !== "release_frozen") throw error;
  throw new CommandError(
    "another import froze a release that this one was filling: run this import again",
  );
}

function count(counts: Map<string, number>, kind: string, number: number): void {
  counts.set(kind, (counts.get(kind) ?? 0) + number);
}
