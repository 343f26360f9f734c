import { onCleanup } from "./cleanup.ts";

export interface EmbeddingRequest {
  readonly model: string;
  readonly input: string[];
  readonly encoding_format?: string;
  readonly dimensions?: number;
}

export interface EmbeddingEndpoint {
  readonly url: string;
  /** The requests that were answered with vectors, in order. */
  readonly served: EmbeddingRequest[];
  readonly authorizations: (string | null)[];
  /** Handlers of the next requests. One that returns undefined leaves the request to the default. */
  readonly next: ((request: EmbeddingRequest) => Response | undefined)[];
  /** If false, the endpoint rejects base64 and only returns arrays of numbers. */
  base64: boolean;
  dimension: number;
  /** Answers all requests instead of the endpoint: with an error, late, or never. */
  instead: ((request: EmbeddingRequest) => Response | Promise<Response>) | undefined;
  /** The vector of a text; any that the text determines by default. */
  embed: (text: string, dimension: number) => readonly number[];
}

/** A server with OpenAI's /v1/embeddings. Each vector is determined by its text. */
export function startEmbeddingEndpoint(): EmbeddingEndpoint {
  const endpoint = {
    served: [] as EmbeddingRequest[],
    authorizations: [] as (string | null)[],
    next: [] as EmbeddingEndpoint["next"],
    base64: true,
    dimension: 768,
    instead: undefined as EmbeddingEndpoint["instead"],
    embed: vectorOf as EmbeddingEndpoint["embed"],
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method !== "POST" || new URL(request.url).pathname !== "/v1/embeddings") {
        return new Response("not here", { status: 404 });
      }
      endpoint.authorizations.push(request.headers.get("authorization"));
      const body = (await request.json()) as EmbeddingRequest;
      if (endpoint.instead !== undefined) return await endpoint.instead(body);
      const prepared = endpoint.next.shift()?.(body);
      if (prepared !== undefined) return prepared;
      const asBase64 = body.encoding_format === "base64";
      if (asBase64 && !endpoint.base64) {
        return Response.json({ error: { message: "unknown encoding_format" } }, { status: 400 });
      }
      endpoint.served.push(body);
      const data = body.input.map((text, index) => {
        const numbers = endpoint.embed(text, body.dimensions ?? endpoint.dimension);
        const bytes = Buffer.from(Float32Array.from(numbers).buffer);
        const embedding = asBase64 ? bytes.toString("base64") : numbers;
        return { object: "embedding", index, embedding };
      });
      // The protocol gives the order by index, so clients must not rely on the order of the array.
      return Response.json({ object: "list", model: body.model, data: data.reverse() });
    },
  });
  onCleanup(() => server.stop(true));
  return Object.assign(endpoint, { url: `http://127.0.0.1:${server.port}` });
}

export function vectorOf(text: string, dimension: number): number[] {
  const seed = Number(Bun.hash.crc32(text) % 1_000);
  return Array.from({ length: dimension }, (_, i) => ((i * 7 + seed * 13) % 11) - 5);
}
