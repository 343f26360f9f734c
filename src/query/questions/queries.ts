import type { Queryable, Transaction } from "../../db/client.ts";
import type { QuestionDay } from "../../ops/observability/question-counts.ts";

/** Different questions of a project and day that are kept: the most frequent. */
const DAY_QUESTIONS_MAX = 1_000;

/** Adds counts to the stored ones. Skips projects that are being deleted. */
export async function addQuestions(tx: Transaction, days: readonly QuestionDay[]): Promise<void> {
  const projects = [...new Set(days.map(({ project }) => project))];
  const found = await tx<{ id: string }[]>`
    SELECT id FROM projects WHERE id = ANY (${projects}::uuid[]) FOR KEY SHARE SKIP LOCKED`;
  const known = new Set(found.map(({ id }) => id));
  const kept = days.filter(({ project }) => known.has(project));
  const sums = JSON.stringify(kept.map(({ questions: _, ...day }) => day));
  const questions = kept.flatMap(({ project, day, questions: of }) =>
    [...of].map(([question, tally]) => ({ project, day, question, ...tally })),
  );
  // Each node locks rows in the same order.
  await tx`
    INSERT INTO question_days (project_id, day, asked, without_hits, durations)
    SELECT project, day, asked, without_hits, durations
    FROM jsonb_to_recordset(${sums}::text::jsonb)
      AS r (project uuid, day date, asked bigint, without_hits bigint, durations bigint[])
    ORDER BY project, day
    ON CONFLICT (project_id, day) DO UPDATE SET asked = question_days.asked + excluded.asked,
      without_hits = question_days.without_hits + excluded.without_hits,
      durations = ARRAY(SELECT a + b
        FROM unnest(question_days.durations, excluded.durations) WITH ORDINALITY AS t (a, b, n) ORDER BY n)`;
  await tx`
    INSERT INTO questions (project_id, day, question, asked, without_hits)
    SELECT project, day, question, asked, without_hits
    FROM jsonb_to_recordset(${JSON.stringify(questions)}::text::jsonb)
      AS r (project uuid, day date, question text, asked bigint, without_hits bigint)
    ORDER BY project, day, question
    ON CONFLICT (project_id, day, question) DO UPDATE SET asked = questions.asked + excluded.asked,
      without_hits = questions.without_hits + excluded.without_hits`;
  await tx`
    DELETE FROM questions WHERE ctid = ANY (ARRAY(
      SELECT rest.ctid FROM jsonb_to_recordset(${sums}::text::jsonb) AS r (project uuid, day date)
      CROSS JOIN LATERAL (
        SELECT q.ctid FROM questions q WHERE q.project_id = r.project AND q.day = r.day
        ORDER BY q.asked DESC, q.question OFFSET ${DAY_QUESTIONS_MAX}) AS rest))`;
}

/** Deletes the days before the given one, as in `2026-01-06`. */
export async function deleteQuestions(sql: Queryable, before: string): Promise<void> {
  await sql`DELETE FROM question_days WHERE day < ${before}::date`;
}

export interface StoredDay {
  readonly day: string;
  readonly asked: number;
  readonly without_hits: number;
  readonly durations: readonly number[];
}

/** The days of a project from the given one on, oldest first. */
export async function readQuestionDays(
  sql: Queryable,
  project: string,
  from: string,
): Promise<StoredDay[]> {
  return await sql<StoredDay[]>`
    SELECT day::text AS day, asked::float8 AS asked, without_hits::float8 AS without_hits,
      durations::float8[] AS durations
    FROM question_days WHERE project_id = ${project} AND day >= ${from}::date ORDER BY question_days.day`;
}

interface StoredQuestion {
  readonly question: string;
  readonly asked: number;
  readonly without_hits: number;
}

/** The questions of a project from a day on that were asked, or were without hits, most often. */
export async function readQuestions(
  sql: Queryable,
  {
    project,
    from,
    by,
    limit,
  }: Record<"project" | "from", string> & {
    readonly by: "asked" | "without_hits";
    readonly limit: number;
  },
): Promise<StoredQuestion[]> {
  return await sql<StoredQuestion[]>`
    SELECT question, sum(asked)::float8 AS asked, sum(without_hits)::float8 AS without_hits
    FROM questions WHERE project_id = ${project} AND day >= ${from}::date
    GROUP BY question HAVING sum(${sql(by)}) > 0
    ORDER BY sum(${sql(by)}) DESC, question COLLATE "C" LIMIT ${limit}`;
}
