import { useState } from "preact/hooks";
import { projectPath, type Schemas } from "../base/api.ts";
import { dateTime } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { Button } from "../parts/button.tsx";
import { Code } from "../parts/code.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Badge, Facts, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { usePages } from "./pages.ts";

type Delivery = Schemas["ListedWebhookEvent"];
type Whole = Schemas["WebhookEvent"];

/** JSON with indentation; anything else as it is. */
function readable({ is_json: isJson, payload }: Whole): string {
  if (!isJson) return String(payload);
  const value = typeof payload === "string" ? JSON.parse(payload) : payload;
  return JSON.stringify(value, undefined, 2);
}

/** A delivery with its payload. */
function Payload({ project, of, onClose }: { project: string; of: Delivery; onClose: () => void }) {
  const whole = useOfProject<Whole>([project, "webhook-events", of.id]);
  return (
    <Dialog title={`Delivery to ${of.webhook_id}`} onClose={onClose} wide>
      <Facts
        of={[
          ["Received", dateTime(of.received_at)],
          ["Status", of.status],
          ["Idempotency key", of.idempotency_key ?? "none"],
          ["Conversation", <code key="id">{of.conversation_id}</code>],
        ]}
      />
      <Loaded of={whole}>
        {(event) => (
          <Code language={event.is_json ? "json" : "bash"} text={readable(event)} label="Payload" />
        )}
      </Loaded>
    </Dialog>
  );
}

/** The deliveries to the webhooks of a project. */
export function Deliveries({ project }: { project: string }) {
  const { list, more } = usePages<Delivery>(projectPath(project, "webhook-events"));
  const [open, setOpen] = useState<Delivery | undefined>(undefined);
  return (
    <Panel title="Deliveries" lead="What other services sent to the webhooks, newest first.">
      <Loaded of={list}>
        {({ items, next }) => (
          <>
            <Table
              label="Deliveries"
              rows={items}
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
                    <Button kind="quiet" onClick={() => setOpen(event)}>
                      Payload
                    </Button>
                  ),
                },
              ]}
            />
            {next !== null && <Button onClick={more}>Show older ones</Button>}
          </>
        )}
      </Loaded>
      {open && <Payload project={project} of={open} onClose={() => setOpen(undefined)} />}
    </Panel>
  );
}
