import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  decimalAmount,
  decimalsOf,
  formattedAmount,
} from "../../../../src/platform/billing/amounts.ts";

const minor = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
const currency = fc.constantFrom("usd", "EUR", "jpy", "KRW", "kwd", "TND", "isk", "ugx", "mga");

describe("amounts of the payment provider", () => {
  test.each([
    [1999n, "usd", "19.99", "$19.99"],
    [5n, "usd", "0.05", "$0.05"],
    [0n, "usd", "0.00", "$0.00"],
    [-250n, "eur", "-2.50", "-€2.50"],
    [500n, "jpy", "500", "¥500"],
    [0n, "JPY", "0", "¥0"],
    [1234567n, "krw", "1234567", "₩1,234,567"],
    [5120n, "kwd", "5.120", "KWD\u00a05.120"],
    [7n, "bhd", "0.007", "BHD\u00a00.007"],
    // The provider's decimals differ from ISO 4217 for these currencies.
    [500n, "isk", "5.00", "ISK\u00a05.00"],
    [500n, "ugx", "5.00", "UGX\u00a05.00"],
    [500n, "mga", "500", "MGA\u00a0500"],
    [9007199254740993n, "usd", "90071992547409.93", "$90,071,992,547,409.93"],
  ])("%p minor units of %s are %s, formatted as %s", (amount, code, decimal, formatted) => {
    expect(decimalAmount(amount, code)).toBe(decimal);
    expect(formattedAmount(amount, code)).toBe(formatted);
  });

  test("a decimal amount has exactly the digits of its minor units", () => {
    fc.assert(
      fc.property(minor, currency, (amount, code) => {
        const decimal = decimalAmount(amount, code);
        expect(decimal).toMatch(/^-?\d+(?:\.\d+)?$/);
        expect(BigInt(decimal.replace(".", ""))).toBe(amount);
        expect(decimal.split(".")[1]?.length ?? 0).toBe(decimalsOf(code));
        expect(decimal).not.toMatch(/^-?0\d/);
      }),
    );
  });
});
