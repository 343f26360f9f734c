// Shows the reference of the API, and lets readers try operations with the credential of the console.

declare const Scalar: { createApiReference(place: Element, options: object): void };

/** Where the console keeps the credential of the tab. */
const CREDENTIAL = "tessera.credential";
/** The languages of examples that few of our readers write. */
const HIDDEN = ["c", "clojure", "dart", "fsharp", "http", "node", "objc", "ocaml", "r", "swift"];

const place = document.getElementById("docs") as HTMLElement;
const { document: url, service = "" } = place.dataset;

interface Parameter {
  readonly required?: boolean;
  example?: unknown;
  examples?: Record<string, object>;
}

/**
 * Keeps examples of optional parameters from being sent, unless the reader turns them on: they need not agree
 * with each other.
 */
function turnOff(parameter: Parameter): void {
  if (parameter.required === true || parameter.example === undefined) return;
  parameter.examples = { example: { value: parameter.example, "x-disabled": true } };
  delete parameter.example;
}

/** Sends a request of the reference, and changes the document as it shows it. */
async function send(address: string | URL | Request, options?: RequestInit): Promise<Response> {
  const response = await fetch(address, options);
  if (new URL(response.url).pathname !== url || !response.ok) return response;
  const document = await response.json();
  const operations = Object.values<object>(document.paths).flatMap((path) => Object.values(path));
  const parameters = operations.flatMap((operation) => operation.parameters);
  for (const parameter of [...parameters, ...Object.values(document.components.parameters)]) {
    turnOff(parameter as Parameter);
  }
  return Response.json(document);
}

Scalar.createApiReference(place, {
  url,
  customFetch: send,
  // Requests go to where the page comes from, under whatever name: the policy allows no other host.
  servers: [{ url: new URL(service, location.href).href.replace(/\/$/, "") }],
  authentication: {
    preferredSecurityScheme: "bearerAuth",
    securitySchemes: { bearerAuth: { token: sessionStorage.getItem(CREDENTIAL) ?? "" } },
  },
  persistAuth: false,
  theme: "none",
  // The document has them in the order in which people read them.
  orderSchemaPropertiesBy: "preserve",
  orderRequiredPropertiesFirst: false,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  hiddenClients: Object.fromEntries(HIDDEN.map((language) => [language, true])),
  documentDownloadType: "direct",
  // Nothing that needs another host.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
});
