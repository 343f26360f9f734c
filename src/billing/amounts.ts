/**
 * How many decimals the provider's minor unit stands for, where it is not two. This is the
 * provider's table, not ISO 4217: it counts MGA in whole units, and ISK and UGX in hundredths,
 * although nobody can pay fractions of them.
 */
const DECIMALS = new Map<string, number>([
  ...["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA"].map((code) => [code, 0] as const),
  ...["PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"].map((code) => [code, 0] as const),
  ...["BHD", "JOD", "KWD", "OMR", "TND"].map((code) => [code, 3] as const),
]);
const USUAL_DECIMALS = 2;

/** The decimals of a currency's amounts at the provider. The code may be in either case. */
export function decimalsOf(currency: string): number {
  return DECIMALS.get(currency.toUpperCase()) ?? USUAL_DECIMALS;
}

/** An amount in minor units as an exact decimal, e.g. `1999` of `usd` as `19.99`. */
export function decimalAmount(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const sign = minor < 0n ? "-" : "";
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, "0");
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** The same amount for people, e.g. `$19.99`. Text goes in, so no digit is lost on the way. */
export function formattedAmount(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const format = new Intl.NumberFormat("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return format.format(decimalAmount(minor, currency) as Intl.StringNumericLiteral);
}
