import type { ComponentChildren } from "preact";
import type { Route } from "./base/router.ts";
import { KeysView } from "./keys/keys-view.tsx";
import { OperateView } from "./operate/operate-view.tsx";
import { ProjectsView } from "./projects/projects-view.tsx";
import { SearchView } from "./search/search-view.tsx";

/** A view of the header. */
interface View {
  /** The first segment of its addresses. The view interprets the rest. */
  readonly name: string;
  readonly label: string;
  readonly show: (route: Route) => ComponentChildren;
}

/** The views in the order of the header. The first one is shown for an address without a view. */
export const VIEWS: readonly [View, ...View[]] = [
  { name: "search", label: "Search", show: (route) => <SearchView route={route} /> },
  { name: "projects", label: "Projects", show: (route) => <ProjectsView route={route} /> },
  { name: "operate", label: "Operate", show: (route) => <OperateView route={route} /> },
  { name: "keys", label: "Keys", show: () => <KeysView /> },
];
