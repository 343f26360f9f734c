import type { ComponentChildren } from "preact";
import type { Route } from "./base/router.ts";
import { KeysView } from "./keys/keys-view.tsx";
import { OperateView } from "./operate/operate-view.tsx";
import { ProjectsView } from "./projects/projects-view.tsx";
import { SearchView } from "./search/search-view.tsx";

/** A view of the header. */
interface View {
  /** The first segment of its addresses; the rest is the view's own. */
  readonly name: string;
  readonly label: string;
  readonly show: (route: Route) => ComponentChildren;
}

/** In the order of the header. The first is shown when the address names none. */
export const VIEWS: readonly [View, ...View[]] = [
  { name: "search", label: "Search", show: (route) => <SearchView route={route} /> },
  { name: "projects", label: "Projects", show: (route) => <ProjectsView route={route} /> },
  { name: "operate", label: "Operate", show: (route) => <OperateView route={route} /> },
  { name: "keys", label: "Keys", show: () => <KeysView /> },
];
