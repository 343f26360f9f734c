import { type Static, Type } from "@sinclair/typebox";
import { count, described, flag, listOf, nullable, text } from "../../shared/schemas.ts";
import { QUESTION_DAYS_MAX } from "./question-log.ts";

export const DAYS_DEFAULT = 7;

export const QuestionQuery = Type.Object({
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

export const QuestionReport = described(
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
export type QuestionReport = Static<typeof QuestionReport>;
