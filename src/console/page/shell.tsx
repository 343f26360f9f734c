import { useEffect, useState } from "preact/hooks";
import { isIn, useRoute } from "./base/router.ts";
import { SERVICE } from "./base/service.ts";
import { session } from "./base/session.ts";
import { KeysView } from "./keys/keys-view.tsx";
import { OperateView } from "./operate/operate-view.tsx";
import { Button } from "./parts/button.tsx";
import { Page } from "./parts/page.tsx";
import { ProjectsView } from "./projects/projects-view.tsx";
import { SearchView } from "./search/search-view.tsx";
import { SignIn } from "./sign-in.tsx";

const ICON = new URL("icon.svg", import.meta.url).href;

/**
 * The views in the order of the header, by the first segment of their addresses. Each interprets the rest. The first one
 * is shown for an address without a view.
 */
const VIEWS = {
  search: { label: "Search", View: SearchView },
  projects: { label: "Projects", View: ProjectsView },
  operate: { label: "Operate", View: OperateView },
  keys: { label: "Keys", View: KeysView },
} as const;

/** The header, and the view of the address. */
export function Shell() {
  const [signedIn, setSignedIn] = useState(session.credential !== "");
  useEffect(() => {
    session.onChange = setSignedIn;
  }, []);
  const route = useRoute();
  const [name = "search"] = route.path;
  const { View } = isIn(VIEWS, name) ? VIEWS[name] : { View: NoView };
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to content
      </button>
      <header class="header">
        <div class="inner">
          <a class="brand" href="#/search" aria-label="Tessera">
            <img src={ICON} alt="" />
            <span>Tessera</span>
          </a>
          {signedIn && (
            <nav class="views" aria-label="Views">
              {Object.entries(VIEWS).map(([view, { label }]) => (
                <a key={view} href={`#/${view}`} aria-current={view === name ? "page" : undefined}>
                  {label}
                </a>
              ))}
              <a class="apart" href={`${SERVICE.baseUrl}/docs`}>
                Docs
              </a>
            </nav>
          )}
          {signedIn && <Button icon="leave" label="Sign out" onClick={session.close} />}
        </div>
      </header>
      <main class="inner" tabIndex={-1}>
        {signedIn ? <View route={route} /> : <SignIn />}
      </main>
    </>
  );
}

function NoView() {
  return (
    <Page title="There is no such view.">
      <p>
        <a href="#/search">Go to {VIEWS.search.label}</a>
      </p>
    </Page>
  );
}
