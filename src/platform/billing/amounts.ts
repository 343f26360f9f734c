/**
 * Decimals of the provider's minor unit, for currencies where it is not two. This is the provider's table, not ISO
 * 4217: MGA has no decimals there, and ISK and UGX have two, although fractions of them cannot be paid.
 */
const DECIMALS = new Map<string, number>([
  ...["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA"].map((code) => [code, 0] as const),
  ...["PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"].map((code) => [code, 0] as const),
  ...["BHD", "JOD", "KWD", "OMR", "TND"].map((code) => [code, 3] as const),
]);
const DEFAULT_DECIMALS = 2;

/** The decimals of a currency's amounts at the provider. The code may be in either case. */
export function decimalsOf(currency: string): number {
  return DECIMALS.get(currency.toUpperCase()) ?? DEFAULT_DECIMALS;
}

/** An amount in minor units as an exact decimal, e.g. `1999` of `usd` as `19.99`. */
export function decimalAmount(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const sign = minor < 0n ? "-" : "";
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, "0");
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** An amount in minor units formatted for display, e.g. `$19.99`. */
export function formattedAmount(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const format = new Intl.NumberFormat("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  // Formatting the decimal text instead of a number keeps every digit of large amounts.
  return format.format(decimalAmount(minor, currency) as Intl.StringNumericLiteral);
}
