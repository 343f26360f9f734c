import { expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { DEFAULTS } from "../../src/ops/config/schema.ts";
import { sharedApi } from "../../support/api/api.ts";
import { addWebhook } from "../../support/webhooks.ts";

const COMPRESS = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;
const DIMENSION = 768;

const api = await sharedApi();
const { sql } = api;
const { owner: user, project } = await api.ownedProject();
await sql`
  INSERT INTO environments (id, project_id, name)
  VALUES (gen_random_uuid(), ${project.id}, 'production')`;
const webhook = await addWebhook(sql, project);
const vector = new Float32Array(DIMENSION).fill(1);

/** A request with a body that an operation takes. */
interface Sample {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

const lookup = `/projects/${project.slug}/knowledge/lookup`;
const search = `/projects/${project.slug}/environments/production/search?dimension=${DIMENSION}`;
const file = `/projects/${project.slug}/files/a.md`;
const bytes = new Uint8Array(vector.buffer);
const json = "application/json";

/** Of every kind of body that operations take. */
const SAMPLES: readonly Sample[] = [
  { method: "POST", path: "/api-keys", type: json, body: '{"name":"a"}' },
  { method: "POST", path: lookup, type: json, body: '{"query":"a"}' },
  { method: "POST", path: search, type: "application/octet-stream", body: bytes },
  { method: "PUT", path: file, type: "text/markdown", body: "# gr\u00fcn" },
  { method: "POST", path: webhook.path, type: json, body: '{"a":1e400}' },
  {
    method: "POST",
    path: webhook.path,
    type: "application/x-www-form-urlencoded",
    body: 'payload={"a":1}',
  },
  { method: "POST", path: webhook.path, type: "text/plain", body: "gr\u00fcn" },
];

function send({ method, path, type }: Sample, body: Sample["body"], encoding: string) {
  const headers = { "content-type": type, "content-encoding": encoding };
  const caller = path === webhook.path ? webhook : user;
  return api.send(method, path, { body, headers: { ...caller.headers, ...headers } });
}

test.each(SAMPLES)(
  "$method $path with a body of $type takes it in every content encoding",
  async (sample) => {
    const body = Buffer.from(sample.body as string);
    const plain = await send(sample, sample.body, "identity");
    expect(plain.status).toBeOneOf([200, 201]);
    for (const [encoding, compress] of Object.entries(COMPRESS)) {
      const answer = await send(sample, new Uint8Array(compress(body)), encoding);
      expect(answer.status, encoding).toBeOneOf([200, 201]);
      expect(answer.body.payload, encoding).toEqual(plain.body.payload);
      expect(answer.body.version_id, encoding).toEqual(plain.body.version_id);
    }
  },
);

test.each(SAMPLES)(
  "$method $path with a body of $type refuses one that is damaged, too large when it is decompressed, or unknown",
  async (sample) => {
    for (const [encoding, compress] of Object.entries(COMPRESS)) {
      const whole = compress(Buffer.from(sample.body as string));
      const cut = await send(sample, new Uint8Array(whole.subarray(0, -1)), encoding);
      const message = `is not valid ${encoding.replace("x-", "")}`;
      expect(cut.status, encoding).toBe(400);
      expect(cut.body.errors, encoding).toEqual([{ field: "body", message }]);
      const bomb = compress(Buffer.alloc(DEFAULTS.maxBodyBytes + 1));
      const large = await send(sample, new Uint8Array(bomb), encoding);
      expect([large.status, large.body.slug], encoding).toEqual([413, "payload-too-large"]);
    }
    const unknown = await send(sample, sample.body, "compress");
    expect([unknown.status, unknown.body.slug]).toEqual([415, "unsupported-media-type"]);
    expect(unknown.headers.get("accept-encoding")).toBe("gzip, deflate, br, zstd, identity");
  },
);
