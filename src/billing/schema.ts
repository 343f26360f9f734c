import { type Static, Type } from "@sinclair/typebox";
import { BILLING_QUANTITY_MAX, BILLING_URL_MAX_CHARS } from "../shared/limits.ts";
import { REDIRECT_URL_PATTERN } from "./origins.ts";

const addOn = (what: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: BILLING_QUANTITY_MAX }), Type.Null()], {
      description: `Recurring ${what} add-ons; none when absent, null or 0.`,
      errorMessage: "must be a whole number of at least 0, or null",
    }),
  );

const redirect = (when: string) =>
  Type.Optional(
    Type.String({
      format: "uri",
      pattern: REDIRECT_URL_PATTERN,
      maxLength: BILLING_URL_MAX_CHARS,
      description: `Where the customer is sent ${when}.`,
      errorMessage:
        "must be an absolute http or https URL without a user name, " +
        `of at most ${BILLING_URL_MAX_CHARS} characters`,
    }),
  );

export const UpgradeBody = Type.Object({
  type: Type.Union([Type.Literal("free"), Type.Literal("pro"), Type.Literal("enterprise")], {
    description: "The tier to upgrade to. `free` needs no checkout.",
  }),
  cycle: Type.Union([Type.Literal("monthly"), Type.Literal("yearly")], {
    description: "How often it is billed.",
  }),
  quantity: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: BILLING_QUANTITY_MAX,
      description: "Seats; 1 when absent.",
    }),
  ),
  server_quantity: addOn("server"),
  sandbox_quantity: addOn("sandbox"),
  success_url: redirect("after the payment"),
  cancel_url: redirect("after leaving without a payment"),
});
export type Upgrade = Static<typeof UpgradeBody>;

export const UpgradeHeaders = Type.Object({
  Origin: Type.Optional(
    Type.String({
      description:
        "Where the upgrade was started; must be an allowed billing origin. Without it the " +
        "origins of `success_url` and `cancel_url` must be.",
    }),
  ),
});

const orNull = (description: string, options: { format?: "uri"; pattern?: string } = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description });

export const UpgradeResult = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("pending"), Type.Literal("error")], {
    description:
      "`ok`: done without a checkout. `pending`: the customer has to pay at `checkout_url`. " +
      "`error`: the provider refused, see `error`.",
  }),
  checkout_url: orNull("The hosted checkout page of the open session.", { format: "uri" }),
  amount_decimal: orNull("The exact amount due, when the provider tells it.", {
    pattern: "^-?\\d+(?:\\.\\d+)?$",
  }),
  currency: orNull("The amount's currency, as the provider writes it."),
  amount: orNull("The amount due, formatted for people."),
  error: orNull("Why the provider refused."),
});
export type UpgradeResult = Static<typeof UpgradeResult>;
