import { useEffect } from "preact/hooks";
import { Tessera } from "../../../client/src/index.ts";
import { NO_KEY_YET } from "../../domain/first-key.ts";
import { isForbidden, SERVICE } from "./base/service.ts";
import { session } from "./base/session.ts";
import { Form, TextField } from "./parts/form.tsx";

/** Keeps a credential if the service accepts it. */
async function signIn({ credential: typed = "" }: Readonly<Record<string, string>>) {
  const credential = typed.trim();
  try {
    await new Tessera({ ...SERVICE, credential }).listProjects({ limit: 1 });
  } catch (error) {
    // A credential for searches only may not list projects, but it is valid.
    if (!isForbidden(error)) throw error;
  }
  session.open(credential);
}

export function SignIn() {
  useEffect(() => {
    document.title = "Sign in - Tessera";
    document.querySelector<HTMLElement>(".sign-in input")?.focus();
  }, []);
  const firstKey = document.getElementById("console")?.dataset["firstKey"];
  const hint = (
    <>
      It stays in this tab, until the tab is closed. <code>tessera keys create</code> makes one.
      {firstKey && (
        <>
          {" "}
          {NO_KEY_YET} <code>{firstKey}</code>
        </>
      )}
    </>
  );
  return (
    <div class="sign-in panel">
      <h1>Sign in</h1>
      <Form submit="Sign in" onSubmit={signIn}>
        <TextField label="API key or JWT" name="credential" type="password" required hint={hint} />
      </Form>
    </div>
  );
}
