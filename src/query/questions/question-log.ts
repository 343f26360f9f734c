import type { Sql } from "../../db/client.ts";
import { transaction } from "../../db/transaction.ts";
import type { Log } from "../../ops/observability/log.ts";
import { runPeriodically } from "../../ops/observability/periodic.ts";
import {
  dayOf,
  QuestionCounts,
  type QuestionDay,
} from "../../ops/observability/question-counts.ts";
import { addQuestions, deleteQuestions } from "./queries.ts";

/** Interval between writes of the counts to the database. A crash loses the questions of one interval. */
const STORE_INTERVAL_MS = 60_000;
/** Days that are kept, with the present one. */
export const QUESTION_DAYS_MAX = 30;

const DAY_MS = 86_400_000;
/** After every day. */
const NEVER = "9999-12-31";

/** The first of the last days, as in `2026-01-06`. */
export const firstOf = (days: number): string => dayOf(Date.now() - (days - 1) * DAY_MS);

/** The questions that projects are asked: counted in memory, and stored by day. */
export class QuestionLog {
  /** Undefined when counting is off. */
  readonly counts: QuestionCounts | undefined;
  #closed = false;
  /** Counts that the database has not stored yet. */
  #unstored: QuestionDay[] = [];
  #storing: Promise<void> | undefined;
  /** The day on which old days were deleted last. */
  #cleanedOn = "";

  /** @param isOn false to count no questions, and to delete the stored ones */
  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    isOn: boolean,
  ) {
    this.counts = isOn ? new QuestionCounts() : undefined;
    const isStopping = () => this.#closed;
    const periodic = { task: "storing questions", intervalMs: STORE_INTERVAL_MS, log, isStopping };
    runPeriodically(periodic, () => this.store());
    if (!isOn) void this.#storeOrLog();
  }

  /** Stores all counts up to now. Throws an error of the database. */
  async store(): Promise<void> {
    // A running store may lack the newest counts, so wait for it and store again.
    await this.#storing?.catch(() => {});
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
    await this.#storing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#storeOrLog();
  }

  async #store(): Promise<void> {
    await this.#storeUnstored();
    this.#unstored = this.counts?.take() ?? [];
    await this.#storeUnstored();
    const today = dayOf(Date.now());
    if (this.#cleanedOn === today) return;
    await deleteQuestions(this.sql, this.counts ? firstOf(QUESTION_DAYS_MAX) : NEVER);
    this.#cleanedOn = today;
  }

  async #storeUnstored(): Promise<void> {
    const days = this.#unstored;
    if (days.length > 0) await transaction(this.sql, (tx) => addQuestions(tx, days));
    this.#unstored = [];
  }

  async #storeOrLog(): Promise<void> {
    await this.store().catch((err: unknown) => {
      this.log.warn({ err }, "could not store questions");
    });
  }
}
