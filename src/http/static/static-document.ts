import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { lazy } from "../../ops/lazy.ts";
import { entityTag, isCurrent } from "../conditional.ts";
import { sharedResponse } from "../load/large-answers.ts";

/** Quality 9 makes documents and scripts a fortieth smaller and takes four times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

const CODERS = {
  br: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, BROTLI),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
} as const;
type Coding = keyof typeof CODERS;

/** The first of the codings that the caller accepts; undefined if it accepts none of them. */
function codingFor(request: Request): Coding | undefined {
  const accepted = (request.headers.get("accept-encoding") ?? "").split(",").map((entry) => {
    const [name = "", weight = ""] = entry.split(";").map((part) => part.trim().toLowerCase());
    return /^q=0(?:\.0*)?$/.test(weight) ? "" : name;
  });
  return (["br", "gzip"] as const).find((coding) => accepted.includes(coding));
}

/**
 * A document that does not change while the service runs. It is compressed once, at the first request that
 * accepts it, and sent unless the caller has it.
 */
export class StaticDocument {
  readonly #tag: string;
  readonly #compressed: Readonly<Record<Coding, () => Promise<Uint8Array<ArrayBuffer>>>>;

  constructor(
    private readonly body: Uint8Array<ArrayBuffer>,
    private readonly type: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {
    this.#tag = entityTag(body);
    const compressed = (coding: Coding) =>
      lazy(async () => new Uint8Array(await CODERS[coding](body)));
    this.#compressed = { br: compressed("br"), gzip: compressed("gzip") };
  }

  async respond(request: Request): Promise<Response> {
    const coding = codingFor(request);
    const headers: Record<string, string> = {
      ...this.headers,
      // Each representation has a strong tag of its own.
      etag: coding === undefined ? this.#tag : `${this.#tag.slice(0, -1)}-${coding}"`,
      "cache-control": "no-cache",
      vary: "Accept-Encoding",
    };
    if (isCurrent(request.headers.get("if-none-match"), headers["etag"] as string)) {
      return new Response(null, { status: 304, headers });
    }
    headers["content-type"] = this.type;
    if (coding === undefined) return sharedResponse(this.body, { headers });
    headers["content-encoding"] = coding;
    return sharedResponse(await this.#compressed[coding](), { headers });
  }
}
