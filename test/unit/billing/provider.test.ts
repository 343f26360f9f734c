import { describe, expect, test } from "bun:test";
import { createProvider, type Provider, ProviderFailure } from "../../../src/billing/provider.ts";
import { sessionOf } from "../../../src/billing/session.ts";
import { BillingProvider, type Reaction } from "../../support/billing-provider.ts";

const SECRET = "sk_test_neverToBeSeen0123456789";
const PARAMS = {
  mode: "subscription" as const,
  line_items: [{ price: "price_pro", quantity: 1 }],
};

function setUp(attemptTimeoutMs = 2_000): { double: BillingProvider; provider: Provider } {
  const prices = { price_pro: { amount: 1_999, currency: "usd" } };
  const double = new BillingProvider({ secretKey: SECRET, prices });
  const provider = createProvider({ secretKey: SECRET, apiBase: double.url, attemptTimeoutMs });
  return { double, provider };
}

async function failure(work: Promise<unknown>): Promise<ProviderFailure> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderFailure);
    return error as ProviderFailure;
  }
  throw new Error("it did not fail");
}

const never: Reaction = () => new Promise(() => {});
const stalling: Reaction = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
    }),
  );
const answering = (text: string, status = 200): Reaction => {
  return () => new Response(text, { status, headers: { "content-type": "application/json" } });
};

describe("the payment provider", () => {
  test.each([
    ["never answers", never],
    ["stalls in the middle of its answer", stalling],
  ])("that %s is given up after three attempts with one idempotency key", async (_, reaction) => {
    const { double, provider } = setUp(150);
    double.react(reaction, reaction, reaction);
    const { refusal, answered } = await failure(provider.open(PARAMS, "the-key"));
    expect({ refusal, answered }).toEqual({ refusal: null, answered: false });
    expect(double.received).toHaveLength(3);
    for (const { headers } of double.received) {
      expect(headers.get("idempotency-key")).toBe("the-key");
    }
    expect((await provider.open(PARAMS, "the-key")).isOpen).toBe(true);
  });

  test.each([
    "5",
    '"text"',
    "true",
    "null",
    "[]",
    "{}",
    "",
    "<html>",
    '{"error":5}',
    '{"error":"text"}',
    '{"id":"cs_1"}',
    '{"id":"cs_1","url":"javascript:alert(1)"}',
    '{"id":"cs_1","url":"not a URL"}',
    '{"id":7,"url":"https://checkout.example.com/"}',
    '{"id":"cs_1","url":"https://checkout.example.com/","amount_total":1.5,"currency":"usd"}',
    '{"id":"cs_1","url":"https://checkout.example.com/","amount_total":"5","currency":"usd"}',
    '{"id":"cs_1","url":"https://checkout.example.com/","amount_total":5,"currency":"u$d"}',
    '{"id":"cs_1","url":"https://checkout.example.com/","expires_at":9007199254740991}',
  ])("whose answer is %s has given no usable one, and the next is taken", async (text) => {
    const { double, provider } = setUp();
    double.react(answering(text));
    const { refusal, answered } = await failure(provider.open(PARAMS, "k"));
    expect({ refusal, answered }).toEqual({ refusal: null, answered: false });
    expect((await provider.open(PARAMS, "k")).isOpen).toBe(true);
  });

  test("is never followed elsewhere with the secret key", async () => {
    const { double, provider } = setUp();
    const other = setUp().double;
    const redirect: Reaction = ({ path }) => Response.redirect(`${other.url}${path}`, 307);
    double.react(redirect, redirect, redirect);
    expect((await failure(provider.open(PARAMS, "k"))).refusal).toBeNull();
    expect(other.received).toHaveLength(0);
  });

  test("cannot fill the memory with an endless answer", async () => {
    const { double, provider } = setUp();
    const endless: Reaction = () =>
      new Response(
        new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
      );
    double.react(endless, endless, endless);
    expect((await failure(provider.open(PARAMS, "k"))).answered).toBe(false);
  });

  test("repeats nothing of the secret key into its failures", async () => {
    const { double, provider } = setUp();
    const tell: Reaction = ({ headers }) =>
      Response.json(
        {
          error: {
            type: "invalid_request_error",
            message: `bad ${headers.get("authorization")} or sk_live_other123 or rk_test_other456`,
            code: `code ${SECRET}`,
            param: SECRET,
          },
        },
        { status: 400, headers: { "request-id": SECRET } },
      );
    double.react(tell);
    const caught = await failure(provider.open(PARAMS, "k"));
    expect(caught.refusal).toContain("[redacted]");
    const shown = Bun.inspect(caught) + JSON.stringify(caught) + caught.stack;
    for (const secret of [SECRET, "sk_live_other123", "rk_test_other456"]) {
      expect(shown).not.toContain(secret);
    }
  });

  test("is asked about a session once, and not believed when it cannot tell", async () => {
    const { double, provider } = setUp();
    const { id } = await provider.open(PARAMS, "k");
    expect(await provider.look(id)).toMatchObject({ id, isOpen: true });
    const before = double.received.length;
    double.react(answering("{}", 500));
    expect(await provider.look(id)).toBeNull();
    double.react(answering("[]"));
    expect(await provider.look(id)).toBeNull();
    expect(double.received).toHaveLength(before + 2);
    expect(await provider.look("cs_unknown")).toBe("gone");
    await double.stop();
    expect(await provider.look(id)).toBeNull();
  });
});

describe("a session in an answer", () => {
  const answer = { id: "cs_1", url: "https://checkout.example.com/", status: "open" as const };

  test("may leave out its amount, its currency and its end", () => {
    const session = sessionOf(answer);
    expect(session).toMatchObject({ id: "cs_1", isOpen: true, due: null, customerId: null });
    expect(session?.expiresAt.getTime()).toBeGreaterThan(Date.now());
    expect(sessionOf({ ...answer, amount_total: 5, currency: null })?.due).toBeNull();
  });

  test("names its customer by id or as an object", () => {
    expect(sessionOf({ ...answer, customer: "cus_1" })?.customerId).toBe("cus_1");
    expect(sessionOf({ ...answer, customer: { id: "cus_1" } })?.customerId).toBe("cus_1");
    expect(sessionOf({ ...answer, customer: { deleted: true } })?.customerId).toBeNull();
  });

  test("is over once it is complete or expired, and then needs no page", () => {
    expect(sessionOf({ ...answer, status: "complete", url: null })?.isOpen).toBe(false);
    expect(sessionOf({ ...answer, status: "expired", url: null })?.isOpen).toBe(false);
  });
});
