import { findWritableProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { durationAt } from "../../observability/question-counts.ts";
import { WEAK_SCORE } from "../../shared/limits.ts";
import { ProjectParams } from "../../shared/schemas.ts";
import { readQuestionDays, readQuestions, type StoredDay } from "./queries.ts";
import { firstOf, type QuestionLog } from "./question-log.ts";
import { DAYS_DEFAULT, QuestionQuery, QuestionReport } from "./schema.ts";

const LISTED_MAX = 50;

const EXAMPLE: QuestionReport = {
  counted: true,
  ...{ asked: 412, without_hits: 9, p50_ms: 2.1, p95_ms: 6.8, p99_ms: 14.2 },
  frequent: [{ question: "how do releases share files", asked: 61, without_hits: 0 }],
  unanswered: [{ question: "price list", asked: 6, without_hits: 6 }],
  days: [
    { day: "2026-01-06", asked: 412, without_hits: 9, p50_ms: 2.1, p95_ms: 6.8, p99_ms: 14.2 },
  ],
};

/** The sums of some days. */
function sumsOf(days: readonly Omit<StoredDay, "day">[]) {
  const sum = (of: (day: Omit<StoredDay, "day">) => number) =>
    days.reduce((all, each) => all + of(each), 0);
  const durations = days[0]?.durations.map((_, i) => sum((each) => each.durations[i] ?? 0)) ?? [];
  return {
    asked: sum(({ asked }) => asked),
    without_hits: sum((each) => each.without_hits),
    p50_ms: durationAt(0.5, durations),
    p95_ms: durationAt(0.95, durations),
    p99_ms: durationAt(0.99, durations),
  };
}

async function readReport(sql: Sql, project: string, from: string): Promise<QuestionReport> {
  const listed = { project, from, limit: LISTED_MAX };
  const [days, frequent, unanswered] = await Promise.all([
    readQuestionDays(sql, project, from),
    readQuestions(sql, { ...listed, by: "asked" }),
    readQuestions(sql, { ...listed, by: "without_hits" }),
  ]);
  const byDay = days.map((each) => ({ day: each.day, ...sumsOf([each]) }));
  return { counted: true, ...sumsOf(days), frequent, unanswered, days: byDay };
}

const NOT_COUNTED: QuestionReport = {
  ...{ counted: false, ...sumsOf([]), frequent: [], unanswered: [], days: [] },
};

/** GET /projects/{project_reference}/questions. */
export function questionsOperation({
  sql,
  questions,
}: {
  readonly sql: Sql;
  readonly questions: QuestionLog;
}): Operation {
  return operation({
    id: "getQuestions",
    method: "GET",
    path: "/projects/{project_reference}/questions",
    tag: "Projects",
    summary: "Read the questions that a project is asked",
    description:
      "How many lookups and retrievals in words the project has answered by day, how many of them had no hits, or in a " +
      `retrieval only weak ones with scores below ${WEAK_SCORE}, and how long they took, with the most frequent ` +
      "questions. First pages count, and searches by a vector do not. Those of other servers come within a minute. " +
      "Of a day 1,000 different questions are kept, the most frequent, and of 30 days at all. Who asked is not kept. " +
      "The caller needs the role `owner` or `editor`.",
    extension: true,
    permission: "projects.read",
    params: ProjectParams,
    query: QuestionQuery,
    response: QuestionReport,
    responseExample: EXAMPLE,
    problems: ["permission-denied", "project-not-found"],
    async handle({ params, query, principal }) {
      const { id } = await findWritableProject(sql, principal, params.project_reference);
      if (questions.counts === undefined) return NOT_COUNTED;
      // The answer includes the questions that this server has counted until now.
      await questions.store();
      return await readReport(sql, id, firstOf(Number(query.days ?? DAYS_DEFAULT)));
    },
  });
}
