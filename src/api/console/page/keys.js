import { call, listProjects } from "./api.js";
import { card, confirmed, element, failure, field, onSubmit, table, time } from "./dom.js";

/** The caller's API keys: list, create, revoke. @param {HTMLElement} place */
export async function showKeys(place) {
  const projects = await listProjects();
  const list = element("div");
  const created = element("div", { role: "status" });
  const refresh = async () => {
    try {
      list.replaceChildren(await keyList(projects, refresh));
    } catch (error) {
      list.replaceChildren(failure(error));
    }
  };
  place.append(createForm(projects, created, refresh), created, list);
  await refresh();
}

/** @param {any[]} projects @param {HTMLElement} created @param {() => Promise<void>} refresh */
function createForm(projects, created, refresh) {
  const name = element("input", { required: true, autocomplete: "off" });
  const every = element("option", { value: "" }, "All that the credential reaches");
  const options = projects.map(({ id, slug }) => element("option", { value: id }, slug));
  const project = element("select", {}, every, ...options);
  const scopes = element("input", {
    autocomplete: "off",
    placeholder: "search.query knowledge.lookup",
  });
  const expires = element("input", { type: "datetime-local" });
  const form = element(
    "form",
    { class: "card" },
    element("h3", {}, "Create a key"),
    element(
      "div",
      { class: "fields" },
      field("Name", name),
      field("Project", project),
      field("Permissions (empty: all of this credential)", scopes),
      field("Expires (empty: never)", expires),
    ),
    element("p", {}, element("button", { class: "primary" }, "Create key")),
  );
  onSubmit(form, async () => {
    const body = {
      name: name.value,
      ...(project.value === "" ? {} : { project_id: project.value }),
      scopes: scopes.value.split(/[\s,]+/).filter(Boolean),
      ...(expires.value === "" ? {} : { expires_at: new Date(expires.value).toISOString() }),
    };
    const { key } = (await call("api-keys", { method: "POST", body })).body;
    created.replaceChildren(secret(key));
    form.reset();
    await refresh();
  });
  return form;
}

/** A new key, which is shown this once. @param {string} key */
function secret(key) {
  const copy = () => navigator.clipboard?.writeText(key);
  return card(
    "New key",
    element("p", {}, "Copy it now. It is not shown again."),
    element("p", {}, element("code", { id: "new-key" }, key)),
    element("button", { type: "button", onclick: copy }, "Copy"),
  );
}

/** @param {any[]} projects @param {() => Promise<void>} refresh */
async function keyList(projects, refresh) {
  const keys = [];
  for (let link = "api-keys?limit=100"; link !== null; ) {
    const { body } = await call(link);
    keys.push(...body.data);
    link = body.page_info.next;
  }
  const slugs = new Map(projects.map(({ id, slug }) => [id, slug]));
  const place = element("div");
  const revoke = async (/** @type {any} */ key) => {
    const question = `Revoke the key ${key.name} (${key.key_prefix})? What uses it stops working.`;
    if (!(await confirmed(question, "Revoke"))) return;
    try {
      await call(`api-keys/${key.id}`, { method: "DELETE" });
      await refresh();
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  };
  const rows = keys.map((key) => [
    key.name,
    element("code", {}, key.key_prefix),
    key.project_id === null ? "all" : (slugs.get(key.project_id) ?? key.project_id),
    key.scopes.length === 0 ? "all" : key.scopes.join(", "),
    time(key.last_used_at),
    time(key.expires_at),
    element(
      "button",
      { type: "button", "aria-label": `Revoke ${key.name}`, onclick: () => revoke(key) },
      "Revoke",
    ),
  ]);
  const head = ["name", "key", "project", "permissions", "last used", "expires", ""];
  return card("Keys", place, table("Keys", head, rows));
}
