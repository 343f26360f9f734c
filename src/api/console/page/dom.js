// Builds elements. Text becomes text nodes only, so nothing that a server answers is read as markup.

/**
 * An element with attributes, listeners (`onclick` and others) and children.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes True sets an empty attribute; false, null and undefined none.
 * @param {...(Node | string | null)} children
 * @returns {any} The element; callers know which kind it is.
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/**
 * A control with its label.
 *
 * @param {string} label
 * @param {HTMLElement} control
 */
export function field(label, control) {
  return element("label", {}, label, control);
}

/**
 * A text input that suggests values, but accepts others.
 *
 * @param {string} id
 * @param {Record<string, unknown>} attributes
 */
export function suggesting(id, attributes) {
  const list = element("datalist", { id: `${id}-list` });
  const input = element("input", { id, list: list.id, autocomplete: "off", ...attributes });
  const suggest = (/** @type {string[]} */ values) =>
    list.replaceChildren(...values.map((value) => element("option", { value })));
  return { input, list, suggest };
}

/**
 * A table that scrolls by itself when it is wider than the screen.
 *
 * @param {string} caption
 * @param {string[]} head
 * @param {(Node | string)[][]} rows
 */
export function table(caption, head, rows) {
  if (rows.length === 0) return element("p", { class: "muted" }, "None.");
  const cells = (/** @type {(Node | string)[]} */ row) =>
    row.map((cell) => element("td", {}, cell));
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name))),
      ),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))),
    ),
  );
}

/** @param {string} title @param {...(Node | string | null)} children */
export function card(title, ...children) {
  return element("section", { class: "card" }, element("h3", {}, title), ...children);
}

/** What went wrong, in the words of the problem document. @param {unknown} error */
export function failure(error) {
  const text = error instanceof Error ? error.message : String(error);
  return element("p", { class: "error", role: "alert" }, text);
}

/**
 * Runs a form's action when it is submitted, once at a time. Its errors are shown below the form.
 *
 * @param {HTMLFormElement} form
 * @param {() => Promise<void>} action
 */
export function onSubmit(form, action) {
  const place = element("div");
  form.append(place);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    if (button !== null) button.disabled = true;
    place.replaceChildren();
    try {
      await action();
    } catch (error) {
      place.replaceChildren(failure(error));
    } finally {
      if (button !== null) button.disabled = false;
    }
  });
}

/** Asks before something that cannot be undone. @param {string} question @param {string} yes */
export function confirmed(question, yes) {
  return new Promise((resolve) => {
    const answer = (/** @type {boolean} */ value) => () => {
      resolve(value);
      dialog.close();
    };
    const closed = () => {
      // Closed with the Escape key; after an answer, this changes nothing.
      resolve(false);
      dialog.remove();
    };
    const dialog = element(
      "dialog",
      { "aria-label": question, onclose: closed },
      element("p", {}, question),
      element(
        "div",
        { class: "fields" },
        element("button", { type: "button", class: "primary", onclick: answer(true) }, yes),
        element("button", { type: "button", onclick: answer(false) }, "Cancel"),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A time as people of the browser's locale write it. @param {string | null | undefined} iso */
export function time(iso) {
  if (!iso) return "never";
  return element("time", { datetime: iso }, new Date(iso).toLocaleString());
}
