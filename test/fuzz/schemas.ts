import fc from "fast-check";
import type { Json } from "../../support/api/openapi.ts";
import { randomNumbers } from "../../support/random.ts";

/** Arrays with more elements than this are made of random numbers from a seed. */
const LONG_ARRAY = 100;
const EXTRA_CHARS = 24;
const EXTRA_ITEMS = 3;
const DEPTH_MAX = 5;

/** Text that often causes faults: NUL, lone surrogates, other scripts, SQL, paths, long text. */
export const nastyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\0", "\ud800", "\udfff\ud800", "__proto__", "constructor", "'; --", "../.."),
  fc.constantFrom("a".repeat(5_000), "1e999", "NaN", "2026-02-30T00:00:00Z", "-0", "ﷺ", "", " "),
  fc.uuid(),
);
const nastyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 1e308, -1, 0.5, 2 ** 53, Number.MAX_SAFE_INTEGER, 5e-324),
);

/** JSON values of every kind, with those that often cause faults. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  nastyText,
  nastyNumber,
  fc.array(nastyNumber, { maxLength: 20 }),
  fc.dictionary(fc.constantFrom("a", "__proto__", "constructor"), fc.oneof(nastyText, nastyNumber)),
  fc.constantFrom(null, true, [], {}, [[]], [null]),
);

/** Generates values for schemas of a document. */
export class Values {
  constructor(
    private readonly document: Json,
    /** One in so many parts of a value is replaced by anything; 0 for values that are valid. */
    private readonly hostility: number,
  ) {}

  of(schema: Json, depth = 0): fc.Arbitrary<unknown> {
    const proper = this.#proper(schema, depth);
    if (this.hostility === 0) return proper;
    return fc.oneof(
      { weight: this.hostility, arbitrary: proper },
      { weight: 1, arbitrary: anything },
    );
  }

  #proper(schema: Json, depth: number): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.#proper(this.resolved(schema), depth);
    if ("const" in schema) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return fc.oneof(...choices.map((s: Json) => this.of(s, depth)));
    switch (schema.type) {
      case "string":
        return text(schema);
      case "integer":
        return fc.integer(integerBounds(schema));
      case "number":
        return fc.oneof(fc.double(doubleBounds(schema)), fc.integer(integerBounds(schema)));
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "array":
        return this.#array(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  #array({ items = {}, minItems = 0, maxItems }: Json, depth: number): fc.Arbitrary<unknown> {
    if (minItems > LONG_ARRAY) return longArray(minItems, maxItems);
    if (depth >= DEPTH_MAX) return fc.constant([]);
    return fc.array(this.of(items, depth + 1), {
      minLength: minItems,
      maxLength: Math.min(maxItems ?? Number.MAX_SAFE_INTEGER, minItems + EXTRA_ITEMS),
    });
  }

  #object({ properties = {}, required = [] }: Json, depth: number): fc.Arbitrary<unknown> {
    const names = Object.keys(properties);
    if (names.length === 0 || depth >= DEPTH_MAX) {
      return fc.dictionary(nastyText, fc.jsonValue({ maxDepth: 1 }), { maxKeys: EXTRA_ITEMS });
    }
    const fields = names.map((name) => [name, this.of(properties[name], depth + 1)] as const);
    // A required field may be missing from a hostile value.
    return fc.record(Object.fromEntries(fields), {
      requiredKeys: this.hostility === 0 ? required : [],
    });
  }

  /** The schema that a reference names; any other schema itself. */
  resolved(schema: Json): Json {
    if (schema.$ref === undefined) return schema;
    return schema.$ref
      .slice(2)
      .split("/")
      .reduce((at: Json, part: string) => at[part], this.document);
  }
}

function text({ format, pattern, minLength = 0, maxLength }: Json): fc.Arbitrary<string> {
  if (format === "uuid") return fc.uuid();
  if (format === "date-time") {
    const [min, max] = [new Date("1970-01-01T00:00:00Z"), new Date("2100-01-01T00:00:00Z")];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
  }
  if (format === "uri") return fc.webUrl();
  if (pattern !== undefined) {
    const isShort = ({ length }: string) => length <= (maxLength ?? Number.MAX_SAFE_INTEGER);
    return fc.stringMatching(new RegExp(pattern, "u")).filter(isShort);
  }
  return fc.string({
    minLength,
    maxLength: Math.min(maxLength ?? Number.MAX_SAFE_INTEGER, minLength + EXTRA_CHARS),
    unit: "grapheme",
  });
}

function integerBounds({ minimum, maximum }: Json): { min: number; max: number } {
  return {
    min: Math.ceil(Math.max(minimum ?? -1_000, -(2 ** 31))),
    max: Math.floor(Math.min(maximum ?? 1_000_000, 2 ** 31 - 1)),
  };
}

function doubleBounds({ minimum = -1e6, maximum = 1e6 }: Json) {
  return { min: minimum, max: maximum, noNaN: true };
}

/** Random numbers, with lengths at and around the bounds. */
function longArray(minItems: number, maxItems = minItems): fc.Arbitrary<number[]> {
  const length = fc.constantFrom(minItems, minItems, minItems, maxItems, 1_024, minItems + 1);
  return fc.tuple(length, fc.nat()).map(([items, seed]) => {
    const next = randomNumbers(seed);
    return Array.from({ length: items }, () => next() - 0.5);
  });
}
