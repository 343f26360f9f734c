import fc from "fast-check";

/** JSON texts whose numbers JavaScript would change, and others whose names and strings need care. */
export const WRITTEN: readonly string[] = [
  ...["1234567890123456789", "9007199254740993", "-9223372036854775807", "18446744073709551615"],
  ...["1e400", "1e-400", "-0", "-0.0", "1.10", "1E5", "0.1234567890123456789", "[1.0,2.50]"],
  '{"id":1234567890123456790,"b":{"c":[1e400]}}',
  ...['"😀"', '"é"', '{"b":1,"a":2}', '{"":null}', '{"__proto__":{"x":1}}'],
];

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });

/** Numbers as JSON may write them. */
export const jsonNumber: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...WRITTEN.filter((text) => /^[-\d][\d.eE+-]*$/.test(text))),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
  fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(1, 30).map((text) => text.replace(/^0+(?=\d)/, "")),
      fc.option(digits(1, 25), { nil: undefined }),
      fc.option(fc.tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), digits(1, 4)), {
        nil: undefined,
      }),
    )
    .map(([sign, whole, fraction, exponent]) => {
      const rest = fraction === undefined ? "" : `.${fraction}`;
      return `${sign}${whole}${rest}${exponent?.join("") ?? ""}`;
    }),
);

/** Names of members. JavaScript would put those that are whole numbers first. */
const jsonName = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 8 }),
    fc.constantFrom("", "__proto__", "constructor", "toJSON", "a.b", "$eq"),
  )
  .filter((name) => !/^\d+$/.test(name) && !name.includes("\0"));

/** Compact JSON as JSON.stringify writes it, but for its numbers. Objects have each name once. */
export const { jsonText, jsonObject } = fc.letrec<{ jsonText: string; jsonObject: string }>(
  (tie) => ({
    jsonText: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      jsonNumber,
      fc.constantFrom("true", "false", "null"),
      fc
        .string({ unit: "grapheme", maxLength: 12 })
        .filter((text) => !text.includes("\0"))
        .map((text) => JSON.stringify(text)),
      tie("jsonObject"),
      fc.array(tie("jsonText"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    ),
    jsonObject: fc
      .uniqueArray(fc.tuple(jsonName, tie("jsonText")), {
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map(
        (members) =>
          `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`,
      ),
  }),
);
