import { beforeEach, describe, expect, test } from "bun:test";
import { CommandError } from "../../../src/cli/command-error.ts";
import { embeddingsUrl, remoteEmbedder } from "../../../src/import/embedders/remote-embedder.ts";
import {
  EMBED_ATTEMPTS,
  EMBED_BATCH_CHARS,
  EMBED_BATCH_INPUTS,
} from "../../../src/shared/limits.ts";
import {
  type EmbeddingEndpoint,
  startEmbeddingEndpoint,
  vectorOf,
} from "../../cli/embedding-endpoint.ts";

let endpoint: EmbeddingEndpoint;
beforeEach(() => {
  endpoint = startEmbeddingEndpoint();
});

const open = (options: { dimension?: number; timeoutMs?: number } = {}) =>
  remoteEmbedder({ url: endpoint.url, model: "m", retryBaseMs: 1, ...options });
const passages = (...contents: string[]) => contents.map((content) => ({ headings: [], content }));

/** What a request for one vector fails with. */
async function failureOf(embedder = open()): Promise<string> {
  try {
    await embedder.embedPassages(passages("text"));
  } catch (error) {
    expect(error).toBeInstanceOf(CommandError);
    return (error as Error).message;
  }
  throw new Error("it did not fail");
}

const answer = (...embeddings: unknown[]) =>
  Response.json({ data: embeddings.map((embedding, index) => ({ index, embedding })) });

describe("an embedding endpoint that fails", () => {
  test("for a while is asked again, and gives the vectors in the order of the texts", async () => {
    endpoint.next.push(
      () => new Response("busy", { status: 429, headers: { "retry-after": "0" } }),
      () => new Response("broken", { status: 500 }),
      () => new Response("late", { status: 504 }),
    );
    const vectors = await open().embedPassages(passages("one", "two"));
    expect(vectors.map((vector) => [...vector])).toEqual([
      vectorOf("one", 768),
      vectorOf("two", 768),
    ]);
  });

  test("for good is given up after a bounded number of attempts", async () => {
    let asked = 0;
    const broken = () => {
      asked++;
      return new Response("broken", { status: 500 });
    };
    for (let i = 0; i < EMBED_ATTEMPTS * 2; i++) endpoint.next.push(broken);
    expect(await failureOf()).toContain(`answered 500 after ${EMBED_ATTEMPTS} attempts (broken)`);
    expect(asked).toBe(EMBED_ATTEMPTS);
  });

  test("to answer in time, or to accept connections, is named as such", async () => {
    const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    const url = `http://127.0.0.1:${silent.port}`;
    const waiting = remoteEmbedder({ url, model: "m", retryBaseMs: 1, timeoutMs: 20 });
    expect(await failureOf(waiting)).toContain("does not answer after");
    await silent.stop(true);
    const nobody = remoteEmbedder({ url, model: "m", retryBaseMs: 1 });
    expect(await failureOf(nobody)).toContain("check --embed-url");
  });

  test("in its connection in the middle of an answer is asked again", async () => {
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
    expect(await failureOf(embedder)).toContain(`after ${EMBED_ATTEMPTS} attempts`);
    expect(asked).toBeGreaterThanOrEqual(EMBED_ATTEMPTS);
    cut.stop(true);
  });

  const whole = vectorOf("text", 768);
  const asBase64 = (numbers: number[]) =>
    Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
  const wrong: Array<[what: string, make: () => Response, text: string]> = [
    ["truncated JSON", () => new Response('{"data":[{"index":0,"embedding":[0.1,'), "not JSON"],
    ["an empty body", () => new Response(""), "not JSON"],
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
    ["rubbish for base64", () => answer("!!!!"), "0 dimensions"],
    ["base64 that was cut short", () => answer(asBase64(whole).slice(0, -8)), "766 dimensions"],
    ["elements that are no numbers", () => answer(["a", "b"]), "form of /v1/embeddings"],
    ["infinite elements", () => answer(asBase64([...whole.slice(1), Infinity])), "not finite"],
    ["zeroes", () => answer(asBase64(Array(768).fill(0))), "zeroes"],
  ];
  test.each(wrong)("to give what was asked, with %s, is refused at once", async (_, make, text) => {
    endpoint.next.push(make);
    expect(await failureOf()).toContain(text);
    expect(endpoint.served).toEqual([]);
  });
});

describe("vectors that cannot be compared", () => {
  test("because their dimension is not the one asked for are refused", async () => {
    endpoint.next.push(() => answer(vectorOf("text", 768)));
    expect(await failureOf(open({ dimension: 1_024 }))).toContain("768 dimensions where 1024");
  });

  test("because the model changed under way are refused", async () => {
    const embedder = open();
    await embedder.embedPassages(passages("one"));
    endpoint.next.push(() => answer(vectorOf("text", 1_024)));
    expect(await failureOf(embedder)).toContain("1024 dimensions where 768");
  });
});

describe("requests", () => {
  test("hold no more texts, and no more characters, than is polite", async () => {
    const long = "x".repeat(EMBED_BATCH_CHARS / 2);
    const many = Array.from({ length: EMBED_BATCH_INPUTS * 2 + 1 }, (_, i) => `text ${i}`);
    await open().embedPassages(passages(...many, long, long, long));
    for (const { input } of endpoint.served) {
      expect(input.length).toBeLessThanOrEqual(EMBED_BATCH_INPUTS);
      if (input.length > 1) expect(input.join("").length).toBeLessThanOrEqual(EMBED_BATCH_CHARS);
    }
    expect(endpoint.served.flatMap(({ input }) => input)).toEqual([...many, long, long, long]);
  });

  test("go to the embeddings below whatever address is given", () => {
    for (const url of ["http://h", "http://h/", "http://h/v1", "http://h/v1/"]) {
      expect(embeddingsUrl(url)).toBe("http://h/v1/embeddings");
    }
    expect(embeddingsUrl("http://h/openai/v1/embeddings")).toBe("http://h/openai/v1/embeddings");
    expect(embeddingsUrl("http://h/x/embed?api-version=1")).toBe("http://h/x/embed?api-version=1");
  });
});
