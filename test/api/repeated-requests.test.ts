import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { sharedBilling } from "../../support/api/billing.ts";
import { addDemo, type Example, examplesOfOne, operationsOf } from "./operation-examples.ts";

const AT_ONCE = 20;
const CODINGS = ["identity", "gzip", "br"] as const;
/** Bodies from this length on are compared by their hashes. */
const LONG_BYTES = 65_536;

/** Headers that differ between two answers to the same request by design. */
const VOLATILE_HEADERS = new Set([
  ...["connection", "content-length", "date", "keep-alive", "transfer-encoding"],
  ...["server-timing", "x-change", "x-request-id"],
]);
/** The parts of a body that do so: the time that was taken, the id of the request, and when servers report. */
const VOLATILE =
  /"search_time_ms":[\d.]+|"instance":"urn:request:[^"]+"|(?<="recall_samples":.*)"updated_at":"[^"]+"/g;
/** In answers to changes, and to questions with further pages: ids, times, secrets and cursors that are new each time. */
const MADE =
  /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|tsr_\w+|"next":"[^"]+"/g;

/** Pages of measurements, of which only the names stay the same. */
const MEASURED: Readonly<Record<string, (text: string) => unknown>> = {
  "/metrics": (text) => text.match(/^# TYPE .*$/gm),
};

/** Operations that one user may have few of under way; the others are answered 503. */
const BOUNDED = ["importRecords"];

const { api } = await sharedBilling();
const { owner } = await addDemo(api);
const operations = await operationsOf(api);

await api.untilIndexed(owner, "demo");

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent, in its coding. */
  readonly body: unknown;
}

const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: (bytes) => brotliDecompressSync(bytes),
  gzip: (bytes) => gunzipSync(bytes),
};

type Asked = Pick<Example, "method" | "path" | "headers" | "body">;

const isRead = ({ method }: Asked) => method === "GET" || method === "HEAD";

/** A text of an answer without the parts that differ by design. */
function steady(asked: Asked, text: string): string {
  const same = text.replaceAll(VOLATILE, "");
  return isRead(asked) ? same : same.replaceAll(MADE, "");
}

function bodyOf(asked: Asked, bytes: Uint8Array): unknown {
  const measured = asked.method === "GET" ? MEASURED[asked.path] : undefined;
  if (measured === undefined && bytes.length >= LONG_BYTES) return Bun.hash(bytes);
  const text = new TextDecoder().decode(bytes);
  return measured?.(text) ?? steady(asked, text);
}

/** The answer to a request, without the parts that differ by design, and its body after decoding. */
async function ask(asked: Asked, coding: string): Promise<{ seen: Seen; decoded(): unknown }> {
  const { method, path, headers, body } = asked;
  const response = await fetch(`${api.url}${path}`, {
    method,
    redirect: "manual" as const,
    decompress: false,
    headers: { ...headers, "accept-encoding": coding },
    ...(body === undefined ? {} : { body }),
  });
  const bytes = await response.bytes();
  const kept = [...response.headers]
    .filter(([name]) => !VOLATILE_HEADERS.has(name))
    .map(([name, value]) => [name, steady(asked, value)]);
  const decode = DECODERS[response.headers.get("content-encoding") ?? ""];
  const sent = decode === undefined ? bodyOf(asked, bytes) : Bun.hash(bytes);
  return {
    seen: { status: response.status, headers: Object.fromEntries(kept.sort()), body: sent },
    decoded: () =>
      decode === undefined || method === "HEAD" ? sent : bodyOf(asked, decode(bytes)),
  };
}

/**
 * Asks twice, then twenty times at once, in these codings in turn. The answer, which is the same each time, with its
 * body decoded.
 */
async function askOften(
  asked: Asked,
  codings: readonly [string, ...string[]],
  isBounded = false,
): Promise<Seen> {
  const { seen: first, decoded } = await ask(asked, codings[0]);
  expect(first.status).toBeLessThan(500);
  expect((await ask(asked, codings[0])).seen).toEqual(first);
  const asking = Array.from({ length: AT_ONCE }, (_, i) =>
    ask(asked, codings[i % codings.length] as string),
  );
  const others = await Promise.all(asking);
  const answered = others.filter(({ seen }) => !isBounded || seen.status !== 503);
  expect(answered).not.toBeEmpty();
  for (const { seen } of answered) expect(seen).toEqual(first);
  return { ...first, body: decoded() };
}

/** Expects the same answer each time, in each coding, and to HEAD without the body. */
async function expectSame(asked: Asked): Promise<void> {
  const requests = CODINGS.flatMap((coding) =>
    ["GET", "HEAD"].map((method) => ({ asked: { ...asked, method }, coding })),
  );
  const askAll = async () => {
    const seen: Seen[] = [];
    for (const { asked, coding } of requests) {
      const { seen: sent, decoded } = await ask(asked, coding);
      seen.push(sent);
      if (asked.method === "GET") bodies.push(decoded());
    }
    return seen;
  };
  const bodies: unknown[] = [];
  const first = await askAll();
  expect(first[0]?.status).toBeLessThan(500);
  expect(await askAll()).toEqual(first);
  for (const body of bodies) expect(body).toEqual(bodies[0]);
  for (let i = 0; i < first.length; i += 2) {
    const [got, head] = first.slice(i, i + 2) as [Seen, Seen];
    expect({ ...head, body: got.body }).toEqual(got);
  }
  const atOnce = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, i) => {
      const { asked, coding } = requests[i % requests.length] as (typeof requests)[number];
      return ask(asked, coding);
    }),
  );
  for (const [i, { seen }] of atOnce.entries())
    expect(seen).toEqual(first[i % first.length] as Seen);
}

const PLAIN = { method: "GET", headers: {}, body: undefined } as const;
const isOperation = (path: string) => operations.some(({ template }) => template === path);
const pages = api.routes.filter(({ path }) => !path.includes(":") && !isOperation(path));

describe("the same request gets the same answer twice, twenty times at once, in every coding and by HEAD:", () => {
  test.each(pages.map(({ path }) => path))("page %s", async (path) => {
    await expectSame({ ...PLAIN, path });
  });

  for (const operation of operations) {
    const { method, template } = operation;
    test(`${method} ${template}`, async () => {
      for (const example of await examplesOfOne(api, owner, operation)) {
        const sent = { ...example, headers: { ...owner.headers, ...example.headers } };
        if (method === "GET") await expectSame(sent);
        else {
          // The first of several changes may be the only one that changes something.
          await ask(sent, "identity");
          await askOften(sent, CODINGS, BOUNDED.includes(operation.operation.operationId));
        }
      }
    });
  }

  test("an unknown path", async () => {
    await expectSame({ ...PLAIN, path: "/nowhere" });
    // There are pages above.
    expect(pages.map(({ path }) => path)).toContain("/console");
  });
});
