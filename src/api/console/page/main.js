// Shows one view at a time, by the fragment of the address: #/projects, #/search and so on.
import { session } from "./api.js";
import { element, failure } from "./dom.js";
import { showKeys } from "./keys.js";
import { showLive } from "./live.js";
import { showProject, showProjects } from "./projects.js";
import { showSearch } from "./search.js";
import { showSignIn } from "./sign-in.js";

const HOME = "projects";
/** @type {Record<string, [title: string, show: Function]>} */
const VIEWS = {
  [HOME]: ["Projects", showProjects],
  project: ["Project", showProject],
  search: ["Search", showSearch],
  live: ["Live", showLive],
  keys: ["API keys", showKeys],
};

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const views = /** @type {HTMLElement} */ (document.getElementById("views"));
let leaving = new AbortController();

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  views.hidden = session.credential === null;
  if (session.credential === null) {
    document.title = "Sign in - Tessera console";
    showSignIn(main, show);
    return;
  }
  const [, asked = "", argument = ""] = location.hash.split("/");
  const name = Object.hasOwn(VIEWS, asked) ? asked : HOME;
  const [title, view] = /** @type {[string, Function]} */ (VIEWS[name]);
  document.title = `${title} - Tessera console`;
  for (const link of views.querySelectorAll("a")) {
    // The view of one project belongs to the list of projects.
    if (link.hash.slice(2) === (name === "project" ? HOME : name))
      link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const place = element("div");
  main.replaceChildren(element("h2", {}, title), place);
  try {
    await view(place, { argument: decodeURIComponent(argument), signal });
  } catch (error) {
    if (!signal.aborted) place.append(failure(error));
  }
}

window.addEventListener("hashchange", () => {
  // Only fragments of views: that of the skip link moves the focus.
  if (!location.hash.startsWith("#/")) return;
  main.focus();
  show();
});
document.getElementById("sign-out")?.addEventListener("click", () => {
  session.close();
  show();
});
show();
