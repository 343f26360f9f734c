import { isUtf8 } from "node:buffer";
import type { TSchema } from "@sinclair/typebox";
import { keepOpaqueNumbers } from "../domain/json/opaque.ts";
import { PROBLEM_MAX_FIELD_ERRORS } from "../domain/limits.ts";
import { invalid, Problem } from "../domain/problem/problem.ts";
import type { FieldError } from "../domain/problem/schema.ts";
import { faultyFields } from "../domain/problem/unstorable.ts";
import type { Operation } from "./operation.ts";
import { isJsonType, mediaType } from "./request.ts";
import { JSON_TYPE } from "./respond.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The problem of a JSON body that is not UTF-8, which names the fields that are not. */
export function notUtf8(bytes: Uint8Array): Problem {
  return invalid(fieldsInOtherEncodings(bytes), "The body is not UTF-8.");
}

/** The problem of a body of another media type than these. */
export function otherType(types: readonly string[], remark = ""): Problem {
  return new Problem("unsupported-media-type", {
    detail: `This operation accepts ${types.join(" and ")}${remark}.`,
    headers: { accept: types.join(", ") },
  });
}

/** The problem of a body that is absent or not JSON, which does not repeat it. */
export function notJson(isAbsent: boolean): Problem {
  const message = isAbsent ? "is required" : "is not valid JSON";
  return invalid([{ field: "body", message }], `The body ${message}.`);
}

/** The fields of a JSON body whose bytes are not UTF-8; the body itself if it is not JSON either. */
function fieldsInOtherEncodings(bytes: Uint8Array): FieldError[] {
  // One character a byte. Escapes are no such bytes, so they become any other character.
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replace(/\\u[0-9a-f]{4}/gi, "??????");
  const message = "is not valid UTF-8";
  try {
    const fields = faultyFields(JSON.parse(text), (part) =>
      isUtf8(Buffer.from(part, "latin1")) ? undefined : message,
    );
    return fields.slice(0, PROBLEM_MAX_FIELD_ERRORS);
  } catch {
    return [{ field: "body", message }];
  }
}

/**
 * Parses a JSON body of a schema, in whose opaque members numbers stay as they are written. Throws
 * `validation-failed` without repeating the body unless it is JSON in UTF-8.
 */
export function parseBody(bytes: Uint8Array, schema: TSchema): unknown {
  if (!isUtf8(bytes)) throw notUtf8(bytes);
  const text = decoder.decode(bytes);
  try {
    const value: unknown = JSON.parse(text);
    keepOpaqueNumbers(schema, text, value);
    return value;
  } catch {
    throw notJson(bytes.byteLength === 0);
  }
}

/** The JSON of the body of an operation, with the numbers of its opaque members as they are written. Throws problems. */
export function jsonOf(
  request: Request,
  bytes: Uint8Array,
  { body, bodyOptional }: Pick<Operation, "body" | "bodyOptional">,
): unknown {
  const type = mediaType(request);
  if (bodyOptional && bytes.byteLength === 0) return {};
  // Without type and body, the error below reports the missing body.
  if (!isJsonType(type) && !(type === "" && bytes.byteLength === 0)) {
    throw otherType([JSON_TYPE]);
  }
  return parseBody(bytes, body as TSchema);
}
