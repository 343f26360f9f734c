import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { FITS_HEADER, QUERY_PATH } from "../../../../src/embed/models/local-model.ts";
import { ModelServer, type ServedModel } from "../../../../src/embed/models/server/model-server.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

const MAX_TOKENS = 16;
const MAX_CHARS = 64;

/** A model with a token per word, and the texts that it has divided into tokens, in order. */
class FakeModel implements ServedModel {
  readonly encoded: string[] = [];
  /** Called with each text before it is divided. */
  onEncode = (_text: string) => {};
  /** Awaited before vectors are computed. */
  beforeRun = Promise.resolve();
  readonly tokenizer = {
    maxTokens: MAX_TOKENS,
    maxChars: MAX_CHARS,
    encode: (text: string) => {
      this.onEncode(text);
      this.encoded.push(text);
      return { ids: text.split(" ").map(({ length }) => length), types: [] };
    },
    cut: ({ ids }: { ids: readonly number[] }) => ({ ids: ids.slice(0, MAX_TOKENS), types: [] }),
  };
  readonly run: ServedModel["run"] = async (texts) => {
    await this.beforeRun;
    return texts.map(({ ids }) => Float32Array.of(ids.length, 1));
  };
}

function open() {
  const model = new FakeModel();
  const server = new ModelServer(async () => model);
  const answer = (request: Request) => server.answer(request);
  const ask = (input: readonly string[], { path = "/", signal }: Asking = {}) =>
    server.answer(
      new Request(`http://model${path}`, {
        method: "POST",
        body: JSON.stringify({ input }),
        ...(signal === undefined ? {} : { signal }),
      }),
    );
  return { model, ask, answer };
}

interface Asking {
  readonly path?: string;
  readonly signal?: AbortSignal;
}

const texts = (name: string, count: number) => Array.from({ length: count }, (_, i) => name + i);

describe("the process of a model", () => {
  test("divides the texts of requests into tokens in turns, so that one with few does not wait for one with many", async () => {
    const { model, ask } = open();
    const many = ask(texts("many", 40));
    const few = ask(texts("few", 2));
    expect((await few).status).toBe(200);
    // A turn later the vectors of the few were computed.
    expect(model.encoded.length).toBeLessThan(10);
    expect(model.encoded).toContain("few1");
    expect((await many).status).toBe(200);
    expect(model.encoded).toHaveLength(42);
  });

  test("reads a query before the texts that wait", async () => {
    const { model, ask } = open();
    const query = Promise.withResolvers<Response>();
    model.onEncode = (text) => {
      if (text === "text1") query.resolve(ask(["query"], { path: QUERY_PATH }));
    };
    const all = ask(texts("text", 40));
    expect((await query.promise).status).toBe(200);
    expect(model.encoded.length).toBeLessThan(10);
    expect((await all).status).toBe(200);
  });

  test("divides no text for a caller that has left", async () => {
    const { model, ask } = open();
    const gone = new AbortController();
    model.onEncode = (text) => {
      if (text === "text2") gone.abort();
    };
    expect((await ask(texts("text", 40), { signal: gone.signal })).status).toBe(503);
    expect(model.encoded).toEqual(["text0", "text1", "text2"]);
    expect((await ask(["query"], { path: QUERY_PATH, signal: gone.signal })).status).toBe(503);
    expect(model.encoded).not.toContain("query");
  });

  test("divides no more texts once a caller has closed its connection", async () => {
    const { model, ask, answer } = open();
    const unix = join(temporaryFolder("socket"), "socket");
    const answers: Promise<Response>[] = [];
    const closed = Promise.withResolvers<void>();
    const listener = Bun.serve({
      unix,
      fetch(request) {
        request.signal.addEventListener("abort", () => closed.resolve());
        const answered = answer(request);
        answers.push(answered);
        return answered;
      },
    });
    onCleanup(() => listener.stop(true));
    const gone = new AbortController();
    // Texts wait for a query, which goes first and ends when the connection has been closed.
    model.beforeRun = closed.promise;
    const query = Promise.withResolvers<Response>();
    model.onEncode = (text) => {
      if (text !== "text2") return;
      gone.abort();
      query.resolve(ask(["query"], { path: QUERY_PATH }));
    };
    const body = JSON.stringify({ input: texts("text", 40) });
    const sent = fetch("http://model/", { unix, method: "POST", body, signal: gone.signal });
    await expect(sent).rejects.toThrow("abort");
    expect((await query.promise).status).toBe(200);
    expect((await answers[0])?.status).toBe(503);
    expect(model.encoded).toEqual(["text0", "text1", "text2", "query"]);
  });

  test("refuses texts by their length without dividing any, and says how much fits", async () => {
    const { model, ask } = open();
    const long = "字".repeat(MAX_CHARS + 1);
    const refused = await ask(["a", long, "b", long]);
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.headers.get(FITS_HEADER) ?? "")).toEqual([
      [1, MAX_CHARS],
      [3, MAX_CHARS],
    ]);
    expect(model.encoded).toEqual([]);
  });

  test("names all texts of a request with too many tokens at once, and what fits of each", async () => {
    const { model, ask } = open();
    const dense = "x ".repeat(20).trim();
    const denser = "x ".repeat(32).trim();
    const refused = await ask([dense, "a", denser]);
    expect(refused.status).toBe(413);
    const fits = new Map<number, number>(JSON.parse(refused.headers.get(FITS_HEADER) ?? ""));
    expect([...fits.keys()]).toEqual([0, 2]);
    expect(model.encoded).toHaveLength(3);
    const parts = [dense.slice(0, fits.get(0)), denser.slice(0, fits.get(2))];
    expect((await ask(parts)).status).toBe(200);
  });

  test("embeds texts up to the limits as a whole, and reads no more of a longer query", async () => {
    const { model, ask } = open();
    const longest = "x ".repeat(16).trim().padEnd(MAX_CHARS, "x");
    expect((await ask([longest])).status).toBe(200);
    const query = "x ".repeat(MAX_CHARS);
    const answered = await ask([query], { path: QUERY_PATH });
    expect(answered.status).toBe(200);
    expect(model.encoded).toEqual([longest, query.slice(0, MAX_CHARS)]);
  });
});
