import { beforeEach, describe, expect, test } from "bun:test";
import { DIMENSIONS, EMBED_ATTEMPTS } from "../../../../src/domain/limits.ts";
import { EmbeddingError } from "../../../../src/embed/embedders/embedding-response.ts";
import { embeddingsUrl } from "../../../../src/embed/embedders/endpoint.ts";
import { remoteEmbedder } from "../../../../src/embed/embedders/remote-embedder.ts";
import { EMBED_BATCH_INPUTS } from "../../../../src/embed/embedders/text-batches.ts";
import {
  type EmbeddingEndpoint,
  startEmbeddingEndpoint,
  vectorOf,
} from "../../../../support/embedding-endpoint.ts";

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
    await embedder.embedQuery("text");
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

  test("with an answer that repeats the key is reported without it", async () => {
    endpoint.next.push(() => new Response("no such key: secret-key", { status: 401 }));
    const embedder = remoteEmbedder({ url: endpoint.url, model: "m", apiKey: "secret-key" });
    expect((await failureOf(embedder)).message).toContain("no such key: [key]");
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
    ["more than 4,096 dimensions", () => answer(vectorOf("text", 4_097)), "4097 dimensions"],
    ["invalid base64", () => answer("!!!!"), "0 dimensions"],
    ["truncated base64", () => answer(asBase64(whole).slice(0, -8)), "766 dimensions"],
    ["elements that are not numbers", () => answer(["a", "b"]), "form of /v1/embeddings"],
    ["infinite elements", () => answer(asBase64([...whole.slice(1), Infinity])), "not finite"],
    ["zeros", () => answer(asBase64(Array(768).fill(0))), "zeros"],
  ];
  test.each(wrong)("with %s is not retried", async (_, make, text) => {
    endpoint.next.push(make);
    expect((await failureOf(open({ dimension: 768 }))).message).toContain(text);
    expect(endpoint.served).toEqual([]);
  });
});

describe("vectors of different dimensions", () => {
  test("from the requested one are rejected", async () => {
    endpoint.next.push(() => answer(vectorOf("text", 768)));
    const { message } = await failureOf(open({ dimension: 1_024 }));
    expect(message).toContain("768 dimensions, expected 1024");
  });

  test.each([1, 64, 384, 767, 769, 1_023, 2_048, 4_095])(
    "of %d elements get zeros up to one that can be searched",
    async (dimension) => {
      endpoint.dimension = dimension;
      const [vector] = await open().embedPassages(passages("text"));
      const own = vectorOf("text", dimension);
      expect(DIMENSIONS as readonly number[]).toContain(vector?.length ?? 0);
      expect([...(vector ?? [])].slice(0, dimension)).toEqual(own);
      expect([...(vector ?? [])].slice(dimension).every((element) => element === 0)).toBe(true);
    },
  );

  test("from earlier ones are rejected", async () => {
    const embedder = open();
    await embedder.embedPassages(passages("one"));
    endpoint.next.push(() => answer(vectorOf("text", 1_024)));
    expect((await failureOf(embedder)).message).toContain("1024 dimensions, expected 768");
  });
});

describe("requests", () => {
  test("contain a bounded number of texts and stay under 1 MiB, whatever the headings are", async () => {
    const sizes: number[] = [];
    endpoint.instead = async (request) => {
      sizes.push(Buffer.byteLength(JSON.stringify(request)));
      return answer(...request.input.map((text) => vectorOf(text, 768)));
    };
    const odd = "\u0001\u{1F345}\n".repeat(2_000);
    const chunks = Array.from({ length: 130 }, (_, i) => ({
      headings: ["x".repeat(300_000), `Part ${i}`],
      content: `${i} ${odd}`,
    }));
    const vectors = await open().embedPassages(chunks);
    expect(vectors).not.toContain(null);
    expect(Math.max(...sizes)).toBeLessThan(1_048_576);
    endpoint.instead = undefined;
    await open().embedPassages(
      Array.from({ length: EMBED_BATCH_INPUTS + 1 }, (_, i) => ({ headings: [], content: `${i}` })),
    );
    expect(endpoint.served.map(({ input }) => input.length)).toEqual([EMBED_BATCH_INPUTS, 1]);
  });

  test("with a text of more than 1 MiB have parts of it, whose mean is its vector", async () => {
    endpoint.embed = (text, dimension) =>
      Array.from({ length: dimension }, (_, i) => (text.includes(["y", "z"][i] ?? "?") ? 3 : 0));
    const content = `${"y".repeat(600_000)} ${"z".repeat(600_000)}`;
    const [vector] = await open().embedPassages([{ headings: ["Long"], content }]);
    expect(endpoint.served.map(({ input }) => input.length)).toEqual([1, 1]);
    expect(vector?.[0]).toBeCloseTo(Math.SQRT1_2, 3);
    expect(vector?.[1]).toBeCloseTo(Math.SQRT1_2, 3);
    for (const { input } of endpoint.served) expect(input[0]).toStartWith("Long\n\n");
  });

  test("go to /v1/embeddings below the given URL", () => {
    for (const url of ["http://h", "http://h/", "http://h/v1", "http://h/v1/"]) {
      expect(embeddingsUrl(url)).toBe("http://h/v1/embeddings");
    }
    expect(embeddingsUrl("http://h/openai/v1/embeddings")).toBe("http://h/openai/v1/embeddings");
    expect(embeddingsUrl("http://h/x/embed?api-version=1")).toBe("http://h/x/embed?api-version=1");
  });
});

