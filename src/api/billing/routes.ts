import type { Config } from "../../config/schema.ts";
import type { Sql } from "../../db/client.ts";
import { type Operation, operation } from "../../http/operation.ts";
import type { Log } from "../../observability/log.ts";
import { requireTrustedOrigin } from "./origins.ts";
import { UpgradeBody, UpgradeHeaders, UpgradeResult } from "./schema.ts";
import { createBilling } from "./service.ts";

interface BillingServices {
  readonly config: Config;
  readonly sql: Sql;
  readonly log: Log;
}

/** POST /account/subscription/upgrade. The account is the calling user. */
export function billingOperations({ config, sql, log }: BillingServices): Operation[] {
  const billing = createBilling(config.billing, sql, log);
  return [
    operation({
      id: "upgradeSubscription",
      method: "POST",
      path: "/account/subscription/upgrade",
      tag: "Billing",
      summary: "Start a subscription upgrade",
      description:
        "Opens a hosted checkout page at the payment provider. Repeating the same upgrade while its " +
        "page is open returns that page. If the provider refuses the upgrade, the result has the " +
        "status `error`. If it gives no usable answer, the request fails with " +
        "`billing-provider-error`.",
      permission: "account.billing.manage",
      headers: UpgradeHeaders,
      body: UpgradeBody,
      bodyExample: {
        type: "pro",
        cycle: "monthly",
        quantity: 5,
        server_quantity: 2,
        success_url: "https://app.example.com/billing/done",
        cancel_url: "https://app.example.com/billing",
      },
      response: UpgradeResult,
      responseExample: {
        status: "pending",
        checkout_url: "https://checkout.example.com/c/pay/cs_1234",
        amount_decimal: "145.00",
        currency: "usd",
        amount: "$145.00",
        error: null,
      },
      problems: ["untrusted-billing-origin", "billing-not-configured", "billing-provider-error"],
      async handle({ request, principal, body }) {
        const { success_url, cancel_url } = body;
        const header = request.headers.get("origin");
        requireTrustedOrigin(config.billing.origins, header, [success_url, cancel_url]);
        return await billing.upgrade(principal.userId, body);
      },
    }),
  ];
}
