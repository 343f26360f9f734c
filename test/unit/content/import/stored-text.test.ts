import { describe, expect, test } from "bun:test";
import { Kind, type TSchema } from "@sinclair/typebox";
import { RECORD_SCHEMAS } from "../../../../src/content/import/records/schemas.ts";
import { unstorableFields } from "../../../../src/domain/problem/unstorable.ts";

const FAULTS = { "a\0b": "a NUL character", "a\ud83d": "an unpaired surrogate" };

/** Every place for text in a record of the schema, with a record that has a text there. */
function recordsWith(schema: TSchema, text: string, field = ""): [string, unknown][] {
  const { anyOf, items, properties } = schema;
  if (anyOf) return anyOf.flatMap((each: TSchema) => recordsWith(each, text, field));
  if (schema["type"] === "string" && schema["const"] === undefined) return [[field, text]];
  if (items) {
    return recordsWith(items, text, `${field}[0]`).map(([place, value]) => [place, [value]]);
  }
  if (properties) {
    return Object.entries(properties as Record<string, TSchema>).flatMap(([name, member]) => {
      const inside = recordsWith(member, text, field === "" ? name : `${field}.${name}`);
      return inside.map(([place, value]): [string, unknown] => [place, { [name]: value }]);
    });
  }
  if (schema[Kind] !== "Record") return [];
  return [
    [`${field}.deep[0].text`, { deep: [{ text }] }],
    [`${field}.deep`, { deep: { [text]: 1 } }],
  ];
}

describe("text in records", () => {
  for (const [kind, schema] of Object.entries(RECORD_SCHEMAS)) {
    test(`of the kind ${kind} that cannot be stored is named, wherever it is`, () => {
      for (const [text, fault] of Object.entries(FAULTS)) {
        const records = recordsWith(schema, text);
        expect(records).not.toBeEmpty();
        for (const [field, record] of records) {
          const isKept = /^(parts\[0\]|latest_response\.values)\./.test(field);
          const errors = unstorableFields(schema, record);
          expect([field, errors.map((error) => error.field)]).toEqual([
            field,
            isKept ? [] : [field],
          ]);
          for (const { message } of errors) expect(message).toEndWith(`contains ${fault}`);
        }
      }
    });
  }
});
