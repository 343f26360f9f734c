import { useEffect, useState } from "preact/hooks";
import { onRefusedCredential, SERVICE } from "./base/api.ts";
import { useRoute } from "./base/router.ts";
import { session } from "./base/session.ts";
import { IconButton } from "./parts/button.tsx";
import { Page } from "./parts/page.tsx";
import { SignIn } from "./sign-in.tsx";
import { VIEWS } from "./views.tsx";

const ICON = new URL("icon.svg", import.meta.url).href;

/** The header, and the view of the address. */
export function Shell() {
  const [signedIn, setSignedIn] = useState(session.credential !== null);
  const route = useRoute();
  const signOut = () => {
    session.close();
    setSignedIn(false);
  };
  useEffect(() => onRefusedCredential(signOut), []);
  const { path } = route;
  const view = path.length === 0 ? VIEWS[0] : VIEWS.find(({ name }) => name === path[0]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to content
      </button>
      <header class="header">
        <div class="inner">
          <a class="brand" href={`#/${VIEWS[0].name}`} aria-label="Tessera">
            <img src={ICON} alt="" />
            <span>Tessera</span>
          </a>
          {signedIn && (
            <nav class="views" aria-label="Views">
              {VIEWS.map(({ name, label }) => (
                <a
                  key={name}
                  href={`#/${name}`}
                  aria-current={name === view?.name ? "page" : undefined}
                >
                  {label}
                </a>
              ))}
              <a class="apart" href={new URL("docs", SERVICE).href}>
                Docs
              </a>
            </nav>
          )}
          {signedIn && <IconButton icon="leave" label="Sign out" onClick={signOut} />}
        </div>
      </header>
      <main class="inner" tabIndex={-1}>
        {!signedIn && <SignIn onDone={() => setSignedIn(true)} />}
        {signedIn && (view?.show(route) ?? <NoView />)}
      </main>
    </>
  );
}

function NoView() {
  return (
    <Page title="There is no such view.">
      <p>
        <a href={`#/${VIEWS[0].name}`}>Go to {VIEWS[0].label}</a>
      </p>
    </Page>
  );
}
