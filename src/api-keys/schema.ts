import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { STORABLE } from "../shared/formats.ts";
import {
  API_KEY_NAME_MAX_CHARS,
  API_KEY_SCOPE_MAX_CHARS,
  API_KEY_SCOPES_MAX,
} from "../shared/limits.ts";

const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const Uuid = Type.String({ format: "uuid" });
const Moment = Type.String({ format: "date-time" });

const ID = "The key's id.";
const USER = "The user as whom the key acts.";
const NAME = "What the key is called.";
const PREFIX = "The public part of the key, `tsr_<prefix>`.";
const CREATED = "When it was made.";
const SCOPES =
  "The permissions that it holds; none: all that its user holds, except those of `account.`.";

export const ApiKeyParams = Type.Object({
  id: Type.String({ format: "uuid", description: ID }),
});

export const NewApiKey = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: API_KEY_NAME_MAX_CHARS,
      pattern: STORABLE,
      description: NAME,
    }),
    project_id: Type.Optional(
      Type.String({
        format: "uuid",
        description: "The only project that it reaches; absent: all of its user's.",
      }),
    ),
    scopes: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: API_KEY_SCOPE_MAX_CHARS,
          pattern: "^[\\x21-\\x7e]+$",
          errorMessage: `must be the name of a permission, of 1 to ${API_KEY_SCOPE_MAX_CHARS} visible characters`,
        }),
        {
          maxItems: API_KEY_SCOPES_MAX,
          description: "The permissions that it holds; none: those of the credential in use.",
        },
      ),
    ),
    expires_at: Type.Optional(
      Type.String({
        format: "date-time",
        description: "When it ends, in the future; absent: with the credential in use, or never.",
      }),
    ),
  },
  { description: "An API key to be made." },
);
export type NewApiKey = Static<typeof NewApiKey>;

export const CreatedApiKey = Type.Object(
  {
    id: Type.String({ format: "uuid", description: ID }),
    project_id: Type.Optional(
      Type.String({ format: "uuid", description: "The only project that it reaches." }),
    ),
    user_id: Type.String({ format: "uuid", description: USER }),
    name: Type.String({ description: NAME }),
    key: Type.String({ description: "The whole key. It is shown here and never again." }),
    key_prefix: Type.String({ description: PREFIX }),
    expires_at: Type.Optional(Type.String({ format: "date-time", description: "When it ends." })),
    created_at: Type.String({ format: "date-time", description: CREATED }),
    scopes: Type.Array(Type.String(), { description: SCOPES }),
  },
  { description: "A new API key, with its secret." },
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const ApiKey = Type.Object(
  {
    id: Type.String({ format: "uuid", description: ID }),
    project_id: nullable(Uuid, "The only project that it reaches; null: all of its user's."),
    user_id: Type.String({ format: "uuid", description: USER }),
    name: Type.String({ description: NAME }),
    key_prefix: Type.String({ description: PREFIX }),
    last_used_at: nullable(Moment, "When it was last used, to the minute; null: never."),
    expires_at: nullable(Moment, "When it ends; null: never."),
    created_at: Type.String({ format: "date-time", description: CREATED }),
    updated_at: Type.String({ format: "date-time", description: "When it last changed." }),
    scopes: Type.Array(Type.String(), { description: SCOPES }),
  },
  { description: "An API key, without its secret." },
);
export type ApiKey = Static<typeof ApiKey>;
