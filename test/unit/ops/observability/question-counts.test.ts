import { describe, expect, test } from "bun:test";
import {
  durationAt,
  QuestionCounts,
  type QuestionDay,
} from "../../../../src/ops/observability/question-counts.ts";

const NOON = Date.parse("2026-01-06T12:00:00Z");
const PROJECT_QUESTIONS_MAX = 500;
const QUESTIONS_MAX = 10_000;

const keptOf = (days: readonly QuestionDay[]) =>
  days.reduce((sum, { questions }) => sum + questions.size, 0);

describe("counted questions", () => {
  test("of a day in UTC have sums, and each question its own, until they are taken", () => {
    const counts = new QuestionCounts();
    counts.add("a", "Rope", 3, 2, NOON);
    counts.add("a", " rope ", 0, 2, NOON);
    counts.add("a", "crane", 0, 2, NOON);
    counts.add("a", "rope", 1, 2, NOON + 43_200_000);
    counts.add("b", "rope", 1, 2, NOON);
    const days = counts.take();
    const shown = days.map(({ durations, questions, ...day }) => ({ ...day, of: [...questions] }));
    expect(shown).toEqual([
      {
        project: "a",
        day: "2026-01-06",
        asked: 3,
        without_hits: 2,
        of: [
          ["rope", { asked: 2, without_hits: 1 }],
          ["crane", { asked: 1, without_hits: 1 }],
        ],
      },
      {
        project: "a",
        day: "2026-01-07",
        asked: 1,
        without_hits: 0,
        of: [["rope", { asked: 1, without_hits: 0 }]],
      },
      {
        project: "b",
        day: "2026-01-06",
        asked: 1,
        without_hits: 0,
        of: [["rope", { asked: 1, without_hits: 0 }]],
      },
    ]);
    expect(counts.take()).toEqual([]);
  });

  test("are texts that PostgreSQL stores, whatever was sent", () => {
    const counts = new QuestionCounts();
    for (const question of ["a\0b", "A \n b", "\ud800", "e\u0301"]) counts.add("a", question, 1, 1);
    const [day] = counts.take();
    expect([...(day as QuestionDay).questions.keys()]).toEqual(["a b", "\ufffd", "\u00e9"]);
  });

  test("of a flood of different ones are as many as there is room for, with all in the sums, and others keep theirs", () => {
    const counts = new QuestionCounts();
    counts.add("other", "rope", 1, 1, NOON);
    for (let i = 0; i < 3 * PROJECT_QUESTIONS_MAX; i++)
      counts.add("a", `question ${i}`, 0, 1, NOON);
    counts.add("a", "question 0", 0, 1, NOON);
    const [other, flooded] = counts.take();
    expect(other?.questions.get("rope")?.asked).toBe(1);
    expect(flooded?.questions.size).toBe(PROJECT_QUESTIONS_MAX);
    expect(flooded?.questions.get("question 0")?.asked).toBe(2);
    expect(flooded?.asked).toBe(3 * PROJECT_QUESTIONS_MAX + 1);
  });

  test("of floods in many projects are bounded, and projects with few keep theirs", () => {
    const counts = new QuestionCounts();
    counts.add("other", "rope", 1, 1, NOON);
    for (let project = 0; project < 30; project++) {
      for (let i = 0; i < PROJECT_QUESTIONS_MAX; i++)
        counts.add(`p${project}`, `q${i}`, 1, 1, NOON);
    }
    const days = counts.take();
    expect(keptOf(days)).toBeLessThanOrEqual(QUESTIONS_MAX);
    expect(keptOf(days)).toBeGreaterThan(QUESTIONS_MAX / 2);
    expect(days[0]?.questions.size).toBe(1);
    for (let project = 0; project < 20_000; project++) counts.add(`p${project}`, "q", 1, 1, NOON);
    expect(counts.take().length).toBeLessThanOrEqual(5_000);
  });
});

test("the durations of answers are known to some ten percent, also those beyond all bounds", () => {
  const counts = new QuestionCounts();
  for (let ms = 1; ms <= 1_000; ms++) counts.add("a", "q", 1, ms, NOON);
  const [day] = counts.take();
  for (const share of [0.5, 0.95, 0.99]) {
    const found = durationAt(share, (day as QuestionDay).durations) as number;
    expect(Math.abs(found / (1_000 * share) - 1)).toBeLessThan(0.2);
  }
  counts.add("a", "q", 1, 3_600_000, NOON);
  const [slow] = counts.take();
  expect(durationAt(0.5, (slow as QuestionDay).durations)).toBeGreaterThan(10_000);
  expect(durationAt(0.5, [])).toBeNull();
});
