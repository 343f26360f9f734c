import { dateTime } from "../base/format.ts";
import { usePages, useResource } from "../base/resource.ts";
import { client, type Schemas } from "../base/service.ts";
import { Code } from "../parts/code.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Loaded, More } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { ProjectProps } from "./project-props.ts";

type Delivery = Schemas["ListedWebhookEvent"];

/** JSON with indentation; anything else as it is. */
function readable({ is_json: isJson, payload }: Schemas["WebhookEvent"]): string {
  if (!isJson) return String(payload);
  const value = typeof payload === "string" ? JSON.parse(payload) : payload;
  return JSON.stringify(value, undefined, 2);
}

/** A delivery with its payload. */
function Payload({ project, of }: { project: string; of: Delivery }) {
  const whole = useResource(of.id, (signal) => client.getWebhookEvent(project, of.id, { signal }));
  return (
    <>
      <p>
        <span class="muted">Conversation</span> <code>{of.conversation_id}</code>
      </p>
      <Loaded of={whole}>{(event) => <Code text={readable(event)} label="Payload" />}</Loaded>
    </>
  );
}

/** The deliveries to the webhooks of a project. */
export function Deliveries({ project: { slug } }: ProjectProps) {
  const events = usePages(slug, (page) => client.listWebhookEvents(slug, page));
  return (
    <Panel title="Deliveries" lead="What other services sent to the webhooks, newest first.">
      <Loaded of={events}>
        {() => (
          <>
            <Table
              label="Deliveries"
              rows={events.items}
              keyOf={({ id }) => id}
              empty="Nothing has been delivered yet."
              columns={[
                { name: "Received", value: (event) => dateTime(event.received_at) },
                { name: "Webhook", value: ({ webhook_id }) => <b>{webhook_id}</b> },
                { name: "Status", value: ({ status }) => <Badge>{status}</Badge> },
                { name: "Idempotency key", value: (event) => event.idempotency_key ?? "" },
                {
                  name: "",
                  value: (event) => (
                    <DialogButton
                      kind="quiet"
                      text="Payload"
                      title={`Delivery to ${event.webhook_id}`}
                      wide
                    >
                      {() => <Payload project={slug} of={event} />}
                    </DialogButton>
                  ),
                },
              ]}
            />
            <More of={events.more} text="Show older ones" />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
