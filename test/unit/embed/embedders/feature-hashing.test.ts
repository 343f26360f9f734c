import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { embed, embedPassage } from "../../../../src/embed/embedders/feature-hashing.ts";

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

describe("feature hashing", () => {
  test("returns a unit vector for any text and dimension", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.integer({ min: 1, max: 4096 }),
        (text, size) => {
          const vector = embed(text, size);
          expect(vector.length).toBe(size);
          expect(Math.abs(cosine(vector, vector) - 1)).toBeLessThan(1e-4);
        },
      ),
    );
  });

  test("returns the same vector for the same text on every machine", () => {
    const vector = embed("How to restore a backup");
    const largest = [...vector.entries()].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    expect(largest.slice(0, 4).map(([i, value]) => [i, value.toFixed(5)])).toEqual([
      [27, "0.48629"],
      [111, "0.48629"],
      [367, "-0.34040"],
      [673, "-0.34040"],
    ]);
  });

  test("gives texts that share words a higher similarity than others", () => {
    const question = embed("restore the database from a backup");
    const near = cosine(question, embed("Restoring databases from backups"));
    const some = cosine(question, embed("How a database keeps its pages"));
    const far = cosine(question, embed("Umlaute und Tippfehler"));
    expect(near).toBeGreaterThan(some);
    expect(some).toBeGreaterThan(far);
    expect(far).toBeLessThan(0.2);
    expect(some).toBeLessThan(0.7);
  });

  test("puts only a query that repeats a heading above the default threshold", () => {
    const passage = embedPassage(
      ["Operations", "Backups and restore drills"],
      "Restore into an empty machine every month, start the service on it and compare answers.",
    );
    expect(cosine(embed("backups and restore drills"), passage)).toBeGreaterThan(0.7);
    expect(cosine(embed("operations"), passage)).toBeLessThan(0.7);
    expect(cosine(embed("navigable small world graphs"), passage)).toBeLessThan(0.2);
  });
});
