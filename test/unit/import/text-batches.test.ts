import { describe, expect, test } from "bun:test";
import { TextBatches, TextsAtFault } from "../../../src/import/embedders/text-batches.ts";

/** What an endpoint takes of a text: the number of its characters, or undefined for a text that fits. */
type Fitting = (text: string) => number | undefined;

/**
 * Batches for an endpoint that refuses requests with texts that do not fit, and says how much of them does unless it is
 * `silent`. The vector of a text has its length, and the share of each of the letters x and y.
 */
function batchesFor(fitting: Fitting, { silent = false } = {}) {
  const requests: { readonly lengths: readonly number[]; readonly isRefused: boolean }[] = [];
  const batches = new TextBatches(async (inputs) => {
    const fits = new Map<number, number>();
    for (const [i, text] of inputs.entries()) {
      const chars = fitting(text);
      if (chars !== undefined) fits.set(i, chars);
    }
    requests.push({ lengths: inputs.map(({ length }) => length), isRefused: fits.size > 0 });
    if (fits.size > 0) {
      throw new TextsAtFault("too long", "refused", silent ? {} : { fits });
    }
    return inputs.map((text) => {
      const count = (letter: string) => text.split(letter).length - 1;
      return Float32Array.of(count("x") / text.length, count("y") / text.length, 0.001);
    });
  });
  const embed = (...contents: string[]) =>
    batches.embed(
      contents.map((content) => ({ headings: [], content })),
      {},
    );
  return { embed, requests };
}

const upTo =
  (chars: number): Fitting =>
  (text) =>
    text.length > chars ? chars : undefined;

describe("a text that is longer than an endpoint takes", () => {
  test("is cut to the size that fits after one refusal", async () => {
    const { embed, requests } = batchesFor(upTo(500));
    const [outcome] = await embed("字".repeat(100_000));
    expect(outcome).toMatchObject({ parts: 200 });
    expect(requests.map(({ isRefused }) => isRefused)).toEqual([
      true,
      ...Array<boolean>(200).fill(false),
    ]);
    expect(requests.slice(1).every(({ lengths: [chars] }) => chars === 500)).toBe(true);
  });

  test("is cut smaller from the first part on whose tokens are too many", async () => {
    const dense = 20_000;
    // At first only the length is known to be too much.
    const { embed, requests } = batchesFor((text) => {
      if (text.length > 8_192) return 8_192;
      return text.length > 500 ? 450 : undefined;
    });
    const [outcome] = await embed("字".repeat(dense));
    expect(requests.filter(({ isRefused }) => isRefused).map(({ lengths }) => lengths)).toEqual([
      [dense],
      [Math.ceil(dense / 3)],
    ]);
    expect(outcome).toMatchObject({ parts: Math.ceil(dense / 450) });
  });

  test("sends only those beside it again, which are embedded as a whole", async () => {
    const { embed, requests } = batchesFor(upTo(1_000));
    const texts = ["x", "y", "x".repeat(2_500), "y", "x".repeat(1_500), "x"];
    const outcomes = await embed(...texts);
    expect(outcomes.map((outcome) => "parts" in outcome && outcome.parts)).toEqual([
      1, 1, 3, 1, 2, 1,
    ]);
    expect(requests.map(({ lengths }) => lengths)).toEqual([
      texts.map(({ length }) => length),
      [1, 1],
      ...[[834], [833], [833]],
      [1],
      ...[[750], [750]],
      [1],
    ]);
    // Nothing is known of texts that fit, and requests have as many of them as before.
    requests.length = 0;
    await embed(...Array<string>(64).fill("x"));
    expect(requests.map(({ lengths }) => lengths.length)).toEqual([64]);
  });

  test("of an endpoint that does not say how much fits is halved, and no part is tried at a length that was refused", async () => {
    const { embed, requests } = batchesFor(upTo(1_000), { silent: true });
    const [outcome] = await embed("x".repeat(32_000));
    expect(outcome).toMatchObject({ parts: 32 });
    const lengths = requests.map(({ lengths: [chars] }) => chars);
    expect(lengths).toEqual([32_000, 16_000, 8_000, 4_000, 2_000, ...Array(32).fill(1_000)]);
  });

  test("has the mean of its parts as its vector, in which longer parts count for more", async () => {
    const { embed } = batchesFor((text) => {
      if (text.length > 1_000) return 1_000;
      return text.includes("y") && text.length > 250 ? 250 : undefined;
    });
    const [outcome] = await embed("x".repeat(900) + "y".repeat(500));
    expect(outcome).toMatchObject({ parts: 4 });
    const [x = 0, y = 0] = "vector" in outcome! ? outcome.vector : [];
    expect(Math.hypot(x, y)).toBeCloseTo(1, 2);
    expect(x / y).toBeGreaterThan(1.2);
  });

  test.each([false, true])(
    "fails with a reason where no part fits (silent: %p)",
    async (silent) => {
      const { embed, requests } = batchesFor(() => 1, { silent });
      const [outcome] = await embed("x".repeat(1_600));
      expect(outcome).toEqual({ reason: "too long" });
      expect(requests.length).toBeLessThan(6);
    },
  );

  test("keeps its characters: none is lost, repeated or torn", async () => {
    const seen: string[] = [];
    const batches = new TextBatches(async (inputs) => {
      const [text = ""] = inputs;
      if (text.length > 300) throw new TextsAtFault("", "refused", { fits: new Map([[0, 300]]) });
      seen.push(text);
      return [Float32Array.of(1)];
    });
    const text = "😀 ab".repeat(777);
    await batches.embed([{ headings: [], content: text }], {});
    expect(seen.join("")).toBe(text);
    expect(seen.every((part) => part.isWellFormed())).toBe(true);
  });
});

test("requests wait for turns, one by one", async () => {
  const order: string[] = [];
  const batches = new TextBatches(async ([text = ""]) => {
    order.push(`sent ${text.length}`);
    if (text.length > 400) {
      throw new TextsAtFault("", "refused", { fits: new Map([[0, 400]]) });
    }
    return [Float32Array.of(1)];
  });
  await batches.embed([{ headings: [], content: "x".repeat(800) }], {
    async inTurn(request) {
      order.push("turn");
      return await request();
    },
  });
  expect(order).toEqual(["turn", "sent 800", "turn", "sent 400", "turn", "sent 400"]);
});
