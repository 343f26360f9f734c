import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../cleanup.ts";
import { temporaryFolder } from "../folders.ts";
import { programPath } from "../programs.ts";
import { freePort } from "./ports.ts";
import { PROJECT_ROOT } from "./process.ts";

const START_TIMEOUT_MS = 20_000;

/**
 * Starts nginx with the configuration of `deploy/balancer`, in front of nodes at these URLs. Only addresses
 * are replaced, and nodes that are not there are left out.
 * @param table the lines of the table of slugs
 */
export async function startNginx(nodes: readonly string[], table: string): Promise<string> {
  const folder = temporaryFolder("nginx");
  const port = await freePort();
  const given = readFileSync(join(PROJECT_ROOT, "deploy/balancer/nginx.conf"), "utf8");
  const configuration = given
    .replace("listen 8080", `listen 127.0.0.1:${port}`)
    .replaceAll(/^ *server node(\d):3000(.*)$/gm, (_, number, rest) => {
      const url = nodes[Number(number) - 1];
      return url === undefined ? "" : `    server ${new URL(url).host}${rest}`;
    });
  writeFileSync(join(folder, "tessera-projects.map"), table);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  writeFileSync(
    join(folder, "nginx.conf"),
    configuration.replace("access_log off;", `access_log off; ${temporary}`),
  );
  const options = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;`;
  const program = Bun.spawn(
    [programPath("nginx"), "-p", folder, "-c", "nginx.conf", "-g", options],
    {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  onCleanup(async () => {
    program.kill("SIGTERM");
    await program.exited;
  });
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && program.exitCode === null) {
    const answer = await fetch(`${url}/livez`).catch(() => undefined);
    if (answer?.ok) return url;
    await Bun.sleep(20);
  }
  throw new Error(`nginx does not answer: ${await program.stderr.text()}`);
}
