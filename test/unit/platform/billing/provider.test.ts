import { describe, expect, spyOn, test } from "bun:test";
import { createProvider } from "../../../../src/platform/billing/provider.ts";
import { type Provider, ProviderError } from "../../../../src/platform/billing/provider-error.ts";
import { sessionOf } from "../../../../src/platform/billing/session.ts";
import { BillingProvider, type Reaction } from "../../../../support/api/billing-provider.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

const SECRET = "sk_test_neverToBeSeen0123456789";
const PARAMS = {
  mode: "subscription" as const,
  line_items: [{ price: "price_pro", quantity: 1 }],
};

/** No answer of this process takes that long. */
const LONG_MS = 60_000;

function setUp(attemptTimeoutMs = LONG_MS): { double: BillingProvider; provider: Provider } {
  const prices = { price_pro: { amount: 1_999, currency: "usd" } };
  const double = new BillingProvider({ secretKey: SECRET, prices });
  const provider = createProvider({ secretKey: SECRET, apiBase: double.url, attemptTimeoutMs });
  return { double, provider };
}

async function failure(work: Promise<unknown>): Promise<ProviderError> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError);
    return error as ProviderError;
  }
  throw new Error("expected a ProviderError");
}

/** Rejects, as `fetch` does, when the signal of the request is aborted. */
const never = ({ signal }: RequestInit) =>
  new Promise<Response>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });
const stalling = async (init: RequestInit) =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"id":'));
        void never(init).catch((reason) => controller.error(reason));
      },
    }),
  );
const answering = (text: string, status = 200): Reaction => {
  return () => new Response(text, { status, headers: { "content-type": "application/json" } });
};

describe("a payment provider that does not answer", () => {
  useFakeClock();
  const ATTEMPT_MS = 3_000;
  /** The SDK pauses for less before each retry. */
  const PAUSE_MS = 1_500;

  test.each([
    ["never answers", never],
    ["stalls in the middle of its response", stalling],
  ])(
    "a provider that %s fails after three attempts with one idempotency key",
    async (_, answer) => {
      const keys: unknown[] = [];
      const send = async (_url: unknown, init: RequestInit = {}) => {
        keys.push(new Headers(init.headers).get("idempotency-key"));
        return await answer(init);
      };
      const sending = spyOn(globalThis, "fetch").mockImplementation(send as typeof fetch);
      const { provider } = setUp(ATTEMPT_MS);
      const failed = failure(provider.openSession(PARAMS, "the-key"));
      await advance(3 * ATTEMPT_MS + 2 * PAUSE_MS);
      const { refusal, answered } = await failed;
      expect({ refusal, answered }).toEqual({ refusal: null, answered: false });
      expect(keys).toEqual(["the-key", "the-key", "the-key"]);
      sending.mockRestore();
      expect((await provider.openSession(PARAMS, "the-key")).isOpen).toBe(true);
    },
  );
});

describe("the payment provider", () => {
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
  ])(
    "the response %s is rejected as malformed, and the next valid one is accepted",
    async (text) => {
      const { double, provider } = setUp();
      double.react(answering(text));
      const { refusal, answered } = await failure(provider.openSession(PARAMS, "k"));
      expect({ refusal, answered }).toEqual({ refusal: null, answered: false });
      expect((await provider.openSession(PARAMS, "k")).isOpen).toBe(true);
    },
  );

  test("a redirect is never followed with the secret key", async () => {
    const { double, provider } = setUp();
    const other = setUp().double;
    const redirect: Reaction = ({ path }) => Response.redirect(`${other.url}${path}`, 307);
    double.react(redirect, redirect, redirect);
    expect((await failure(provider.openSession(PARAMS, "k"))).refusal).toBeNull();
    expect(other.received).toHaveLength(0);
  });

  test("an endless response does not exhaust the memory", async () => {
    const { double, provider } = setUp();
    const endless: Reaction = () =>
      new Response(
        new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
      );
    double.react(endless, endless, endless);
    expect((await failure(provider.openSession(PARAMS, "k"))).answered).toBe(false);
  });

  test("a provider error never contains a secret key", async () => {
    const { double, provider } = setUp();
    const leak: Reaction = ({ headers }) =>
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
    double.react(leak);
    const caught = await failure(provider.openSession(PARAMS, "k"));
    expect(caught.refusal).toContain("[redacted]");
    const shown = Bun.inspect(caught) + JSON.stringify(caught) + caught.stack;
    for (const secret of [SECRET, "sk_live_other123", "rk_test_other456"]) {
      expect(shown).not.toContain(secret);
    }
  });

  test("retrieving a session is not retried, and returns unknown without a usable answer", async () => {
    const { double, provider } = setUp();
    const { id } = await provider.openSession(PARAMS, "k");
    expect(await provider.retrieveSession(id)).toMatchObject({ id, isOpen: true });
    const before = double.received.length;
    double.react(answering("{}", 500));
    expect(await provider.retrieveSession(id)).toBe("unknown");
    double.react(answering("[]"));
    expect(await provider.retrieveSession(id)).toBe("unknown");
    expect(double.received).toHaveLength(before + 2);
    expect(await provider.retrieveSession("cs_unknown")).toBeNull();
    await double.stop();
    expect(await provider.retrieveSession(id)).toBe("unknown");
    const { refusal, answered } = await failure(provider.openSession(PARAMS, "k"));
    expect({ refusal, answered }).toEqual({ refusal: null, answered: false });
  });
});

describe("parsing a session", () => {
  const answer = { id: "cs_1", url: "https://checkout.example.com/", status: "open" as const };

  test("a session may lack its amount, currency and expiry", () => {
    const session = sessionOf(answer);
    expect(session).toMatchObject({ id: "cs_1", isOpen: true, due: null, customerId: null });
    expect(session?.expiresAt.getTime()).toBeGreaterThan(Date.now());
    expect(sessionOf({ ...answer, amount_total: 5, currency: null })?.due).toBeNull();
  });

  test("the customer of a session is an id or an object", () => {
    expect(sessionOf({ ...answer, customer: "cus_1" })?.customerId).toBe("cus_1");
    expect(sessionOf({ ...answer, customer: { id: "cus_1" } })?.customerId).toBe("cus_1");
    expect(sessionOf({ ...answer, customer: { deleted: true } })?.customerId).toBeNull();
  });

  test("a complete or expired session is not open and needs no URL", () => {
    expect(sessionOf({ ...answer, status: "complete", url: null })?.isOpen).toBe(false);
    expect(sessionOf({ ...answer, status: "expired", url: null })?.isOpen).toBe(false);
  });
});
