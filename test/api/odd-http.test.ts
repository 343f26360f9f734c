import { afterAll, describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { RawClient } from "../../support/raw-client.ts";
import { type Exchange, exchange, type Piece } from "./raw-exchange.ts";

const api = await sharedApi();
const user = await api.user();
/** Another client of the service, which sees nothing of what the others send. */
const bystander = new RawClient(new URL(api.url));
afterAll(() => bystander.close());

const HOST = "Host: api";
const CHUNKED = "Transfer-Encoding: chunked";

let sent = 0;

/** A request to create an API key, with an id and a name of its own. */
function creation(framing: (body: string) => readonly string[], rest: (body: string) => string) {
  sent++;
  const body = JSON.stringify({ name: `odd-${sent}` });
  const head = [
    ...["POST /api-keys HTTP/1.1", HOST, `Authorization: ${user.headers.authorization}`],
    ...[`X-Request-Id: odd-${sent}`, "Content-Type: application/json", ...framing(body)],
  ];
  return `${head.join("\r\n")}\r\n\r\n${rest(body)}`;
}

const lengthOf = (body: string) => `Content-Length: ${body.length}`;
const chunkOf = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;

const post = (...headers: string[]) =>
  creation(
    (body) => [lengthOf(body), ...headers],
    (body) => body,
  );
const postInChunks = (end: string, ...headers: string[]) =>
  creation(
    () => [CHUNKED, ...headers],
    (body) => `${chunkOf(body)}${end}`,
  );

/** A request whose id comes back with its answer. */
function list(method = "GET"): string {
  sent++;
  const id = `X-Request-Id: odd-${sent}`;
  const credential = `Authorization: ${user.headers.authorization}`;
  return `${[`${method} /api-keys HTTP/1.1`, HOST, credential, id].join("\r\n")}\r\n\r\n`;
}

function get(target: string, ...headers: string[]): string {
  return `${[`GET ${target}`, ...headers].join("\r\n")}\r\n\r\n`;
}

/** The names of the keys that odd requests have made. */
async function storedNames(): Promise<string[]> {
  const { userId } = user;
  const rows = await api.sql<{ name: string }[]>`
    SELECT name FROM api_keys WHERE user_id = ${userId}`;
  return rows.map(({ name }) => name);
}

const idsIn = (pieces: readonly Piece[]) =>
  [...pieces.join("").matchAll(/X-Request-Id: (\S+)/g)].map(([, id]) => id as string);
const namesIn = (pieces: readonly Piece[]) =>
  [...pieces.join("").matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name as string);

interface Case {
  readonly pieces: readonly Piece[];
  /** The statuses of the answers. */
  readonly answered: readonly number[];
  /** Whether the service then closes the connection. */
  readonly closed: boolean;
  /** Whether the client closes its side of the connection after the request. */
  readonly halfClosed?: boolean;
}

const open = (pieces: readonly Piece[], ...answered: number[]): Case => ({
  pieces,
  answered,
  closed: false,
});
const closed = (pieces: readonly Piece[], ...answered: number[]): Case => ({
  pieces,
  answered,
  closed: true,
});

const LIVE = get("/livez HTTP/1.1", HOST);
const TRAILERS = "0\r\nX-Checksum: 1\r\n\r\n";

/** What is answered as RFC 9112 has it. */
const ANSWERED: Record<string, Case> = {
  "in two packets": open([LIVE.slice(0, 9), LIVE.slice(9)], 200),
  "after the answer to the one before": open([list(), 1, list()], 200, 200),
  "written with one that is answered at once": open([LIVE + list()], 200, 200),
  "with a body in chunks": open([postInChunks("0\r\n\r\n")], 201),
  "with chunks whose end comes late": open([postInChunks(""), "0\r\n", "\r\n"], 201),
  "with Expect: 100-continue": open([post("Expect: 100-continue")], 100, 201),
  "with an unknown expectation": open([post("Expect: more")], 201),
  "with two equal lengths": open(
    [
      creation(
        (body) => [lengthOf(body), lengthOf(body)],
        (body) => body,
      ),
    ],
    201,
  ),
  "in absolute form": open([get("http://api/livez HTTP/1.1", HOST)], 200),
  "of HTTP/1.0": closed([get("/livez HTTP/1.0")], 200),
  "of HTTP/1.0 that asks to keep the connection": closed(
    [get("/livez HTTP/1.0", "Connection: keep-alive")],
    200,
  ),
  "of HEAD": open([list("HEAD"), 1, list()], 200, 200),
  "of TRACE": open([list("TRACE")], 405),
  "of OPTIONS for an operation": open([list("OPTIONS")], 405),
  "that asks for HTTP/2": open(
    [get("/livez HTTP/1.1", HOST, "Connection: Upgrade", "Upgrade: h2c")],
    200,
  ),
  "of GET with a body": open(
    [`${get("/livez HTTP/1.1", HOST, "Content-Length: 3")}abc`, 1, list()],
    200,
    200,
  ),
  "that is answered at once, whose client closes its side,": {
    ...closed([LIVE], 200),
    halfClosed: true,
  },
};

/** Correct or tolerable requests that the runtime refuses, or drops with the connection. */
const LIMITATIONS: Record<string, Case> = {
  "written together while the first waits for its answer": closed([list() + list()]),
  "written after a change that waits for its answer": closed([post() + list()]),
  "after an empty line": closed([`\r\n${LIVE}`], 400),
  "after a body with a line break behind it": closed([post(), 1, `\r\n${list()}`], 201, 400),
  "with trailers": closed([postInChunks(TRAILERS)], 400),
  "with trailers in a packet of their own": closed(
    [postInChunks("0\r\n"), 1, TRAILERS.slice(3)],
    201,
    400,
  ),
  "with trailers that read like a request": closed([postInChunks(`0\r\n${list()}`)], 400),
  "that waits for its answer while its client closes its side": {
    ...closed([list()]),
    halfClosed: true,
  },
  "of OPTIONS *": closed([`OPTIONS * HTTP/1.1\r\n${HOST}\r\n\r\n`], 400),
  "of an unknown method": closed([list("FOO")]),
};

/** Requests that could mean two things, or mean none. */
const REFUSED: Record<string, Case> = {
  "with a header above 16 kB": closed(
    [get("/livez HTTP/1.1", HOST, `X-A: ${"a".repeat(17_000)}`)],
    431,
  ),
  "with 199 headers": closed(
    [get("/livez HTTP/1.1", HOST, ...Array.from({ length: 198 }, (_, i) => `X-${i}: a`))],
    431,
  ),
  "with a target above 16 kB": closed([get(`/${"a".repeat(17_000)} HTTP/1.1`, HOST)], 431),
  "with two lengths that differ": closed([post("Content-Length: 3")], 400),
  "with a list of lengths": closed(
    [
      creation(
        ({ length }) => [`Content-Length: ${length}, ${length}`],
        (body) => body,
      ),
    ],
    400,
  ),
  "with a length and chunks": closed([postInChunks("0\r\n\r\n", "Content-Length: 4")], 400),
  "with an encoding twice": closed([postInChunks("0\r\n\r\n", CHUNKED)], 400),
  "with an unknown encoding": closed([post("Transfer-Encoding: xchunked")], 400),
  "with a length that is no number": closed(
    [
      creation(
        ({ length }) => [`Content-Length: +${length}`],
        (body) => body,
      ),
    ],
    400,
  ),
  "with a space before a colon": closed([get("/livez HTTP/1.1", HOST, "X-A : b")], 400),
  "with lines that end in LF alone": closed(["GET /livez HTTP/1.1\nHost: api\n\n"], 505),
  "with one line that ends in LF alone": closed(["GET /livez HTTP/1.1\r\nHost: api\n\r\n"], 400),
  "with one line that ends in CR alone": closed([get(`/livez HTTP/1.1\r\n${HOST}\rX-A: b`)], 400),
  "with a folded header": closed([get("/livez HTTP/1.1", HOST, "X-A: b", " c")], 400),
  "with NUL in a header": closed([get("/livez HTTP/1.1", HOST, "X-A: b\0c")], 400),
  "without a host": closed([get("/livez HTTP/1.1")], 400),
  "of HTTP/2 without a question": closed(["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], 400),
  "of TLS": closed(["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400),
};

/** Sends a case, and checks what must hold whatever is sent. */
async function answersTo(given: Case): Promise<Exchange> {
  const { pieces, answered, closed } = given;
  const before = new Set(await storedNames());
  const [seen, other] = await Promise.all([
    exchange(api.url, pieces, {
      answers: closed ? "all" : answered.length,
      halfClosed: given.halfClosed ?? false,
    }),
    bystander.send(Buffer.from(LIVE)),
  ]);
  expect({ statuses: seen.statuses, closed: seen.closed }).toEqual({
    statuses: [...answered],
    closed,
  });
  expect(other.status).toBe(200);
  // No answer is another request's, and nothing is made of bytes that are no request.
  const requested = idsIn(pieces);
  expect(seen.ids).toEqual(requested.filter((id) => seen.ids.includes(id)));
  const made = (await storedNames()).filter((name) => !before.has(name));
  const asked = namesIn(pieces);
  expect(made.filter((name) => !asked.includes(name))).toEqual([]);
  const created = seen.statuses.filter((status) => status === 201).length;
  expect(made.length).toBeGreaterThanOrEqual(created);
  expect(made.length).toBeLessThanOrEqual(asked.length);
  return seen;
}

describe("one connection", () => {
  test.each(Object.entries(ANSWERED))("a request %s is answered", async (_, given) => {
    await answersTo(given);
  });

  test.each(Object.entries(LIMITATIONS))(
    "a request %s ends its connection, and no other request is affected",
    async (_, given) => {
      await answersTo(given);
    },
  );

  test.each(Object.entries(REFUSED))(
    "a request %s is refused without a document, and no other request is affected",
    async (_, given) => {
      expect((await answersTo(given)).ids).toEqual([]);
    },
  );
});
