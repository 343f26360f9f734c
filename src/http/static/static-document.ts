import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { lazy } from "../../ops/lazy.ts";
import { sharedResponse } from "../load/large-answers.ts";
import { entityTag, notModified } from "../respond.ts";

/** Quality 9 makes documents and scripts a fortieth smaller and takes four times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

type Bytes = Uint8Array<ArrayBuffer>;

const CODERS = {
  identity: async (bytes: Bytes) => bytes,
  br: async (bytes: Bytes) => new Uint8Array(await promisify(brotliCompress)(bytes, BROTLI)),
  gzip: async (bytes: Bytes) => new Uint8Array(await promisify(gzip)(bytes)),
} as const;

/** The best coding that the caller accepts. */
function codingFor(request: Request): keyof typeof CODERS {
  const accepted = (request.headers.get("accept-encoding") ?? "").split(",").map((entry) => {
    const [name = "", weight = ""] = entry.split(";").map((part) => part.trim().toLowerCase());
    return /^q=0(?:\.0*)?$/.test(weight) ? "" : name;
  });
  return (["br", "gzip"] as const).find((coding) => accepted.includes(coding)) ?? "identity";
}

/**
 * A document that does not change while the service runs. It is compressed once, at the first request that
 * accepts it, and sent unless the caller has it.
 */
export class StaticDocument {
  readonly #tag: string;
  readonly #coded: Readonly<Record<keyof typeof CODERS, () => Promise<Bytes>>>;

  constructor(
    body: Bytes,
    private readonly type: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {
    this.#tag = entityTag(body);
    const coded = (coding: keyof typeof CODERS) => lazy(() => CODERS[coding](body));
    this.#coded = { identity: coded("identity"), br: coded("br"), gzip: coded("gzip") };
  }

  async respond(request: Request): Promise<Response> {
    const coding = codingFor(request);
    const isCoded = coding !== "identity";
    const headers = {
      ...this.headers,
      // Each representation has a strong tag of its own.
      etag: isCoded ? `${this.#tag.slice(0, -1)}-${coding}"` : this.#tag,
      "cache-control": "no-cache",
      vary: "Accept-Encoding",
    };
    const unchanged = notModified(request, headers);
    if (unchanged !== undefined) return unchanged;
    const described = {
      "content-type": this.type,
      ...(isCoded ? { "content-encoding": coding } : {}),
    };
    const bytes = await this.#coded[coding]();
    return sharedResponse(bytes, { headers: { ...headers, ...described } });
  }
}
