import { onCleanup } from "../../support/cleanup.ts";

/**
 * Stand-ins for the vector databases that the benchmark of peers measures: each answers the requests of
 * its documentation that the benchmark sends, by comparing all vectors.
 */
class Vectors {
  readonly #byId = new Map<string, readonly number[]>();

  add(id: string, vector: readonly number[]): void {
    this.#byId.set(id, vector);
  }

  /** The ids of the nearest vectors by cosine; all vectors have unit length. */
  nearest(query: readonly number[], limit: number): string[] {
    const score = (vector: readonly number[]) =>
      vector.reduce((sum, element, i) => sum + element * (query[i] as number), 0);
    return [...this.#byId]
      .map(([id, vector]) => ({ id, score: score(vector) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ id }) => id);
  }
}

type Handler = (
  call: { method: string; path: string; body: unknown },
  vectors: Vectors,
) => object | undefined;

/** Serves a handler, which returns undefined for what the real service does not have. */
function serve(handler: Handler): string {
  const vectors = new Vectors();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      const path = new URL(request.url).pathname;
      const body = text === "" ? undefined : JSON.parse(text);
      const answer = handler({ method: request.method, path, body }, vectors);
      return answer === undefined ? new Response("{}", { status: 404 }) : Response.json(answer);
    },
  });
  onCleanup(() => server.stop(true));
  return server.url.origin;
}

export function qdrantStandIn(): string {
  return serve(({ method, path, body }, vectors) => {
    const name = "/collections/tessera-bench";
    if (path === name && method === "PUT") {
      const { vectors: settings } = body as { vectors: { distance: string } };
      return settings.distance === "Cosine" ? { result: true } : undefined;
    }
    if (path === name) return { result: method === "GET" ? { status: "green" } : true };
    if (path === `${name}/points` && method === "PUT") {
      const { points } = body as { points: { id: number; vector: number[] }[] };
      for (const { id, vector } of points) vectors.add(String(id), vector);
      return { result: { status: "completed" } };
    }
    if (path !== `${name}/points/query`) return undefined;
    const { query, limit, params } = body as {
      query: number[];
      limit: number;
      params: { hnsw_ef: number };
    };
    if (!(params.hnsw_ef > 0)) return undefined;
    return { result: { points: vectors.nearest(query, limit).map((id) => ({ id: Number(id) })) } };
  });
}

export function weaviateStandIn(): string {
  return serve(({ method, path, body }, vectors) => {
    if (path === "/v1/schema" && method === "POST") return {};
    if (path === "/v1/schema/TesseraBench") return {};
    if (path === "/v1/batch/objects") {
      const { objects } = body as { objects: { id: string; vector: number[] }[] };
      for (const { id, vector } of objects) vectors.add(id, vector);
      return [];
    }
    const { query } = body as { query: string };
    const [, limit, vector] =
      /^\{Get\{TesseraBench\(limit:(\d+),nearVector:\{vector:\[(.*)\]\}\)\{_additional\{id\}\}\}\}$/.exec(
        query,
      ) ?? [];
    if (path !== "/v1/graphql" || limit === undefined) return undefined;
    const found = vectors.nearest((vector as string).split(",").map(Number), Number(limit));
    return { data: { Get: { TesseraBench: found.map((id) => ({ _additional: { id } })) } } };
  });
}

export function chromaStandIn(): string {
  const base = "/api/v2/tenants/default_tenant/databases/default_database/collections";
  return serve(({ method, path, body }, vectors) => {
    if (path === base && method === "POST") return { id: "one" };
    if (path === `${base}/one` && method === "PUT") return {};
    if (path === `${base}/tessera-bench` && method === "DELETE") return {};
    if (path === `${base}/one/add`) {
      const { ids, embeddings } = body as { ids: string[]; embeddings: number[][] };
      for (const [i, id] of ids.entries()) vectors.add(id, embeddings[i] as number[]);
      return {};
    }
    if (path !== `${base}/one/query`) return undefined;
    const { query_embeddings, n_results } = body as {
      query_embeddings: number[][];
      n_results: number;
    };
    return { ids: query_embeddings.map((query) => vectors.nearest(query, n_results)) };
  });
}

/** Reads one command of the Redis protocol: its arguments and its length; undefined if incomplete. */
function readCommand(bytes: Buffer): { args: Buffer[]; length: number } | undefined {
  let at = 0;
  const line = () => {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const text = bytes.toString("latin1", at + 1, end);
    at = end + 2;
    return Number(text);
  };
  const count = line();
  if (count === undefined) return undefined;
  const args: Buffer[] = [];
  while (args.length < count) {
    const length = line();
    if (length === undefined || bytes.length < at + length + 2) return undefined;
    args.push(Buffer.from(bytes.subarray(at, at + length)));
    at += length + 2;
  }
  return { args, length: at };
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const floatsOf = (bytes: Buffer) => Array.from(new Float32Array(new Uint8Array(bytes).buffer));

function answerRedis(args: readonly Buffer[], vectors: Vectors): string {
  const [name = "", , form, vector] = args.map(String);
  const blob = args[3] as Buffer;
  switch (name.toUpperCase()) {
    case "INFO":
      return bulk("redis_version:8.0.0\r\nloading:0\r\n");
    case "VADD":
      if (form !== "FP32") return "-ERR the form is not FP32\r\n";
      vectors.add(String(args[4]), floatsOf(blob));
      return ":1\r\n";
    case "VSIM": {
      if (vector === undefined) return "-ERR no vector\r\n";
      const found = vectors.nearest(floatsOf(blob), Number(args[5]));
      return `*${found.length}\r\n${found.map(bulk).join("")}`;
    }
    case "DEL":
      return ":0\r\n";
    default:
      return "+OK\r\n";
  }
}

export function redisStandIn(): string {
  const vectors = new Vectors();
  const server = Bun.listen<{ rest: Buffer }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { rest: Buffer.alloc(0) };
      },
      data(socket, bytes) {
        socket.data.rest = Buffer.concat([socket.data.rest, bytes]);
        for (
          let command = readCommand(socket.data.rest);
          command !== undefined;
          command = readCommand(socket.data.rest)
        ) {
          socket.data.rest = socket.data.rest.subarray(command.length);
          socket.write(answerRedis(command.args, vectors));
        }
      },
    },
  });
  onCleanup(() => server.stop(true));
  return `redis://127.0.0.1:${server.port}`;
}
