import { call, listProjects, projectPath } from "./api.js";
import { card, element, failure, table, time } from "./dom.js";

const count = (/** @type {number} */ number, /** @type {string} */ noun) =>
  `${number} ${noun}${number === 1 ? "" : "s"}`;

/** The caller's projects. @param {HTMLElement} place */
export async function showProjects(place) {
  const projects = await listProjects();
  if (projects.length === 0) {
    place.append(element("p", {}, "This credential shows no projects."));
    return;
  }
  const cards = projects.map((project) =>
    card(
      project.name,
      element("p", { class: "muted" }, element("code", {}, project.slug)),
      project.description ? element("p", {}, project.description) : null,
      element(
        "p",
        { class: "muted" },
        `${count(project.environments.length, "environment")}, ${count(project.releases.length, "release")}`,
      ),
      element(
        "a",
        { href: `#/project/${encodeURIComponent(project.slug)}` },
        `Open ${project.name}`,
      ),
    ),
  );
  place.append(element("div", { class: "grid" }, ...cards));
}

/**
 * A project with its environments, releases, members and indexes.
 *
 * @param {HTMLElement} place
 * @param {{ argument: string }} view
 */
export async function showProject(place, { argument: slug }) {
  const { body: project } = await call(projectPath(slug));
  const releases = new Map(project.releases.map((/** @type {any} */ r) => [r.id, r.name]));
  place.append(
    card(
      project.name,
      element("p", { class: "muted" }, element("code", {}, project.slug), " ", project.id),
      project.description ? element("p", {}, project.description) : null,
      element("a", { href: `#/search/${encodeURIComponent(project.slug)}` }, "Search this project"),
    ),
    card("Environments", environments(project.environments, releases)),
    card("Releases", releaseTable(project.releases)),
    await indexState(slug),
    await webhookEvents(slug),
    card("Members", members(project.users)),
  );
}

/** @param {any[]} list @param {Map<string, string>} releases */
function environments(list, releases) {
  const rows = list.map(({ name, protected: isProtected, active_release_id: active }) => [
    name,
    active ? `release ${releases.get(active) ?? active}` : "working set",
    isProtected ? "yes" : "no",
  ]);
  return table("Environments", ["name", "serves", "protected"], rows);
}

/** @param {any[]} list */
function releaseTable(list) {
  const rows = list.map((r) => [r.name, r.build_status, r.deploy_status, r.export_status]);
  return table("Releases", ["name", "build", "deploy", "export"], rows);
}

/** @param {any[]} users */
function members(users) {
  return table(
    "Members",
    ["name", "email", "role"],
    users.map(({ name, email, role }) => [name, email ?? "", role]),
  );
}

/** The newest deliveries to the project's webhooks. @param {string} slug */
async function webhookEvents(slug) {
  try {
    const { body } = await call(projectPath(slug, "webhook-events"));
    const rows = body.data.map((/** @type {any} */ event) => [
      event.webhook_id,
      time(event.received_at),
      event.status,
      event.idempotency_key ?? "",
      element("code", {}, event.conversation_id),
    ]);
    const head = ["webhook", "received", "status", "idempotency key", "conversation"];
    const more =
      body.page_info.next === null ? null : element("p", { class: "muted" }, "Older ones exist.");
    return card("Webhook events", table("Webhook events", head, rows), more);
  } catch (error) {
    return card("Webhook events", failure(error));
  }
}

/** @param {string} slug */
async function indexState(slug) {
  try {
    const { body } = await call(projectPath(slug, "index-state"));
    const rows = body.data.map((/** @type {any} */ index) => [
      index.server.slice(0, 8),
      index.dimension === null ? "texts" : `vectors of ${index.dimension}`,
      (index.dimension === null ? index.documents : index.vectors).toLocaleString(),
      index.dimension === null ? "" : index.graph_backlog.toLocaleString(),
      `${(index.memory_bytes / 2 ** 20).toFixed(1)} MiB`,
      String(index.pending_changes),
      index.recall === null ? "not measured" : index.recall.toFixed(4),
      time(index.updated_at),
    ]);
    const head = [
      "server",
      "index",
      "entries",
      "not in graph",
      "memory",
      "lag",
      "recall",
      "reported",
    ];
    const lag = "Lag is the number of changes that searches do not see yet.";
    return card("Indexes", table("Indexes", head, rows), element("p", { class: "muted" }, lag));
  } catch (error) {
    return card("Indexes", failure(error));
  }
}
