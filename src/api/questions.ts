import { type Static, Type } from "@sinclair/typebox";
import { findWritableProject } from "../auth/project-access.ts";
import type { Sql } from "../db/client.ts";
import { WEAK_SCORE } from "../domain/limits.ts";
import {
  count,
  described,
  flag,
  listOf,
  nullable,
  ProjectParams,
  text,
} from "../domain/schemas.ts";
import { type Operation, operation } from "../http/operation.ts";
import { durationAt } from "../ops/observability/question-counts.ts";
import { readQuestionDays, readQuestions, type StoredDay } from "../query/questions/queries.ts";
import { firstOf, QUESTION_DAYS_MAX, type QuestionLog } from "../query/questions/question-log.ts";

const DAYS_DEFAULT = 7;

const QuestionQuery = Type.Object({
  days: Type.Optional(
    Type.String({
      pattern: "^(?:[1-9]|[12]\\d|30)$",
      errorMessage: `must be a whole number from 1 to ${QUESTION_DAYS_MAX}`,
      description: `The last days that are read, with today, in UTC. Default: ${DAYS_DEFAULT}.`,
      documentedAs: Type.Integer({ minimum: 1, maximum: QUESTION_DAYS_MAX }),
      examples: [DAYS_DEFAULT],
    }),
  ),
});

const asked = count("How often it was asked.");
const without_hits = count("How often it had no hits, or only weak ones.");

const Question = described("Question", "A question and how often it was asked.", {
  question: text(
    "The first 200 characters, in lower case. Questions that differ in case and white space only are one.",
  ),
  asked,
  without_hits,
});

const duration = (share: string) =>
  nullable(
    Type.Number({ minimum: 0 }),
    `Milliseconds in which ${share} of the answers were there, to some ten percent; null without questions.`,
  );

const sums = {
  asked: count("How many questions there were."),
  without_hits: count("Those that had no hits, or only weak ones."),
  p50_ms: duration("half"),
  p95_ms: duration("95 %"),
  p99_ms: duration("99 %"),
};

const QuestionDay = described("QuestionDay", "The questions of a day.", {
  day: Type.String({ format: "date", description: "The day, in UTC." }),
  ...sums,
});

const QuestionReport = described(
  "QuestionReport",
  "The questions in words that a project is asked.",
  {
    counted: flag("False if this service counts no questions."),
    ...sums,
    frequent: listOf(Question, "The most frequent, at most 50."),
    unanswered: listOf(Question, "Those that were without hits most often, at most 50."),
    days: listOf(QuestionDay, "Days on which anything was asked, oldest first."),
  },
);
type QuestionReport = Static<typeof QuestionReport>;

const LISTED_MAX = 50;

const EXAMPLE: QuestionReport = {
  counted: true,
  asked: 412,
  without_hits: 9,
  p50_ms: 2.1,
  p95_ms: 6.8,
  p99_ms: 14.2,
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
  counted: false,
  ...sumsOf([]),
  frequent: [],
  unanswered: [],
  days: [],
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
