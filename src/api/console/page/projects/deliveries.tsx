import { call, projectPath, type Schemas } from "../base/api.ts";
import { dateTime } from "../base/format.ts";
import { useResource } from "../base/resource.ts";
import { Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

type Page = Schemas["WebhookEventPage"];

/** The newest deliveries to the project's webhooks. */
export function Deliveries({ project }: { project: string }) {
  const events = useResource(
    `deliveries:${project}`,
    async (signal) => (await call<Page>(projectPath(project, "webhook-events"), { signal })).body,
  );
  return (
    <Panel title="Webhook deliveries">
      <Loaded of={events}>
        {({ data, page_info }) => (
          <>
            <Table
              label="Webhook deliveries"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { name: "Webhook", value: ({ webhook_id }) => webhook_id },
                { name: "Received", value: ({ received_at }) => dateTime(received_at) },
                { name: "Status", value: ({ status }) => status },
                { name: "Idempotency key", value: (event) => event.idempotency_key ?? "" },
                { name: "Conversation", value: (event) => <code>{event.conversation_id}</code> },
              ]}
            />
            {page_info.next !== null && <p class="muted">Older ones exist.</p>}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
