/** The routes that the plugin for Fastify registers. */
interface Route {
  readonly url: string;
  handler(request: null, reply: Reply): unknown;
}

interface Reply {
  header(name: string, value: string): Reply;
  send(body: string): unknown;
}

type Plugin = (
  host: { route(route: Route): void },
  options: { readonly configuration: { readonly url: string } },
  done: () => void,
) => void;

/**
 * The script of Scalar, which shows an OpenAPI document. It is taken from the plugin for Fastify, because that
 * contains it in one file, where the package of the script itself comes with 268 others.
 */
export async function referenceScript(): Promise<string> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  let script: string | undefined;
  const reply: Reply = {
    header: () => reply,
    send: (body) => {
      script = body;
    },
  };
  const route = ({ url, handler }: Route) => {
    if (url.endsWith("/scalar.js")) handler(null, reply);
  };
  // Nothing but the script is wanted, so the address of the document does not matter.
  (plugin as unknown as Plugin)({ route }, { configuration: { url: "/" } }, () => {});
  if (script === undefined) throw new Error("the package of Scalar has no script");
  return script;
}
