import { COMPRESSIONS } from "../../ops/compression/decompressed.ts";
import { REQUEST_ID_PATTERN } from "../request.ts";
import type { Json } from "./json-schema.ts";

export const EXAMPLE_REQUEST_ID = "0b3f9f0e-6c1d-4f0e-9d3a-5a1b7f1c2d3e";

const PARAMETERS = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description:
      "The caller's own id for the request, which the response repeats. A value that does not match the pattern is replaced by a new id.",
    schema: { type: "string", pattern: REQUEST_ID_PATTERN },
    example: EXAMPLE_REQUEST_ID,
  },
  ContentEncoding: {
    name: "Content-Encoding",
    in: "header",
    required: false,
    description:
      "How the body is compressed. Default: identity. Limits of its size hold after decompression.",
    schema: { type: "string", enum: ["identity", ...COMPRESSIONS] },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description:
      "ETags of the caller's copies. When one is current, the response is 304 without a body.",
    schema: { type: "string" },
    example: '"3f7c1d2ab45e6f90"',
  },
} as const;

const HEADERS = {
  RequestId: {
    description: "Identifies the request; a problem's `instance` contains the same id.",
    required: true,
    schema: { type: "string" },
  },
  NoSniff: {
    description: "The content type must not be guessed.",
    required: true,
    schema: { type: "string", const: "nosniff" },
  },
  Vary: {
    description:
      "The request headers that the answer depends on: `Authorization` and `X-API-Key` where a credential is needed, " +
      "`Accept` where browsers get a page, `Origin` where pages of other origins may call the service.",
    required: false,
    schema: { type: "string" },
  },
  CacheControl: {
    description:
      "Only the caller may store the answer: `private`, or `no-store` where a stored one could not be revalidated.",
    required: true,
    schema: { type: "string", pattern: "^(private|no-store)" },
  },
  ETag: {
    description:
      "Identifies this representation, for If-None-Match. A strong tag: equal tags mean equal bytes.",
    required: true,
    schema: { type: "string", pattern: '^"[^"]+"$' },
  },
  WwwAuthenticate: {
    description: "The authentication schemes that the service accepts.",
    required: true,
    schema: { type: "string" },
  },
  Allow: {
    description: "The methods that the resource has.",
    required: true,
    schema: { type: "string" },
  },
  Accept: {
    description: "The content types that the operation accepts.",
    schema: { type: "string" },
  },
  AcceptEncoding: {
    description: "The content encodings that the service accepts, when the body had another one.",
    schema: { type: "string" },
  },
  RateLimit: {
    description:
      "The remaining quotas of the credential (`default`) and of its user (`user`): `r` requests for the next `t` seconds. Absent when the service has no limit.",
    schema: {
      type: "string",
      pattern: '^"(default|user)";r=\\d+;t=\\d+(, "user";r=\\d+;t=\\d+)?$',
    },
    "x-tessera-extension": true,
  },
  RateLimitPolicy: {
    description: "The quotas: `q` requests in `w` seconds. Absent when the service has no limit.",
    schema: {
      type: "string",
      pattern: '^"(default|user)";q=\\d+;w=\\d+(, "user";q=\\d+;w=\\d+)?$',
    },
    "x-tessera-extension": true,
  },
  RetryAfter: {
    description: "Seconds after which a retry may succeed, where one may.",
    schema: { type: "integer", minimum: 0 },
  },
} as const;

/** The components that operations refer to. */
export function openApiComponents(): Json {
  return {
    parameters: PARAMETERS,
    headers: HEADERS,
    securitySchemes: {
      bearerAuth: {
        type: "http",
        scheme: "bearer",
        description: "A JWT or an API key.",
      },
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
    },
  };
}
