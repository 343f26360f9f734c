import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { onFreePort } from "../../support/processes/ports.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { programPath } from "../../support/programs.ts";
import { until } from "../../support/until.ts";

/**
 * Starts nginx with the configuration of `deploy/balancer`, in front of nodes at these URLs. Only addresses
 * are replaced, and nodes that are not there are left out.
 * @param table the lines of the table of slugs
 */
export function startNginx(nodes: readonly string[], table: string): Promise<string> {
  return onFreePort((port) => launch(port, nodes, table));
}

async function launch(port: number, nodes: readonly string[], table: string): Promise<string> {
  const folder = temporaryFolder("nginx");
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
  await until("nginx answers or has ended", async () => {
    const answer = await fetch(`${url}/livez`).catch(() => undefined);
    return program.exitCode !== null || answer?.ok;
  });
  if (program.exitCode === null) return url;
  throw new Error(`nginx does not start: ${await program.stderr.text()}`);
}
