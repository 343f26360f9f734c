import { call, ProblemError, session } from "./api.js";
import { element, field, onSubmit } from "./dom.js";

/**
 * Asks for a credential, and keeps it if the service accepts it.
 *
 * @param {HTMLElement} main
 * @param {() => void} done
 */
export function showSignIn(main, done) {
  const input = element("input", { type: "password", required: true, autocomplete: "off" });
  const form = element(
    "form",
    { class: "card" },
    field("API key or JWT", input),
    element("p", { class: "muted" }, "It is kept in this tab only, until the tab is closed."),
    element("button", { class: "primary" }, "Sign in"),
  );
  onSubmit(form, async () => {
    const credential = input.value.trim();
    try {
      await call("projects?limit=1", { credential });
    } catch (error) {
      // A credential for searches alone may not list projects, but it is valid.
      if (!(error instanceof ProblemError && error.status === 403)) throw error;
    }
    session.open(credential);
    done();
  });
  main.replaceChildren(element("h2", {}, "Sign in"), form);
  input.focus();
}
