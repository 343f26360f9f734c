import { describe, expect, test } from "bun:test";
import { TextBatches, TextsAtFault } from "../../../../src/embed/embedders/text-batches.ts";

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

describe("an endpoint that refuses requests with many texts", () => {
  /** Sends texts to an endpoint that takes this many of them. */
  function sizesFor(most: () => number, limit?: number, first?: number) {
    const sizes: number[] = [];
    let refused = 0;
    const batches = new TextBatches(
      async (inputs) => {
        if (inputs.length > most()) {
          refused++;
          throw new TextsAtFault("too many", "refused");
        }
        sizes.push(inputs.length);
        return inputs.map(() => Float32Array.of(1));
      },
      ...([limit, first] as const),
    );
    const embed = async (texts: number) => {
      [sizes.length, refused] = [0, 0];
      await batches.embed(
        Array.from({ length: texts }, () => ({ headings: [], content: "x" })),
        {},
      );
      return { sizes: [...sizes], refused };
    };
    return { embed, batches };
  }

  test.each([1, 8, 32])("for a while gets as many as before again: %d", async (few) => {
    let most: number = few;
    const { embed, batches } = sizesFor(() => most);
    await embed(64);
    expect(batches.maxInputs).toBe(few);
    most = 64;
    const { sizes } = await embed(4_096);
    expect(sizes[0]).toBe(few);
    const grown = sizes.slice(0, -1);
    expect(grown).toEqual(grown.toSorted((a, b) => a - b));
    expect(batches.maxInputs).toBe(64);
  });

  test("for good is asked for more ever more rarely", async () => {
    const { embed } = sizesFor(() => 10);
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) counts.push((await embed(8_000)).refused);
    const [first = 0, , , last = 0] = counts;
    expect(first).toBeWithin(5, 20);
    expect(last).toBeLessThanOrEqual(1);
  });

  test("gets no more than it is configured with, and begins with the number that is known", async () => {
    const { embed, batches } = sizesFor(() => 64, 16, 4);
    const { sizes, refused } = await embed(1_000);
    expect([sizes[0], Math.max(...sizes), refused, batches.maxInputs]).toEqual([4, 16, 0, 16]);
    expect(sizesFor(() => 64, 16, 99).batches.maxInputs).toBe(16);
  });

  test("because it was too slow for them gets more again, from one text on", async () => {
    let isSlow = true;
    const sizes: number[] = [];
    const batches = new TextBatches(async (inputs) => {
      if (isSlow && inputs.length > 1) throw new TextsAtFault("slow", "slow");
      sizes.push(inputs.length);
      return inputs.map(() => Float32Array.of(1));
    });
    const passages = Array.from({ length: 64 }, () => ({ headings: [], content: "x" }));
    await batches.embed(passages, {});
    isSlow = false;
    await batches.embed([...passages, ...passages], {});
    expect(sizes.slice(64)).toContain(64);
  });
});
