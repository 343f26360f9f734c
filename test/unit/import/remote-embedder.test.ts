import { beforeEach, describe, expect, test } from "bun:test";
import { EmbeddingError } from "../../../src/import/embedders/embedding-error.ts";
import { embeddingsUrl } from "../../../src/import/embedders/endpoint.ts";
import { remoteEmbedder } from "../../../src/import/embedders/remote-embedder.ts";
import {
  EMBED_ATTEMPTS,
  EMBED_BATCH_CHARS,
  EMBED_BATCH_INPUTS,
} from "../../../src/shared/limits.ts";
import {
  type EmbeddingEndpoint,
  startEmbeddingEndpoint,
  vectorOf,
} from "../../../support/embedding-endpoint.ts";

let endpoint: EmbeddingEndpoint;
beforeEach(() => {
  endpoint = startEmbeddingEndpoint();
});

const open = (options: { dimension?: number; timeoutMs?: number } = {}) =>
  remoteEmbedder({ url: endpoint.url, model: "m", retryBaseMs: 1, ...options });
const passages = (...contents: string[]) => contents.map((content) => ({ headings: [], content }));

/** The error of a request for one vector. */
async function failureOf(embedder = open()): Promise<EmbeddingError> {
  try {
    await embedder.embedPassages(passages("text"));
  } catch (error) {
    expect(error).toBeInstanceOf(EmbeddingError);
    return error as EmbeddingError;
  }
  throw new Error("it did not fail");
}

const answer = (...embeddings: unknown[]) =>
  Response.json({ data: embeddings.map((embedding, index) => ({ index, embedding })) });

describe("an embedding endpoint that fails", () => {
  test("temporarily is retried, and vectors are returned in the order of the texts", async () => {
    endpoint.next.push(
      () => new Response("busy", { status: 429, headers: { "retry-after": "0" } }),
      () => new Response("broken", { status: 500 }),
      () => new Response("late", { status: 504 }),
    );
    const vectors = await open().embedPassages(passages("one", "two"));
    expect(vectors.map((vector) => [...(vector ?? [])])).toEqual([
      vectorOf("one", 768),
      vectorOf("two", 768),
    ]);
  });

  test("permanently is given up after a bounded number of attempts", async () => {
    let asked = 0;
    const broken = () => {
      asked++;
      return new Response("broken", { status: 500 });
    };
    for (let i = 0; i < EMBED_ATTEMPTS * 2; i++) endpoint.next.push(broken);
    expect((await failureOf()).message).toContain(
      `answered 500 after ${EMBED_ATTEMPTS} attempts (broken)`,
    );
    expect(asked).toBe(EMBED_ATTEMPTS);
  });

  test("to respond in time or to accept connections is reported as such", async () => {
    const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    const url = `http://127.0.0.1:${silent.port}`;
    const waiting = remoteEmbedder({ url, model: "m", retryBaseMs: 1, timeoutMs: 20 });
    expect((await failureOf(waiting)).message).toContain("does not respond (");
    await silent.stop(true);
    const nobody = remoteEmbedder({ url, model: "m", retryBaseMs: 1 });
    expect((await failureOf(nobody)).settings).toEqual(["url"]);
  });

  test("in the middle of a response is retried", async () => {
    let asked = 0;
    const cut = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          asked++;
          const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500";
          socket.end(`${head}\r\n\r\n{"data":[{"ind`);
        },
      },
    });
    const url = `http://127.0.0.1:${cut.port}`;
    const embedder = remoteEmbedder({ url, model: "m", retryBaseMs: 1 });
    expect((await failureOf(embedder)).message).toContain(`after ${EMBED_ATTEMPTS} attempts`);
    expect(asked).toBeGreaterThanOrEqual(EMBED_ATTEMPTS);
    cut.stop(true);
  });

  const whole = vectorOf("text", 768);
  const asBase64 = (numbers: number[]) =>
    Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
  const wrong: Array<[what: string, make: () => Response, text: string]> = [
    [
      "truncated JSON",
      () => new Response('{"data":[{"index":0,"embedding":[0.1,'),
      "not valid JSON",
    ],
    ["an empty body", () => new Response(""), "not valid JSON"],
    ["too few vectors", () => answer(), "0 vectors for 1 texts"],
    ["too many vectors", () => answer(whole, whole), "2 vectors for 1 texts"],
    [
      "a vector of another text",
      () => Response.json({ data: [{ index: 7, embedding: whole }] }),
      "vectors for 1 texts",
    ],
    [
      "a negative index",
      () => Response.json({ data: [{ index: -1, embedding: whole }] }),
      "vectors for 1 texts",
    ],
    ["an odd dimension", () => answer(whole.slice(1)), "767 dimensions"],
    ["invalid base64", () => answer("!!!!"), "0 dimensions"],
    ["truncated base64", () => answer(asBase64(whole).slice(0, -8)), "766 dimensions"],
    ["elements that are not numbers", () => answer(["a", "b"]), "form of /v1/embeddings"],
    ["infinite elements", () => answer(asBase64([...whole.slice(1), Infinity])), "not finite"],
    ["zeros", () => answer(asBase64(Array(768).fill(0))), "zeros"],
  ];
  test.each(wrong)("with %s is not retried", async (_, make, text) => {
    endpoint.next.push(make);
    expect((await failureOf()).message).toContain(text);
    expect(endpoint.served).toEqual([]);
  });
});

describe("vectors of different dimensions", () => {
  test("from the requested one are rejected", async () => {
    endpoint.next.push(() => answer(vectorOf("text", 768)));
    const { message } = await failureOf(open({ dimension: 1_024 }));
    expect(message).toContain("768 dimensions, expected 1024");
  });

  test("from earlier ones are rejected", async () => {
    const embedder = open();
    await embedder.embedPassages(passages("one"));
    endpoint.next.push(() => answer(vectorOf("text", 1_024)));
    expect((await failureOf(embedder)).message).toContain("1024 dimensions, expected 768");
  });
});

describe("requests", () => {
  test("contain a bounded number of texts and characters", async () => {
    const long = "x".repeat(EMBED_BATCH_CHARS / 2);
    const many = Array.from({ length: EMBED_BATCH_INPUTS * 2 + 1 }, (_, i) => `text ${i}`);
    await open().embedPassages(passages(...many, long, long, long));
    for (const { input } of endpoint.served) {
      expect(input.length).toBeLessThanOrEqual(EMBED_BATCH_INPUTS);
      if (input.length > 1) expect(input.join("").length).toBeLessThanOrEqual(EMBED_BATCH_CHARS);
    }
    expect(endpoint.served.flatMap(({ input }) => input)).toEqual([...many, long, long, long]);
  });

  test("go to /v1/embeddings below the given URL", () => {
    for (const url of ["http://h", "http://h/", "http://h/v1", "http://h/v1/"]) {
      expect(embeddingsUrl(url)).toBe("http://h/v1/embeddings");
    }
    expect(embeddingsUrl("http://h/openai/v1/embeddings")).toBe("http://h/openai/v1/embeddings");
    expect(embeddingsUrl("http://h/x/embed?api-version=1")).toBe("http://h/x/embed?api-version=1");
  });
});
