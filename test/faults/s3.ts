import { createHash, createHmac } from "node:crypto";
import { onCleanup } from "../../support/cleanup.ts";

const ACCESS_KEY = "TESTACCESSKEY";
/** Tests look for it where it must not be. */
export const S3_SECRET = "test/secret+of-the/bucket";
const BUCKET = "snapshots";
const REGION = "eu-test-1";
const PAGE_KEYS = 1_000;

const hmac = (key: string | Buffer, text: string) =>
  createHmac("sha256", key).update(text).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** What a signature says of a request, in its address or in a header. */
interface Signed {
  readonly credential: string;
  readonly date: string;
  readonly headers: string;
  readonly signature: string;
  readonly contents: string;
}

function signedBy(url: URL, { headers }: Request): Signed | null {
  const query = (name: string) => url.searchParams.get(`X-Amz-${name}`) ?? "";
  if (url.searchParams.has("X-Amz-Signature")) {
    const [credential, date, signature] = [query("Credential"), query("Date"), query("Signature")];
    return {
      credential,
      date,
      signature,
      headers: query("SignedHeaders"),
      contents: "UNSIGNED-PAYLOAD",
    };
  }
  const form = /Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)/;
  const [, credential, names, signature] = form.exec(headers.get("authorization") ?? "") ?? [];
  if (credential === undefined || names === undefined || signature === undefined) return null;
  const date = headers.get("x-amz-date") ?? "";
  return {
    credential,
    date,
    headers: names,
    signature,
    contents: headers.get("x-amz-content-sha256") ?? "",
  };
}

/** True when the request has a valid signature of version 4. */
function isSigned(request: Request, url: URL, rawPath: string): boolean {
  const signed = signedBy(url, request);
  if (signed === null) return false;
  const { credential, date, headers, signature, contents } = signed;
  const [key, day = "", region = "", service = ""] = credential.split("/");
  if (key !== ACCESS_KEY || region !== REGION) return false;
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const lines = headers.split(";").map((name) => `${name}:${request.headers.get(name) ?? ""}\n`);
  const canonical = [request.method, rawPath, query.join("&"), lines.join(""), headers, contents];
  const digest = createHash("sha256").update(canonical.join("\n")).digest("hex");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, digest].join("\n");
  const secret = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${S3_SECRET}`,
  );
  return hmac(secret, text).toString("hex") === signature;
}

export interface TestBucket {
  readonly port: number;
  /** The variables of a service that keeps its snapshots in the bucket. */
  env(port?: number): Record<string, string>;
  readonly objects: Map<string, Uint8Array>;
  /** How many objects were stored, also those that were replaced. */
  readonly puts: number;
  /** Requests whose key has this text are answered only after `resume`; resolves when one has come. */
  hold(text: string): Promise<void>;
  resume(): void;
}

/** A page of a listing in XML. */
function listing(objects: ReadonlyMap<string, Uint8Array>, query: URLSearchParams): string {
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE_KEYS);
  const folders = new Set<string>();
  const contents: string[] = [];
  for (const key of page) {
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    if (end >= 0) folders.add(key.slice(0, end + 1));
    else
      contents.push(
        `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length}</Size></Contents>`,
      );
  }
  const isTruncated = keys.length > page.length;
  const token = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  const common = [...folders].map(
    (each) => `<CommonPrefixes><Prefix>${each}</Prefix></CommonPrefixes>`,
  );
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${token}${contents.join("")}${common.join("")}</ListBucketResult>`;
}

/** A server of the S3 protocol, with one bucket in memory. It refuses requests that are not signed correctly. */
export function startS3(): TestBucket {
  const objects = new Map<string, Uint8Array>();
  let puts = 0;
  let held:
    | { text: string; arrived: () => void; released: Promise<void>; release: () => void }
    | undefined;
  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (!isSigned(request, url, url.pathname)) return new Response("<Error/>", { status: 403 });
    const [, bucket, ...path] = url.pathname.split("/").map(decodeURIComponent);
    if (bucket !== BUCKET) return new Response("<Error/>", { status: 404 });
    const key = path.join("/");
    if (held !== undefined && key.includes(held.text)) {
      held.arrived();
      await held.released;
    }
    if (key === "") return new Response(listing(objects, url.searchParams));
    if (request.method === "PUT") {
      puts++;
      objects.set(key, bytes);
      return new Response();
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return new Response(null, { status: 204 });
    }
    const found = objects.get(key);
    return found === undefined
      ? new Response("<Error/>", { status: 404 })
      : new Response(found.slice());
  }
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer, idleTimeout: 0 });
  const port = server.port as number;
  onCleanup(() => void server.stop(true));
  return {
    ...{ port, objects },
    get puts() {
      return puts;
    },
    env: (at = port) => ({
      SNAPSHOT_URL: `s3://${BUCKET}/indexes`,
      S3_ENDPOINT: `http://127.0.0.1:${at}`,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: S3_SECRET,
    }),
    hold(text) {
      const arrived = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = {
        text,
        arrived: arrived.resolve,
        released: released.promise,
        release: released.resolve,
      };
      return arrived.promise;
    },
    resume() {
      held?.release();
      held = undefined;
    },
  };
}
