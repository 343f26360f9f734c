import { type Static, Type } from "@sinclair/typebox";
import {
  API_KEY_NAME_MAX_CHARS,
  API_KEY_SCOPE_MAX_CHARS,
  API_KEY_SCOPES_MAX,
} from "../../domain/limits.ts";
import { pageOf } from "../../domain/page-info.ts";
import { dateTime, described, listOf, nullable, text, uuid } from "../../domain/schemas.ts";

const Uuid = Type.String({ format: "uuid" });
const DateTime = Type.String({ format: "date-time" });

const ID = "The key's id.";
const USER = "The user that the key acts as.";
const NAME = "The key's name.";
const PREFIX = "The public part of the key, `tsr_<prefix>`.";
const CREATED = "When the key was created.";
const SCOPES = "The key's permissions. Empty: all permissions of its user except `account.*`.";

export const ApiKeyParams = Type.Object({
  id: uuid(ID, "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55"),
});

export const NewApiKey = described("NewApiKey", "An API key to create.", {
  name: Type.String({
    minLength: 1,
    maxLength: API_KEY_NAME_MAX_CHARS,
    description: NAME,
  }),
  project_id: Type.Optional(
    text(
      "The project to bind the key to: its id, or else its slug. Default: that of the API key in use. Without one, the key has access to all projects of its user.",
    ),
  ),
  scopes: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: API_KEY_SCOPE_MAX_CHARS,
        pattern: "^[\\x21-\\x7e]+$",
        errorMessage: `must be the name of a permission, with 1 to ${API_KEY_SCOPE_MAX_CHARS} visible characters`,
      }),
      {
        maxItems: API_KEY_SCOPES_MAX,
        description: "The key's permissions. Empty or absent: those of the credential in use.",
      },
    ),
  ),
  expires_at: Type.Optional(
    dateTime(
      "When the key expires, in the future. Default: the expiry of the API key in use, else never.",
    ),
  ),
});
export type NewApiKey = Static<typeof NewApiKey>;

export const CreatedApiKey = described("CreatedApiKey", "A new API key, with its secret.", {
  id: uuid(ID),
  name: text(NAME),
  key: text("The complete key. It is never shown again."),
  key_prefix: text(PREFIX),
  scopes: listOf(Type.String(), SCOPES),
  project_id: Type.Optional(uuid("The project that the key is bound to.")),
  user_id: uuid(USER),
  expires_at: Type.Optional(dateTime("When the key expires.")),
  created_at: dateTime(CREATED),
});
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const ApiKey = described("ApiKey", "An API key, without its secret.", {
  id: uuid(ID),
  name: text(NAME),
  key_prefix: text(PREFIX),
  scopes: listOf(Type.String(), SCOPES),
  project_id: nullable(
    Uuid,
    "The project that the key is bound to; null for all projects of its user.",
  ),
  user_id: uuid(USER),
  last_used_at: nullable(
    DateTime,
    "When the key was last used, accurate to a minute; null if never.",
  ),
  expires_at: nullable(DateTime, "When the key expires; null for never."),
  created_at: dateTime(CREATED),
  updated_at: dateTime("When the key last changed."),
});
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyPage = pageOf("ApiKeyPage", ApiKey, "The keys in order of name (byte order).");
export type ApiKeyPage = Static<typeof ApiKeyPage>;
