import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isLeft } from "../../../src/db/embedded/left-server.ts";
import { identityOf, type RunningProcess } from "../../../src/db/embedded/processes.ts";
import { temporaryFolder } from "../../../support/folders.ts";

const POSTGRES = "/opt/tessera/node_modules/native/bin/postgres";
const STARTED = 1_795_836_000;

const cluster = temporaryFolder("cluster");
const location = {
  account: { uid: 70, gid: 70 },
  cluster,
  ...{ home: "", log: "", password: "", lock: "", socketFolder: "" },
};
const file = { pid: 4_711, startedAt: STARTED };
const argumentsOf = (folder: string, options = [`unix_socket_directories=${folder}`]) => [
  ...[POSTGRES, "-D", folder, "-c", "listen_addresses="],
  ...options.flatMap((option) => ["-c", option]),
];

/** A server that an owner has left, as Linux describes it, with these differences. */
function described(differences: Partial<RunningProcess>, given = argumentsOf(cluster)) {
  const separator = differences.separator ?? "\0";
  return {
    ...{ uid: 70, executable: "postgres", folder: identityOf(cluster), separator },
    commandLine: given.join(separator) + separator,
    startedAt: STARTED - 0.04,
    ...differences,
  };
}

/** Whether the facts of a process, with these differences, are those of a server that was left. */
const cases: Readonly<Record<string, readonly [left: boolean, RunningProcess]>> = {
  "in all": [true, described({})],
  "in all, on a machine that took half a minute to load it": [
    true,
    described({ startedAt: STARTED - 30 }),
  ],
  "in all, with a clock in whole seconds": [true, described({ startedAt: STARTED + 0.99 })],
  "in all that a container or ps tells": [true, described({ folder: undefined, separator: " " })],
  "but has another user": [false, described({ uid: 71 })],
  "but has another user, where the folder is unknown": [
    false,
    described({ uid: 0, folder: undefined }),
  ],
  "but has another executable": [false, described({ executable: "tail" })],
  "but works in another folder": [false, described({ folder: identityOf("/") })],
  "but its folder contains the path of the cluster": [
    false,
    described({ folder: undefined }, argumentsOf(join("/mnt", cluster))),
  ],
  "but its folder begins with the path of the cluster": [
    false,
    described({ folder: undefined }, argumentsOf(`${cluster}-copy`)),
  ],
  "but names the cluster elsewhere in its arguments": [
    false,
    described({}, [POSTGRES, "-f", ...argumentsOf(cluster)]),
  ],
  "but states no folder of a socket": [false, described({}, argumentsOf(cluster, []))],
  "but was started later": [false, described({ startedAt: STARTED + 3 })],
  "but was started long before": [false, described({ startedAt: STARTED - 61 })],
};

describe("a process that has the number of an earlier server", () => {
  test.each(Object.entries(cases))("is like that server %s", (_, [left, found]) => {
    expect(isLeft(found, file, location)).toBe(left);
  });

  test("is not that server if the file does not say when it was started", () => {
    expect(isLeft(described({}), { pid: 4_711 }, location)).toBe(false);
  });
});
