import { type Static, Type } from "@sinclair/typebox";
import { oneOf, text, titled } from "../../domain/schemas.ts";
import { REDIRECT_URL_PATTERN } from "./origins.ts";

/** JSON numbers are exact up to this value. The provider has limits of its own. */
const BILLING_QUANTITY_MAX = Number.MAX_SAFE_INTEGER;
/** The provider rejects longer URLs. */
const BILLING_URL_MAX_CHARS = 5_000;

const addOn = (name: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: BILLING_QUANTITY_MAX }), Type.Null()], {
      description: `The number of recurring ${name} add-ons. Absent, null and 0 mean none.`,
      errorMessage: "must be a whole number of at least 0, or null",
    }),
  );

const redirect = (when: string) =>
  Type.Optional(
    Type.String({
      format: "uri",
      pattern: REDIRECT_URL_PATTERN,
      maxLength: BILLING_URL_MAX_CHARS,
      description:
        `Where to send the customer ${when}: any absolute URI, except of the schemes ` +
        "`javascript`, `data` and `vbscript`.",
      errorMessage:
        "must be an absolute URI of another scheme than javascript, data and vbscript, " +
        `with at most ${BILLING_URL_MAX_CHARS} characters`,
    }),
  );

export const UpgradeBody = titled("UpgradeRequest", {
  type: oneOf(["free", "pro", "enterprise"], "The tier to upgrade to. `free` needs no checkout."),
  cycle: oneOf(["monthly", "yearly"], "The billing period."),
  quantity: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: BILLING_QUANTITY_MAX,
      description: "The number of seats. Default: 1.",
    }),
  ),
  server_quantity: addOn("server"),
  sandbox_quantity: addOn("sandbox"),
  success_url: redirect("after the payment"),
  cancel_url: redirect("when they leave without paying"),
});
export type Upgrade = Static<typeof UpgradeBody>;

export const UpgradeHeaders = Type.Object({
  Origin: Type.Optional(
    text(
      "Where the upgrade was started. It must be an allowed billing origin. Without this header, " +
        "the origins of `success_url` and `cancel_url` must be allowed.",
      "https://app.example.com",
    ),
  ),
});

const orNull = (description: string, options: { format?: "uri"; pattern?: string } = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description });

export const UpgradeResult = titled("UpgradeResult", {
  status: oneOf(
    ["ok", "pending", "error"],
    "`ok`: no checkout is needed. `pending`: the customer must pay at `checkout_url`. " +
      "`error`: the provider refused the upgrade; `error` has the reason.",
  ),
  checkout_url: orNull("The hosted checkout page. Null unless the status is `pending`.", {
    format: "uri",
  }),
  amount_decimal: orNull("The exact amount due. Null when the provider does not report it.", {
    pattern: "^-?\\d+(?:\\.\\d+)?$",
  }),
  currency: orNull("The currency of the amount, as the provider spells it."),
  amount: orNull("The amount due, formatted for display."),
  error: orNull("Why the provider refused the upgrade."),
});
export type UpgradeResult = Static<typeof UpgradeResult>;
