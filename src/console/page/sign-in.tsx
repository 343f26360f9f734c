import { useEffect, useRef, useState } from "preact/hooks";
import { NO_KEY_YET } from "../../domain/first-key.ts";
import { useAction } from "./base/action.ts";
import { call, ProblemError } from "./base/api.ts";
import { session } from "./base/session.ts";
import { Field, Form } from "./parts/form.tsx";

const FORBIDDEN = 403;

/** Asks for a credential, and keeps it if the service accepts it. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [credential, setCredential] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = "Sign in - Tessera";
    input.current?.focus();
  }, []);
  const action = useAction(async () => {
    try {
      await call("projects?limit=1", { credential: credential.trim() });
    } catch (error) {
      // A credential for searches only may not list projects, but it is valid.
      if (!(error instanceof ProblemError && error.status === FORBIDDEN)) throw error;
    }
    session.open(credential.trim());
    onDone();
  });
  const firstKey = document.getElementById("console")?.dataset["firstKey"];
  return (
    <div class="sign-in panel">
      <h1>Sign in</h1>
      <Form action={action} submit="Sign in">
        <Field
          label="API key or JWT"
          hint={
            <>
              It stays in this tab, until the tab is closed. <code>tessera keys create</code> makes
              one.
              {firstKey && (
                <>
                  {" "}
                  {NO_KEY_YET} <code>{firstKey}</code>
                </>
              )}
            </>
          }
        >
          <input
            ref={input}
            type="password"
            required
            autocomplete="off"
            value={credential}
            onInput={(event) => setCredential(event.currentTarget.value)}
          />
        </Field>
      </Form>
    </div>
  );
}