/** What real endpoints answer to texts that they cannot embed. */
const refusals: Array<[what: string, refuses: (input: readonly string[]) => Response | undefined]> =
  [
    [
      "at most 32 texts (422)",
      (input) => (input.length > 32 ? new Response("batch size", { status: 422 }) : undefined),
    ],
    [
      "at most 10 texts (400)",
      (input) => (input.length > 10 ? new Response("too many", { status: 400 }) : undefined),
    ],
    [
      "at most 1 text (413)",
      (input) => (input.length > 1 ? new Response("too large", { status: 413 }) : undefined),
    ],
    [
      "at most 40 texts (500)",
      (input) => (input.length > 40 ? new Response("no memory", { status: 500 }) : undefined),
    ],
    [
      "at most 32 texts and leaves out the others",
      (input) =>
        input.length > 32
          ? answer(...input.slice(0, 32).map((text) => vectorOf(text, 768)))
          : undefined,
    ],
  ];

describe("an endpoint that takes few texts", () => {
  test.each(refusals)(
    "%s gets all of them, and no larger request from then on",
    async (_, refuses) => {
      let refused = 0;
      endpoint.instead = ({ input }) => {
        const response = refuses(input);
        if (response === undefined) return answer(...input.map((text) => vectorOf(text, 768)));
        refused++;
        return response;
      };
      const embedder = open();
      const texts = Array.from({ length: 70 }, (_, i) => `text ${i}`);
      const vectors = await embedder.embedPassages(passages(...texts));
      expect(vectors.map((vector) => [...(vector ?? [])])).toEqual(
        texts.map((text) => vectorOf(text, 768)),
      );
      // The first request is tried in both encodings.
      expect(refused).toBeWithin(1, 15);
      refused = 0;
      expect(await embedder.embedPassages(passages(...texts))).not.toContain(null);
      expect(refused).toBe(0);
    },
  );
});

const numbers = (value: unknown) => new Array(768).fill(value);
const poisons: Array<[what: string, make: () => Response]> = [
  ["500", () => new Response("unsupported value: NaN", { status: 500 })],
  ["422", () => new Response("odd", { status: 422 })],
  ["zeros", () => answer(numbers(0))],
  ["nulls", () => answer(numbers(null))],
  ["no vectors", () => answer()],
  ["nothing", () => new Response('{"data')],
];

describe("a text at which an endpoint fails", () => {
  test.each(poisons)(
    "with %s is left out and named, and all others are embedded",
    async (_, make) => {
      endpoint.instead = ({ input }) =>
        input.some((text) => text.includes("POISON"))
          ? make()
          : answer(...input.map((text) => vectorOf(text, 768)));
      const notes: string[] = [];
      const embedder = remoteEmbedder({
        url: endpoint.url,
        model: "m",
        retryBaseMs: 1,
        onNote: (note) => notes.push(note),
      });
      const texts = Array.from({ length: 70 }, (_, i) => (i === 41 ? "POISON" : `text ${i}`));
      const vectors = await embedder.embedPassages(passages(...texts));
      expect(vectors.flatMap((vector, i) => (vector === null ? [i] : []))).toEqual([41]);
      expect(notes).toEqual([expect.stringContaining('the text under "POISON" is stored without')]);
    },
  );

  test("fails again as a whole once the endpoint is away", async () => {
    endpoint.instead = () => new Response("broken", { status: 500 });
    await expect(open().embedPassages(passages("one", "two"))).rejects.toThrow("answered 500");
  });
});
