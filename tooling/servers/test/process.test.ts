import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { identify, startInStat } from "../src/process.ts";

/** A line of `/proc/<pid>/stat` as proc(5) lays it out: state is the 3rd field, threads the 20th, start time the 22nd. */
function stat(name: string, state: string, threads: number): string {
  const between = Array.from({ length: 16 }, (_, field) => field + 4);
  return `4321 (${name}) ${[state, ...between, threads, 0, 777, 0].join(" ")}`;
}

it("reads when a process began, whatever its program is called", () => {
  expect(startInStat(stat("node", "S", 11))).toBe("777");
  expect(startInStat(stat("a) Z 1 (b", "R", 1))).toBe("777");
});

it("a zombie is dead only when its last thread is gone: until then its port is still open", () => {
  expect(startInStat(stat("mongod", "Z", 3))).toBe("777");
  expect(startInStat(stat("mongod", "Z", 1))).toBeUndefined();
  expect(startInStat(stat("mongod", "X", 0))).toBeUndefined();
});

it.runIf(process.platform === "linux")("reads this very process as the system shows it", () => {
  expect(startInStat(readFileSync("/proc/self/stat", "utf8"))).toBe(identify(process.pid)?.started);
});
