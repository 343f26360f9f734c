import { expect, test } from "bun:test";
import { openLoop, type Sender } from "../../../bench/harness/load/loops.ts";
import { Sent } from "../../../bench/harness/load/sent.ts";
import { Recorder } from "../../../bench/load/recorder.ts";
import { advance, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

/** After the first searches all are held until the stall is over, which is a third of the time. */
const [STALL_FROM_MS, STALL_MS, END_MS] = [250, 500, 1_500];
const USUAL_MS = 2;

/** Runs a loop against a service that stalls once. */
async function stalled(loop: (sender: Sender) => Promise<unknown>) {
  const recorder = new Recorder(0, END_MS);
  let busy = 0;
  const sender: Sender = {
    async send(intended) {
      const sentAt = performance.now();
      const left = STALL_FROM_MS + STALL_MS - sentAt;
      busy++;
      await Bun.sleep(sentAt >= STALL_FROM_MS && left > 0 ? left : USUAL_MS);
      busy--;
      recorder.add(intended ?? sentAt, sentAt, performance.now(), 200);
      return 200;
    },
    get busy() {
      return busy;
    },
  };
  const running = loop(sender);
  await advance(2 * END_MS);
  await running;
  return recorder.result();
}

test("an open loop counts a stall in every request that was due meanwhile", async () => {
  const arrival = { rate: 200, connections: 1_000 };
  const { answered, response } = await stalled((sender) => openLoop(sender, arrival, 0, END_MS));
  expect(answered).toBe(300);
  // A third of the requests was due during the stall, and waited for half of it on average.
  expect(response.p90).toBeGreaterThan(STALL_MS * 0.4);
  expect(response.p99).toBeGreaterThan(STALL_MS * 0.8);
});

test("requests that wait for a free connection wait on the clock, too", async () => {
  const arrival = { rate: 200, connections: 1 };
  const { response, service } = await stalled((sender) => openLoop(sender, arrival, 0, END_MS));
  expect(response.p90).toBeGreaterThan(STALL_MS * 0.4);
  // The service was slow once: the time per request from the moment of sending does not show the stall.
  expect(service.p90).toBeLessThan(STALL_MS * 0.4);
});

test("an open loop that falls behind counts what came within the window, and what is left at its end", () => {
  const recorder = new Recorder(0, 2_000);
  // 100 per second are due, and each is answered 1.5 s late.
  for (let due = 0; due < 2_000; due += 10) recorder.add(due, due, due + 1_500, 200);
  const { answered, throughput, goodput, backlog } = recorder.result();
  expect([answered, throughput, goodput, backlog]).toEqual([200, 25, 0, 150]);
});

test("refusals are no throughput, and requests without an answer count with the time that they have waited", () => {
  const recorder = new Recorder(0, 1_000);
  for (const ending of [200, 503, "timeout", 200, 503] as const) recorder.add(0, 0, 900, ending);
  recorder.add(1_000, 1_000, 1_001, 200);
  const { answered, throughput, errors, response } = recorder.result();
  expect([answered, throughput, errors]).toEqual([2, 2, { 503: 2, timeout: 1 }]);
  expect(response.p50).toBeGreaterThan(890);
});

test("an open loop that gives up at its end says how many requests it never sent", async () => {
  let unsent = 0;
  const arrival = { rate: 200, connections: 1 };
  const { answered } = await stalled(async (sender) => {
    // The stall is not over yet.
    unsent = await openLoop(sender, arrival, 0, END_MS, STALL_FROM_MS + STALL_MS / 2);
  });
  expect(answered + unsent).toBe(300);
  expect(unsent).toBeGreaterThan(200);
});

test("requests count by their status, and their latency from when they were due or sent", () => {
  const [ok, refused, silent] = [
    { due: 0, sent: 10, ended: 30, status: 200 },
    { due: 5, sent: 5, ended: 6, status: 503 },
    { due: 7, sent: 7, ended: 99, status: 0 },
  ];
  const sent = new Sent([ok, refused, silent], 2);
  expect([sent.answered, sent.refused, sent.failed]).toEqual([1, 1, 3]);
  expect([sent.latencies("due"), sent.latencies("sent")]).toEqual([[30], [20]]);
  expect(new Sent([refused]).quantile(0.5)).toBeNaN();
});
