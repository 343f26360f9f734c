import { COMPRESSIONS } from "../../ops/compression/decompressed.ts";
import { REQUEST_ID_PATTERN } from "../request.ts";

export const EXAMPLE_REQUEST_ID = "0b3f9f0e-6c1d-4f0e-9d3a-5a1b7f1c2d3e";

const TEXT = { type: "string" };
const EXTENSION = { "x-tessera-extension": true };

const header = (description: string, schema: object = TEXT) => ({ description, schema });
const required = (description: string, schema?: object) => ({
  ...header(description, schema),
  required: true,
});
const parameter = (name: string, description: string, schema: object = TEXT) => ({
  ...header(description, schema),
  name,
  in: "header",
  required: false,
});

/** The components that operations refer to. */
export const PARAMETERS = {
  RequestId: {
    ...parameter(
      "X-Request-Id",
      "The caller's own id for the request, which the response repeats. A value that does not match the pattern is replaced by a new id.",
      { ...TEXT, pattern: REQUEST_ID_PATTERN },
    ),
    example: EXAMPLE_REQUEST_ID,
  },
  ContentEncoding: parameter(
    "Content-Encoding",
    "How the body is compressed. Default: identity. Limits of its size hold after decompression.",
    { ...TEXT, enum: ["identity", ...COMPRESSIONS] },
  ),
  IfNoneMatch: {
    ...parameter(
      "If-None-Match",
      "ETags of the caller's copies. When one is current, the response is 304 without a body.",
    ),
    example: '"3f7c1d2ab45e6f90"',
  },
};

export const HEADERS = {
  RequestId: required("Identifies the request; a problem's `instance` contains the same id."),
  NoSniff: required("The content type must not be guessed.", { ...TEXT, const: "nosniff" }),
  Vary: {
    ...header(
      "The request headers that the answer depends on: `Authorization` and `X-API-Key` where a credential is needed, " +
        "`Accept` where browsers get a page, `Origin` where pages of other origins may call the service.",
    ),
    required: false,
  },
  CacheControl: required(
    "Only the caller may store the answer: `private`, or `no-store` where a stored one could not be revalidated.",
    { ...TEXT, pattern: "^(private|no-store)" },
  ),
  ETag: required(
    "Identifies this representation, for If-None-Match. A strong tag: equal tags mean equal bytes.",
    { ...TEXT, pattern: '^"[^"]+"$' },
  ),
  WwwAuthenticate: required("The authentication schemes that the service accepts."),
  Allow: required("The methods that the resource has."),
  Accept: header("The content types that the operation accepts."),
  AcceptEncoding: header(
    "The content encodings that the service accepts, when the body had another one.",
  ),
  RateLimit: {
    ...header(
      "The remaining quotas of the credential (`default`) and of its user (`user`): `r` requests for the next `t` seconds. Absent when the service has no limit.",
      { ...TEXT, pattern: '^"(default|user)";r=\\d+;t=\\d+(, "user";r=\\d+;t=\\d+)?$' },
    ),
    ...EXTENSION,
  },
  RateLimitPolicy: {
    ...header("The quotas: `q` requests in `w` seconds. Absent when the service has no limit.", {
      ...TEXT,
      pattern: '^"(default|user)";q=\\d+;w=\\d+(, "user";q=\\d+;w=\\d+)?$',
    }),
    ...EXTENSION,
  },
  RetryAfter: header("Seconds after which a retry may succeed, where one may.", {
    type: "integer",
    minimum: 0,
  }),
};

export const SECURITY_SCHEMES = {
  bearerAuth: { type: "http", scheme: "bearer", description: "A JWT or an API key." },
  apiKeyAuth: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "An API key of the form tsr_<prefix>_<secret>.",
  },
  webhookSecret: {
    type: "apiKey",
    in: "header",
    name: "X-Service-Webhook-Secret",
    description: "The secret of the webhook.",
  },
  webhookSecretInQuery: {
    type: "apiKey",
    in: "query",
    name: "secret",
    description: "The secret of the webhook, for providers that cannot send the header.",
  },
};
